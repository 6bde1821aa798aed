"""One thing that is wrong with a project, and what comes of it."""

from __future__ import annotations

import contextlib
import sys
import sysconfig
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Final, Literal

from langgraph_once.errors import ConfigError, OnceError

Effect = Literal["stops", "ignored", "hint"]
"""What comes of it: the server or a run stops, what was written has no effect, or nothing yet."""

_OURS: Final = Path(__file__).parents[2]
_INSTALLED: Final = frozenset({"site-packages", "dist-packages"})


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckFinding:
    """One thing that is wrong."""

    effect: Effect
    where: str
    """The setting, as its user wrote it; empty if it is none."""
    problem: str
    place: str = ""
    """`file:line` of the user's code that raised."""
    traceback: str = ""

    def __str__(self) -> str:
        if self.place:
            return f"{self.place}: {self.problem} (while loading {self.where})"
        return ": ".join(filter(None, [self.where, self.problem]))


def finding(effect: Effect, where: str, problem: str) -> CheckFinding:
    """Return a finding about a setting."""
    return CheckFinding(effect=effect, where=where, problem=problem)


@contextlib.contextmanager
def findings_of(
    found: list[CheckFinding], where: str, *, effect: Effect = "stops"
) -> Iterator[None]:
    """Turn what is raised inside into a finding. What is printed goes to standard error.

    Args:
        found: Gets it.
        where: The setting under which the code was named.
        effect: What comes of an error.
    """
    try:
        with contextlib.redirect_stdout(sys.stderr):  # ours is for machines, too
            yield
    except ConfigError as error:
        found.append(finding(effect, error.key, error.problem))
    except OnceError as error:
        found.append(finding(effect, "", str(error)))
    except (Exception, SystemExit) as error:  # whatever the user's code raises
        found.append(_of_user(error, where, effect))


def _of_user(error: BaseException, where: str, effect: Effect) -> CheckFinding:
    ours = "langgraph-once: "
    if isinstance(error, SystemExit) and str(error).startswith(ours):
        return finding(effect, where, str(error).removeprefix(ours))
    start, place = _user_code(error.__traceback__)
    message = str(error)
    if isinstance(error, SyntaxError) and error.filename:
        start, place, message = None, f"{_shown(error.filename)}:{error.lineno}", error.msg
    return CheckFinding(
        effect=effect,
        where=where,
        problem=": ".join(filter(None, [type(error).__name__, " ".join(message.split())])),
        place=place,
        traceback="".join(traceback.format_exception(type(error), error, start)),
    )


def _user_code(start: TracebackType | None) -> tuple[TracebackType | None, str]:
    """The part of a traceback that begins in the user's code, and the last line of it there."""
    first, place = None, ""
    each = start
    while each is not None:
        file = each.tb_frame.f_code.co_filename
        if _is_user_file(file):
            first = first or each
            place = f"{_shown(file)}:{each.tb_lineno}"
        each = each.tb_next
    return first or start, place


def _is_user_file(file: str) -> bool:
    path = Path(file)
    if file.startswith("<") or _INSTALLED & {*path.parts} or path.is_relative_to(_OURS):
        return False
    return not path.is_relative_to(sysconfig.get_path("stdlib"))


def _shown(file: str) -> str:
    path = Path(file).absolute()
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else file
