"""Which packages the project's source imports: reading a row may import these, and no others.

They are found once, at start, in the text of the files, which runs nothing: `import` and `from` at
the top of a file or in a function, and `import_module("…")`.
"""

from __future__ import annotations

import asyncio
import os
import re
import threading
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache, partial
from pathlib import Path
from queue import SimpleQueue
from typing import Final, NoReturn, ParamSpec, TypeVar

_FOREIGN: Final = frozenset({"site-packages", "dist-packages", "node_modules", "__pycache__"})
_MAX_SOURCE_BYTES: Final = 2 * 1024 * 1024
"""Larger files hold data."""
_MAX_FILES: Final = 20_000

_IMPORT: Final = re.compile(
    rb"(?:^|[:;])[ \t\f]*"  # also in one line with others: `try: import a`
    rb"(?:from[ \t\f]+(?:\\\s*)?(\.*)([\w.]*)[ \t\f]*(?:\\\s*)?import\b"
    rb"|import[ \t\f]+(?:\\\s*)?([^\n#;]+))"
    rb"|(?:import_module|__import__)\(\s*[rub]?[\"'](\.*)([\w.]*)",
    re.MULTILINE,
)
_IMPORTED: Final = re.compile(rb"(?:^|,)[ \t\f\\]*(\w+)")


def imported_packages(places: Iterable[str]) -> frozenset[str]:
    """Return the names of the packages that the files in these places import.

    A package of the project itself counts as well, where a file in it imports relatively.

    Args:
        places: Folders, and files that end in `.py`. Links are followed.
    """
    return off_loop(_of_places, tuple(places)) if places else frozenset()


@lru_cache(16)  # a serializer is made anew for each set of schemas
def _of_places(places: tuple[str, ...]) -> frozenset[str]:
    found: set[str] = set()
    for count, file in enumerate(_files_in(places)):
        if count >= _MAX_FILES:
            break
        found.update(_imports_of(file))
    return frozenset(found)


def _files_in(places: Iterable[str]) -> Iterator[Path]:
    """Yield the files of source in folders, each folder once, and those that are named."""
    seen: set[str] = set()
    for place in places:
        if place.endswith(".py"):
            yield Path(place)
            continue
        for folder, inner, names in os.walk(place, followlinks=True):
            real = os.path.realpath(folder)
            if real in seen:
                inner.clear()
                continue
            seen.add(real)
            inner[:] = [each for each in inner if each not in _FOREIGN and each[:1] != "."]
            yield from (Path(folder, name) for name in names if name.endswith(".py"))


def _imports_of(file: Path) -> Iterator[str]:
    """Yield the packages that a file imports."""
    try:
        if file.stat().st_size > _MAX_SOURCE_BYTES:
            return
        source = file.read_bytes()
    except OSError:
        return
    is_relative = False
    for dots, origin, several, called_dots, called in _IMPORT.findall(source):
        is_relative = is_relative or bool(dots or called_dots)
        names = _IMPORTED.findall(several) if several else [origin or called]
        if not (dots or called_dots):
            yield from (name.decode(errors="replace").partition(".")[0] for name in names if name)
    if is_relative:
        yield _package_of(file)


def _package_of(file: Path) -> str:
    """Return the outermost package that a file is in."""
    folder = file.absolute().parent
    while (folder.parent / "__init__.py").is_file():
        folder = folder.parent
    return folder.name


P = ParamSpec("P")
T = TypeVar("T")


def off_loop(ask: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Return what `ask` returns or raise what it raises, run outside of any event loop.

    Checkpoints are encoded in the event loop, where `langgraph dev` raises `BlockingError` for
    reading a link or asking for the working directory (langgraph-api 0.16.7). A synchronous call
    cannot await the answer. So a thread asks for it. Whoever asks keeps the answer.

    It imports nothing: a module that this thread is importing would wait for this thread.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return ask(*args, **kwargs)
    answers: SimpleQueue[Callable[[], T]] = SimpleQueue()

    def run() -> None:
        try:
            answer = ask(*args, **kwargs)
        except BaseException as error:  # raised where it was asked
            answers.put(partial(_raise, error))
        else:
            answers.put(lambda: answer)

    threading.Thread(target=run, name="once-disk", daemon=True).start()
    return answers.get()()


def _raise(error: BaseException) -> NoReturn:
    raise error
