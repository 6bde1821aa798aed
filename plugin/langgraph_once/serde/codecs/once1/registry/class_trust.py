"""What of a class runs when a family rebuilds it, and what a writer refuses, or warns of."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from langgraph_once.serde.codecs.once1.registry.class_names import (
    astray,
    class_names,
    leads_to,
    trust_next_time,
)
from langgraph_once.serde.codecs.once1.registry.parametrised import is_parametrised
from langgraph_once.serde.codecs.once1.types.base.protocol import Family, UnwritableError
from langgraph_once.serde.codecs.once1.types.catalogue import CODE_FREE_FAMILIES, OWN_FAMILIES
from langgraph_once.serde.trust.audit import environment_line, proposed
from langgraph_once.serde.trust.class_code import hook_of, making_hook
from langgraph_once.serde.trust.lookup import find
from langgraph_once.serde.trust.module_owner import in_brackets
from langgraph_once.serde.trust.policy import Code, Decision, Trust

if TYPE_CHECKING:
    from langgraph_once.serde.trust.allowlist import Allowlist

__all__ = ["WriterTrust", "code_of"]


def code_of(family: Family, cls: type) -> tuple[Code, str]:
    """Return what of a class runs when `family` rebuilds it, at least, and what that is called."""
    hook = hook_of(cls)
    if hook is not None:
        return Code.HOOK, hook
    if family.name in CODE_FREE_FAMILIES:
        return Code.NONE, ""
    return Code.DATA if family.name in OWN_FAMILIES else Code.HOOK, f"that of {family.name!r}"


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
        allowlist = self._allowlist
        parts = [self._current_name(part) for part in class_names(name)]
        trusts = {part: trust_next_time(part, allowlist) for part in parts}
        unlisted = [part for part in parts if trusts[part]]
        trust = max(trusts.values()) if leads_to(name, target) else Trust.LOST
        code, hook = _code_of(target, name, family) if unlisted else (Code.NONE, "")
        decision = allowlist.decide("write", trust, code)
        if decision.refuses:
            raise self._refusal(decision, name, unlisted)
        if decision.is_logged and not decision.is_event:
            allowlist.report_unsure(name, self._doubt(decision, name, hook, unlisted))
        if not (decision.is_event and unlisted):
            return None

        def report() -> None:
            for part in unlisted:
                allowlist.report("Stored", decision, part)

        return report

    def _refusal(self, decision: Decision, name: str, unlisted: list[str]) -> UnwritableError:
        if decision is Decision.LOST:
            return astray(name)
        self._allowlist.report("Stored", decision, unlisted[0])
        return UnwritableError(
            f"strict enforcement would refuse to read {unlisted[0]}"
            f"{in_brackets(unlisted[0].partition(':')[0])}; add "
            f'"{unlisted[0]}" to `allowed_types`, or mark it `@storable`'
        )

    def _doubt(self, decision: Decision, name: str, hook: str, unlisted: list[str]) -> str:
        """Return why a new process may not rebuild it."""
        if decision is Decision.ASTRAY:
            module, _, path = name.partition(":")
            has_name = find(module, tuple(path.split("."))) is not None
            read_as = "what has its name now" if has_name else "an `Opaque`"
            return (
                "its name does not lead back to it, as of a class that is made in a function or in "
                f"a file that is loaded twice; it will be read as {read_as}. Define it at the top "
                "of a module, under its own name"
            )
        if decision is Decision.LATE:
            why = (
                "a new process reads it as an `Opaque` until its module is imported, which was not "
                "at the first write of this one"
            )
        elif hook:
            why = f"rebuilding it runs code ({hook}), so it is read as an `Opaque`"
        else:
            why = "a class or function by itself is read as an `Opaque`"
        return f"{why}; {self._listing(unlisted)}"

    def _listing(self, unlisted: list[str]) -> str:
        """Return the setting that makes it certain, with all that it has to hold."""
        names = proposed(unlisted, self._allowlist.configured)
        if not names or names == [*self._allowlist.configured]:
            return "mark it `@storable`"
        return f"set {environment_line(names)}"


def _code_of(target: Any, name: str, family: Family | None) -> tuple[Code, str]:
    """Return what of a class or function runs when it is read, and what that is called."""
    if family is None:
        return Code.HOOK, ""  # whatever calls it
    code, hook = code_of(family, target)
    if not code and is_parametrised(name) and (making := making_hook(target)):
        return Code.DATA, making
    return code, hook
