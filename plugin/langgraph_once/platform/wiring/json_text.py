"""Changes to a JSON text that leave all else as its author wrote it: order, indents, line ends."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import Any, Final

_SPACE: Final = re.compile(r"[ \t\n\r]*")
_DECODER: Final = json.JSONDecoder()
# As wide as Black and Ruff keep a line.
_MAX_INLINE: Final = 88


class JsonText:
    """The text of a JSON object, which changes in place.

    Args:
        text: The text.

    Raises:
        ValueError: It is no JSON object, or has a key twice.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        if not isinstance(json.loads(text, object_pairs_hook=_once_each), dict):
            raise ValueError("must be a JSON object")
        # The first key tells how the author indents; without a line break all stays on one line.
        first = re.match(r"\s*\{[ \t]*(\r?\n)([ \t]*)\"", text)
        self._newline = "\r\n" if "\r\n" in text else "\n"
        self._unit = first[2] if first else "  "
        self._is_inline = first is None and text.strip() != "{}"

    def replace(self, path: tuple[str, ...], value: Any) -> None:
        """Put another value in the place of what is at `path`."""
        start, end = self._span(path)
        is_inline = "\n" not in self.text[slice(*self._span(path[:-1]))]
        written = _inline(value) if is_inline else self._written(value, len(path))
        self.text = self.text[:start] + written + self.text[end:]

    def add(self, path: tuple[str, ...], key: str, value: Any) -> None:
        """Put a new key at the end of the object at `path`."""
        start, end = self._span(path)
        members = self._members(start)
        last = max((stop for _, stop in members.values()), default=start + 1)
        is_inline = "\n" not in self.text[start:end] if members else self._is_inline
        if is_inline:
            before, written, after = " " * bool(members), _inline(value), ""
        else:
            before = self._newline + self._unit * (len(path) + 1)
            written = self._written(value, len(path) + 1)
            after = "" if members else self._newline + self._unit * len(path)
        pair = f"{before}{_inline(key)}: {written}{after}"
        tail = self.text[last:] if members else self.text[end - 1 :]
        self.text = self.text[:last] + "," * bool(members) + pair + tail

    def _span(self, path: tuple[str, ...]) -> tuple[int, int]:
        start = self._skip(0)
        for key in path:
            start, _ = self._members(start)[key]
        return start, _DECODER.raw_decode(self.text, start)[1]

    def _members(self, start: int) -> dict[str, tuple[int, int]]:
        """Where the values of the object that begins at `start` are."""
        found: dict[str, tuple[int, int]] = {}
        at = self._skip(start + 1)
        while self.text[at] != "}":
            key, at = _DECODER.raw_decode(self.text, at)
            value = self._skip(self._skip(at) + 1)  # past the colon
            end = _DECODER.raw_decode(self.text, value)[1]
            found[key] = (value, end)
            at = self._skip(end)
            if self.text[at] == ",":
                at = self._skip(at + 1)
        return found

    def _skip(self, at: int) -> int:
        return _SPACE.match(self.text, at).end()  # type: ignore[union-attr]  # it matches always

    def _written(self, value: Any, depth: int) -> str:
        inline = _inline(value)
        inner = value.values() if isinstance(value, dict) else ()
        is_flat = not any(isinstance(each, dict) for each in inner)
        is_short = len(inline) + len(self._unit * depth) <= _MAX_INLINE
        if not isinstance(value, dict) or self._is_inline or (is_flat and is_short and depth > 1):
            return inline
        indent = self._newline + self._unit * (depth + 1)
        pairs = (f"{_inline(key)}: {self._written(each, depth + 1)}" for key, each in value.items())
        return "{" + indent + f",{indent}".join(pairs) + self._newline + self._unit * depth + "}"


def _inline(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _once_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    for key, count in Counter(key for key, _ in pairs).items():
        if count > 1:
            raise ValueError(f"has the key {key!r} twice in one object")
    return dict(pairs)
