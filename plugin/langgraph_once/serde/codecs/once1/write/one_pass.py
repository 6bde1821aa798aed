"""Writing a value in one pass: ormsgpack writes while this walks.

What it cannot write rightly, it gives up on. A part that occurs twice is written twice at first,
and noted in `OnePassWriter.ids`. Another one, which is told of that, writes the value again: such
a part becomes an entry of the table when it is met first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from itertools import chain
from operator import attrgetter
from typing import Any, Final, NamedTuple

import ormsgpack
from ormsgpack import packb

from langgraph_once.serde.codecs.once1.format.layout import (
    ATOMS,
    MARK,
    MAX_KINDS_BYTES,
    MAX_LEVELS,
    MAX_OBJECTS,
    MIN_BUFFER_BYTES,
    OPTIONS,
    Ext,
    array,
    buffer_entry,
    entry,
    pack,
    table,
)
from langgraph_once.serde.codecs.once1.format.opaque import Opaque
from langgraph_once.serde.codecs.once1.write.nested_objects import NestedForm
from langgraph_once.serde.codecs.once1.write.nodes import is_text, pack_atom
from langgraph_once.serde.codecs.once1.write.simple_objects import (
    MANY_PARTS,
    GiveUpError,
    Kind,
    MessageShape,
    Shape,
    check_repeats,
)

__all__ = ["NONE_TWICE", "VALUES", "ClassWriter", "Known", "OnePassWriter", "repeated"]

_MAX_KINDS: Final = 4096
VALUES: Final = attrgetter("__dict__")
"""The hook where all that is not native is an object that stands as the map of its values."""

_TEXT: Final = frozenset({str})
_UNSURE: Final = ATOMS - {int, str}
_BUFFERS: Final[dict[type, Ext]] = {bytearray: Ext.BYTEARRAY, memoryview: Ext.MEMORYVIEW}
_NEVER: Final = frozenset({Opaque, ormsgpack.Ext, ormsgpack.Fragment})
"""What needs the graph, and what ormsgpack would write without asking."""


ClassWriter = Callable[["OnePassWriter", Any], ormsgpack.Ext]
"""Returns the extension that stands for an instance of a class."""


class Known(NamedTuple):
    """Per-class encoding plans, shared between calls."""

    shapes: dict[type, Shape | None]
    class_writers: dict[type, ClassWriter]
    kinds: dict[tuple[Kind, ...], bytes]
    """The content of the `bin` for the kinds that occurred together."""


NONE_TWICE: Final[Mapping[int, int]] = {}


def repeated(ids: list[int]) -> Mapping[int, int]:
    """Return how often each part occurs that occurs more than once, by id."""
    if len({*ids}) == len(ids):
        return NONE_TWICE
    return {each: count for each, count in Counter(ids).items() if count > 1}


class OnePassWriter:
    """Writes one value."""

    levels = 0
    """At most so many containers and objects are open."""
    objects = 0
    """So many extensions are."""
    entries = 0
    """Of the table."""
    seen = 1
    """How often that is written which is being written."""

    def __init__(
        self, known: Known, counts: Mapping[int, int] = NONE_TWICE, *, is_simple: bool = True
    ) -> None:
        """Take what one attempt needs.

        Args:
            known: What was found out about classes.
            counts: What `repeated` returned, once that is known.
            is_simple: Nothing is unusual. Else each text and integer is looked at: some need an
                extension.
        """
        self.shapes, self.class_writers, self.kinds = known
        self.counts = counts
        self.is_simple = is_simple
        self.plain = ATOMS if is_simple else _UNSURE
        """What is written as it is. Where it cannot be, ormsgpack says so."""
        self.has_trees = is_simple and not counts
        """Whether objects in objects are written as maps, if they can be."""
        self.ids: list[int] = []
        """Of all parts that others may refer to; those that occur twice are in it twice."""
        self._next_look = MANY_PARTS
        self.kept: list[Any] = []
        """Values that were made on the way: as long as they live, no other has their id."""
        self.pieces: list[bytes | memoryview] = []
        """Of the table."""
        self._indices: dict[int, int | None] = {}
        """The index of each entry, by the id of its object; None while the entry is written."""

    def packed(self, value: Any) -> bytes:
        """Return the blob.

        Raises:
            Exception: Of any kind, if it cannot be written in one pass.
        """
        data = packb(self.prepared(value, 0), self.hook, OPTIONS)
        return table([*self.pieces, *entry(data)]) if self.pieces else data

    def note(self, value: Any) -> None:
        """Note a part that others may refer to.

        Raises:
            GiveUpError: Shared parts were written so often that each of them may stand for many.
        """
        self.ids.append(id(value))
        if len(self.ids) >= self._next_look:
            check_repeats(self.ids)
            self._next_look = 2 * len(self.ids)

    def is_shared(self, value: Any) -> bool:
        """Whether `value` occurs elsewhere than in the entry that is being written, too."""
        return self.counts.get(id(value), 1) > self.seen

    @property
    def hook(self) -> Callable[[Any], Any]:
        """Returns the extension for a value that is not native; asked by msgpack."""
        return self._ref_or_extension if self.counts else self._extension

    def _extension(self, value: Any) -> Any:
        return self.class_writers[type(value)](self, value)

    def _ref_or_extension(self, value: Any) -> Any:
        return self._ref(value) if self.is_shared(value) else self._extension(value)

    def prepared(self, value: Any, level: int) -> Any:
        """Return what msgpack writes rightly without asking: `value`, or a copy of it.

        Copied is the way to lists of models, which are packed here and now.

        Args:
            value: Any value.
            level: How many containers and objects it is in.

        Raises:
            GiveUpError: It would be written wrongly.
        """
        kind = type(value)
        if self.counts and self.is_shared(value):
            return self._ref(value)
        if kind is list:
            return self._list(value, level)
        if kind is dict:
            return self._dict(value, level)
        if kind in _BUFFERS:
            return self._buffer(value, _BUFFERS[kind])
        if kind in _NEVER:
            raise GiveUpError
        return value if self.is_simple or kind not in ATOMS else pack_atom(value)

    def _list(self, value: list[Any], level: int) -> Any:
        if len(value) > 1 and (shape := self.shapes[type(value[0])]) is not None:
            if self.has_trees and type(shape) is not MessageShape:
                return self._tree(value, level) or self._models(value, level)
            return self._models(value, level)
        return self._walked(value, enumerate(value), level)

    def _dict(self, value: dict[Any, Any], level: int) -> Any:
        if not _TEXT.issuperset(map(type, value)):
            return self._map(value)
        if not (self.is_simple or all(map(is_text, value))):
            return self._map(value)
        return self._walked(value, value.items(), level)

    def _map(self, value: dict[Any, Any]) -> ormsgpack.Ext:
        """Return the extension for a dict of which some key is not native text."""
        self.note(value)
        return ormsgpack.Ext(Ext.MAP, self.items([*chain.from_iterable(value.items())]))

    def _walked(self, value: Any, items: Iterable[tuple[Any, Any]], level: int) -> Any:
        if level >= MAX_LEVELS:
            raise GiveUpError
        self.note(value)
        if level >= self.levels:
            self.levels = level + 1
        copy, plain = None, self.plain
        for key, item in items:
            if type(item) not in plain:
                made = self.prepared(item, level + 1)
                if made is not item:
                    copy = copy or value.copy()
                    copy[key] = made
        return copy or value

    def fields(self, values: dict[str, Any], level: int) -> dict[str, Any]:
        """Return what `prepared` does for the values of an object's fields."""
        if self.plain.issuperset(map(type, values.values())):
            return values
        made: dict[str, Any] = self._walked(values, values.items(), level)
        return made

    def _buffer(self, value: bytearray | memoryview, code: Ext) -> ormsgpack.Ext:
        self.note(value)
        if isinstance(value, memoryview) and value.nbytes >= MIN_BUFFER_BYTES:
            return _ref(self.add(buffer_entry(code, value)))
        return ormsgpack.Ext(code, bytes(value))

    def add(self, pieces: tuple[bytes | memoryview, ...]) -> int:
        """Take the pieces of an entry of the table; return its index."""
        self.pieces += pieces
        self.entries += 1
        return self.entries - 1

    def _models(self, items: list[Any], level: int) -> ormsgpack.Ext:
        """Return the `MODELS` for a list that holds models, and maybe other things."""
        self.note(items)
        levels, self.levels = self.levels, level + 2
        self.objects += 1
        shapes, add_id = self.shapes, self.ids.append
        quick, counts = self.is_simple, self.counts
        places: dict[Kind, int] = {}
        indices = []
        contents = []
        for item in items:
            shape = shapes[type(item)]
            kind = None
            if shape is not None and not (counts and self.is_shared(item)):
                if quick and type(shape) is MessageShape:
                    kind = shape.own_kind_of(item)
                if kind is not None:
                    content = item.__dict__
                elif (kind := shape.kind_of(item)) is not None:
                    content = self.fields(item.__dict__, level + 2)
            if kind is None:
                indices.append(0)
                contents.append(self.prepared(item, level + 1))
                continue
            add_id(id(item))
            contents.append(content)
            if kind not in places:
                places[kind] = len(places) + 1
            indices.append(places[kind])
        packed = packb([self._kinds(places), bytes(indices), contents, MARK], self.hook, OPTIONS)
        self._leave(levels)
        return ormsgpack.Ext(Ext.MODELS, packed)

    def _kinds(self, places: dict[Kind, int]) -> bytes:
        """Return the content of the `bin` of kinds."""
        key = tuple(places)
        try:
            return self.kinds[key]
        except KeyError:
            packed = array([kind.packed for kind in places])
        if len(packed) > MAX_KINDS_BYTES:
            raise GiveUpError
        if len(self.kinds) >= _MAX_KINDS:
            self.kinds.clear()
        self.kinds[key] = packed
        return packed

    def model(self, obj: Any, shape: Shape) -> ormsgpack.Ext | None:
        """Return the `MODEL` for a model; None if it is not simple."""
        kind = shape.kind_of(obj)
        if kind is None:
            return None
        values = obj.__dict__
        if (
            self.has_trees
            and type(shape) is not MessageShape
            and not ATOMS.issuperset(map(type, values.values()))
            and (tree := self._tree(obj, self.levels)) is not None
        ):
            return tree
        levels = self.levels
        self.levels += 1
        self.objects += 1
        self.note(obj)
        if not (self.is_simple and type(shape) is MessageShape and shape.own_kind_of(obj)):
            values = self.fields(values, self.levels)
        packed = packb([kind.alone, values, MARK], self.hook, OPTIONS)
        self._leave(levels)
        return ormsgpack.Ext(Ext.MODEL, packed)

    def _tree(self, value: Any, level: int) -> ormsgpack.Ext | None:
        """Return the `TREE` for an object, or a list of objects; None if there is none for it."""
        found = NestedForm(self.shapes)
        levels, objects = self.levels, self.objects
        known = len(self.ids), len(self.pieces), self.entries
        try:
            form = pack(found.form([value], 1))
            if len(form) > MAX_KINDS_BYTES:
                return None
            self.ids += found.ids
            self.levels, self.objects = level + found.level, objects + 1
            hook = self.inside if found.others else VALUES
            packed = packb([form, found.indices, value, MARK], hook, OPTIONS)
            self._leave(levels)
        except Exception:  # the parts may be written one by one, without another try for each
            del self.ids[known[0] :], self.pieces[known[1] :]
            self.entries, self.levels, self.objects = known[2], levels, objects
            self.has_trees = False
            return None
        return ormsgpack.Ext(Ext.TREE, packed)

    def inside(self, value: Any) -> Any:
        """Return what stands in a `TREE` for a value that is not native."""
        return self.hook(value) if self.shapes[type(value)] is None else value.__dict__

    def object(self, obj: Any, code: int, head: bytes, data: Any) -> ormsgpack.Ext:
        """Return the extension for an object that is written as `data`."""
        self.note(obj)
        return ormsgpack.Ext(code, head + self.nested(data))

    def nested(self, data: Any) -> bytes:
        """Return the msgpack of what an extension holds."""
        levels = self.levels
        self.levels += 1
        self.objects += 1
        packed = packb(self.prepared(data, self.levels), self.hook, OPTIONS)
        self._leave(levels)
        return packed

    def items(self, items: Any) -> bytes:
        """Return the msgpack of the array that an extension holds."""
        levels = self.levels
        self.levels += 1
        self.objects += 1
        level = self.levels
        packed = packb([self.prepared(item, level) for item in items], self.hook, OPTIONS)
        self._leave(levels)
        return packed

    def _leave(self, levels: int) -> None:
        """Close an extension that was opened at `levels`."""
        if self.levels >= MAX_LEVELS or self.objects > MAX_OBJECTS:
            raise GiveUpError
        self.levels = levels
        self.objects -= 1

    def _ref(self, value: Any) -> ormsgpack.Ext:
        if id(value) not in self._indices:
            self._write_entry(value)
        index = self._indices[id(value)]
        if index is None:  # it contains itself
            raise GiveUpError
        return _ref(index)

    def _write_entry(self, value: Any) -> None:
        self._indices[id(value)] = None
        outside = self.levels, self.objects, self.seen
        self.levels, self.objects, self.seen = 0, 0, self.counts[id(value)]
        data = packb(self.prepared(value, 0), self.hook, OPTIONS)
        self.levels, self.objects, self.seen = outside
        self._indices[id(value)] = self.add(entry(data))


def _ref(index: int) -> ormsgpack.Ext:
    """Return what refers to an entry of the table."""
    return ormsgpack.Ext(Ext.REF, index.to_bytes(4, "big"))
