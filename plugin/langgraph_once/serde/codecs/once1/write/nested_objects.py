"""Writing objects that hold objects as native maps: the form of a `TREE`.

What the objects of a list have in common is found for all of them at once, column by column:
their classes, the fields set, the types of the values of each field. So the work for each object
is done in C, and msgpack writes each object as the map of its values.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any, Final

import ormsgpack

from langgraph_once.serde.codecs.once1.format.layout import ATOMS, MAX_TREE_LEVELS
from langgraph_once.serde.codecs.once1.write.simple_objects import GiveUpError, check_repeats

if TYPE_CHECKING:
    from langgraph_once.serde.codecs.once1.write.simple_objects import Kind, Shape

__all__ = ["NestedForm"]

_TEXT: Final = frozenset({str})
_LIST: Final = frozenset({list})
_DICT: Final = frozenset({dict})
_UNSAFE: Final = frozenset({bytearray, memoryview, ormsgpack.Ext, ormsgpack.Fragment})
"""What ormsgpack would write without asking."""

_MAX_KINDS: Final = 255

Form = Any
"""What `layout` says of `TREE`; None for what holds no objects."""


class NestedForm:
    """The form of one value, and what was met on the way."""

    def __init__(self, shapes: dict[type, Shape | None]) -> None:
        self._shapes = shapes
        self.ids: list[int] = []
        """Of all lists, dictionaries and objects."""
        self.indices: list[bytes] = []
        """Of columns with several kinds of objects: which each of them is of."""
        self.level = 0
        """How deep the deepest of them stands."""
        self.others: set[type] = set()
        """Types of values that are neither of these nor native."""

    def form(self, column: list[Any], level: int) -> Form:
        """Return the form of values that stand at so deep a level.

        Raises:
            GiveUpError: They have none in common.
        """
        types = {*map(type, column)}
        is_mixed = len(types) > 1
        types -= ATOMS
        if not types:
            return None
        if level >= MAX_TREE_LEVELS:
            raise GiveUpError
        self.level = max(self.level, level + 1)
        forms = []
        if list in types:
            lists = _of(_LIST, column) if is_mixed else column
            self._note(lists)
            inner = self.form([*chain.from_iterable(lists)], level + 1)
            forms.append(inner and [inner])
        if dict in types:
            dicts = _of(_DICT, column) if is_mixed else column
            if not _TEXT.issuperset(map(type, chain.from_iterable(dicts))):
                raise GiveUpError
            self._note(dicts)
            inner = self.form([*chain.from_iterable([each.values() for each in dicts])], level + 1)
            forms.append(inner and {"": inner})
        classes = {cls for cls in types if self._is_simple(cls)}
        if classes:
            objects = _of(classes, column) if is_mixed else column
            forms.append(self._objects(classes, objects, level))
        found = [form for form in forms if form is not None]
        if found and len(forms) > 1:
            raise GiveUpError  # a reader could not tell which is which
        return found[0] if found else None

    def _note(self, parts: list[Any]) -> None:
        ids = [*map(id, parts)]
        check_repeats(ids)
        self.ids += ids

    def _is_simple(self, cls: type) -> bool:
        """Whether objects of `cls` may be written as maps; notes those that may not."""
        if cls is list or cls is dict:
            return False
        if cls in _UNSAFE:
            raise GiveUpError
        if self._shapes[cls] is not None:
            return True
        self.others.add(cls)
        return False

    def _objects(self, classes: set[type], objects: list[Any], level: int) -> Form:
        self._note(objects)
        values = [each.__dict__ for each in objects]
        if len(classes) == 1:
            kind = self._shape_of(objects[0]).common_kind(objects, values)
            if kind is not None:
                return self.of_kind(kind, values, level)
        groups: dict[Kind, list[dict[str, Any]]] = {}
        kinds = []
        for each, own in zip(objects, values, strict=True):
            kind = self._shape_of(each).kind_of(each)
            if kind is None:
                raise GiveUpError
            kinds.append(kind)
            groups.setdefault(kind, []).append(own)
        if len(groups) > _MAX_KINDS:
            raise GiveUpError
        places = {kind: place for place, kind in enumerate(groups)}
        self.indices.append(bytes([places[kind] for kind in kinds]))
        return [None, *(self.of_kind(kind, group, level) for kind, group in groups.items())]

    def _shape_of(self, simple: Any) -> Shape:
        shape = self._shapes[type(simple)]
        if shape is None:
            raise GiveUpError
        return shape

    def of_kind(self, kind: Kind, values: list[dict[str, Any]], level: int) -> Form:
        """Return the form of objects of one kind, by the values of their fields."""
        parts = {}
        if not ATOMS.issuperset(map(type, chain.from_iterable(map(dict.values, values)))):
            for name in values[0]:
                form = self.form([each[name] for each in values], level + 1)
                if form is not None:
                    parts[name] = form
        return [*kind.parts, parts]


def _of(types: frozenset[type] | set[type], column: list[Any]) -> list[Any]:
    """Return the values of these types."""
    return [value for value in column if type(value) in types]
