"""Checks of untrusted data, made before any constructor sees it."""

from __future__ import annotations

from typing import Any

__all__ = ["parts", "plain"]


def plain(data: Any, *kinds: type) -> Any:
    """Return `data`, whose type must be exactly one of `kinds`.

    Raises:
        ValueError: It is another.
    """
    if type(data) not in kinds:
        wanted = " or ".join(kind.__name__ for kind in kinds)
        raise ValueError(f"expected {wanted}, got {type(data).__name__}")
    return data


def parts(data: Any, *kinds: type) -> tuple[Any, ...]:
    """Return `data`, which must be a tuple of as many parts, each exactly of its kind.

    Args:
        data: What the bytes hold.
        kinds: A type for each part; `object` stands for any.

    Raises:
        ValueError: It has another shape.
    """
    if type(data) is not tuple or len(data) != len(kinds):
        raise ValueError(f"expected a tuple of {len(kinds)} parts")
    for part, kind in zip(data, kinds, strict=True):
        if kind is not object and type(part) is not kind:
            raise ValueError(f"expected {kind.__name__}, got {type(part).__name__}")
    return data
