"""Which classes a reader may rebuild, and which ones a writer warns of."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Final

from langgraph_once.serde.codecs.once1.registry.class_names import class_names, is_allowed, leads_to
from langgraph_once.serde.codecs.once1.registry.parametrised import is_parametrised
from langgraph_once.serde.codecs.once1.types.base.protocol import Family, UnwritableError
from langgraph_once.serde.codecs.once1.types.catalogue import CODE_FREE_FAMILIES, OWN_FAMILIES
from langgraph_once.serde.trust.class_code import hook_of, making_hook
from langgraph_once.serde.trust.lookup import find
from langgraph_once.serde.trust.module_owner import in_brackets
from langgraph_once.serde.trust.proposed_setting import environment_line, proposed

if TYPE_CHECKING:
    from langgraph_once.serde.trust.allowlist import Allowlist, Trust

__all__ = ["WriterTrust", "family_without_code", "refusing_hook", "weakest"]

_RANKS: Final[dict[Trust, int]] = {"listed": 0, "own": 1, "imported": 2}


def weakest(trusts: Iterable[Trust]) -> Trust:
    """Return the least of several trusts: what holds of a class that is made of several."""
    return max(trusts, key=_RANKS.__getitem__, default="listed")


def family_without_code(family: Family, trust: Trust) -> Family | None:
    """Return what rebuilds instances of a class so trusted; None if only a listed class may be."""
    if trust == "listed":
        return family
    if trust == "own" and family.name in OWN_FAMILIES:
        return family
    return CODE_FREE_FAMILIES.get(family.name)


def refusing_hook(family: Family, cls: type, trust: Trust) -> str:
    """Return what of an unlisted class would run when it is rebuilt; empty if nothing would."""
    if trust == "listed":
        return ""
    hook = hook_of(cls)
    if hook is None and family_without_code(family, trust) is None:
        hook = f"that of {family.name!r}"
    return hook or ""


class WriterTrust:
    """What writing knows of reading: of one serializer."""

    def __init__(self, allowlist: Allowlist, current_name: Callable[[str], str]) -> None:
        self._allowlist = allowlist
        self._current_name = current_name

    def check(self, target: Any, name: str, family: Family | None) -> Callable[[], None] | None:
        """Refuse, or warn of, what reading may refuse.

        Args:
            target: A class, of which an instance is written, or which is written itself, as a
                function may be.
            name: What the bytes call it.
            family: What writes its instances; None where it is written itself.

        Returns:
            What each use of it has to call; None if nothing.

        Raises:
            UnwritableError: Strict enforcement would refuse to read it.
        """
        enforcement = self._allowlist.enforcement
        parts = [self._current_name(part) for part in class_names(name)]
        unlisted = [part for part in parts if not is_allowed(part, self._allowlist)]
        is_found = leads_to(name, target)
        if enforcement == "safe":
            self._warn(target, name, family, unlisted, is_found=is_found)
            return None
        if enforcement == "strict" and not is_found:
            raise UnwritableError(
                f"{name} does not lead back to it; define it at the top of a module, under its "
                "own name"
            )
        if not unlisted:
            return None
        if enforcement == "strict":
            self._allowlist.report_unwritten(unlisted[0])
            raise UnwritableError(
                f"strict enforcement would refuse to read {unlisted[0]}"
                f"{in_brackets(unlisted[0].partition(':')[0])}; add "
                f'"{unlisted[0]}" to `allowed_types`, or mark it `@storable`'
            )

        def report() -> None:
            for part in unlisted:
                self._allowlist.report_written(part)

        return report

    def _warn(
        self, target: Any, name: str, family: Family | None, unlisted: list[str], *, is_found: bool
    ) -> None:
        reason = self._doubt(target, name, family, unlisted, is_found=is_found)
        if reason:
            self._allowlist.report_unsure(name, reason)

    def _doubt(
        self, target: Any, name: str, family: Family | None, unlisted: list[str], *, is_found: bool
    ) -> str:
        """Return why a new process may not rebuild it; empty if nothing speaks against it."""
        if not is_found:
            module, _, path = name.partition(":")
            has_name = find(module, tuple(path.split("."))) is not None
            read_as = "what has its name now" if has_name else "an `Opaque`"
            return (
                "its name does not lead back to it, as of a class that is made in a function or in "
                f"a file that is loaded twice; it will be read as {read_as}. Define it at the top "
                "of a module, under its own name"
            )
        if not unlisted:
            return ""
        listing = self._listing(unlisted)
        if family is None:
            return f"a class or function by itself is read as an `Opaque`; {listing}"
        owner = self._allowlist.project.owns(target.__module__)
        hook = refusing_hook(family, target, "own" if owner else "imported")
        if not hook and is_parametrised(name) and not owner:
            hook = making_hook(target) or ""
        if hook:
            return f"rebuilding it runs code ({hook}), so it is read as an `Opaque`; {listing}"
        late = [part for part in unlisted if not self._is_imported_at_start(part)]
        if late:
            return (
                "a new process reads it as an `Opaque` until its module is imported, which was "
                f"not at the first write of this one; {listing}"
            )
        return ""

    def _listing(self, unlisted: list[str]) -> str:
        """Return the setting that makes it certain, with all that it has to hold."""
        names = proposed(unlisted, self._allowlist.configured)
        if not names or names == [*self._allowlist.configured]:
            return "mark it `@storable`"
        return f"set {environment_line(names)}"

    def _is_imported_at_start(self, name: str) -> bool:
        module = name.partition(":")[0]
        allowlist = self._allowlist
        return allowlist.was_imported_at_start(module) or allowlist.project.reaches(module)
