"""Prose that does not repeat itself: the docstrings of the standard library."""

from __future__ import annotations

import functools
import importlib
import inspect
import pkgutil
import textwrap
from collections.abc import Iterator

PACKAGES = "asyncio concurrent email http importlib json logging multiprocessing unittest xml"
MODULES = (
    "argparse ast bisect calendar cmd codecs collections configparser contextlib copy csv ctypes "
    "dataclasses datetime decimal difflib dis doctest enum fileinput fractions ftplib functools "
    "gettext glob gzip heapq hmac imaplib inspect io ipaddress itertools locale mailbox mimetypes "
    "numbers operator optparse os pathlib pdb pickle pickletools platform plistlib poplib pprint "
    "profile pydoc queue random re sched secrets selectors shelve shlex shutil smtplib socket "
    "socketserver sqlite3 ssl statistics string subprocess tarfile tempfile textwrap threading "
    "timeit tokenize traceback turtle typing urllib.parse urllib.request uuid warnings weakref "
    "wsgiref.handlers zipfile zoneinfo"
)


@functools.cache
def passages(count: int, size: int) -> tuple[str, ...]:
    """Return `count` passages of about `size` characters, no two alike."""
    text = " ".join(_docstrings())
    if len(text) < count * size:
        raise ValueError(f"only {len(text):,} characters of prose")
    return tuple(textwrap.wrap(text[: count * (size + 80)], size, break_long_words=False)[:count])


def _docstrings() -> Iterator[str]:
    seen: set[str] = set()
    for name in sorted({*MODULES.split(), *PACKAGES.split(), *_submodules()}):
        try:
            module = importlib.import_module(name)
        except ImportError:  # not on this platform
            continue
        for found in _documented(module):
            text = " ".join(inspect.cleandoc(found).split())
            if len(text) > 80 and text not in seen:
                seen.add(text)
                yield text


def _submodules() -> Iterator[str]:
    for package in map(importlib.import_module, PACKAGES.split()):
        for found in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
            if not found.name.endswith("__main__"):
                yield found.name


def _documented(module: object) -> Iterator[str]:
    """Yield the docstrings of a module and of what it defines, methods included."""
    stack, seen = [module], {id(module)}
    for owner in stack:
        if isinstance(doc := getattr(owner, "__doc__", None), str):
            yield doc
        for _, member in sorted(vars(owner).items()) if hasattr(owner, "__dict__") else ():
            own = getattr(member, "__module__", "") == getattr(module, "__name__", "")
            if own and id(member) not in seen and callable(member):
                seen.add(id(member))
                stack.append(member)
