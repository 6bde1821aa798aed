"""A user's module that fails on its own account."""

import surely_not_installed  # type: ignore[import-not-found]  # noqa: F401  # that is what is broken
