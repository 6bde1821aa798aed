"""Reading a `TREE`: maps in maps become objects that hold objects.

`ConstructorCache` keeps the constructors of the kinds, heads and trees that were met before. It
keeps only what the allowlist lists: everything else is looked up, and reported, each time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar

from ormsgpack import unpackb

from langgraph_once.serde.codecs.once1.format.object_forms import KindParts, kind_of_form, kinds_of
from langgraph_once.serde.codecs.once1.read.class_loader import Loader
from langgraph_once.serde.codecs.once1.read.simple_objects import (
    Head,
    Maker,
    as_it_is,
    maker_of,
    units_of_a_map,
)

__all__ = ["ConstructorCache", "TreeConstructors", "tree_maker"]

_Part = tuple[type, Maker]
"""What makes a value, if it is of this type."""


class TreeConstructors:
    """Builds the constructors for one `TREE` layout."""

    def __init__(
        self,
        loader: Loader,
        indices: list[bytes],
        tag: str,
        *,
        take: Callable[[int], None] | None = None,
    ) -> None:
        """Take what the form does not tell.

        Args:
            loader: What finds the classes.
            indices: Of a `TREE`.
            tag: For errors.
            take: Where something else may hold lists and maps, which are copied then: is told
                how many units of a `Budget` that takes.
        """
        self._loader = loader
        self._indices = iter(indices)
        self._tag = tag
        self._take = take
        self.are_listed = True
        """Whether the allowlist lists all classes that were met."""

    def part(self, form: Any) -> _Part | None:
        """Return what makes values of a form; None where they stand as they are.

        Raises:
            NotSimpleError: A class has changed since.
            TypeNotAllowedError: A class may not be loaded.
            PayloadError: A class is gone, or is no model.
            ValueError: This is no form.
        """
        match form:
            case None:
                return None
            case [inner]:
                return self._list(inner)
            case {"": inner, **more} if not more:
                return self._map(inner)
            case [None, *kinds]:
                indices = iter(next(self._indices, b""))
                makers = [self._object(kind) for kind in kinds]
                return dict, lambda values: makers[next(indices)](values)
            case _:
                return dict, self._object(form)

    def of_kinds(self, kinds: Any, *, with_forms: bool) -> list[Maker]:
        """Return what makes items of these kinds; see `ConstructorCache.of_kinds`."""
        found = kinds_of(kinds, with_forms=with_forms)
        return [as_it_is, *(self.object(*kind) for kind in found)]

    def check_end(self) -> None:
        """Check that all indices were asked for."""
        if next(self._indices, None) is not None:
            raise ValueError("more indices than columns")

    def _list(self, form: Any) -> _Part | None:
        part = self.part(form)
        if part is None:
            return None
        (kind, make), take = part, self._take

        def make_list(items: Any) -> list[Any]:
            if take:
                take(len(items))
            return [make(item) if type(item) is kind else item for item in items]

        return list, make_list

    def _map(self, form: Any) -> _Part | None:
        part = self.part(form)
        if part is None:
            return None
        (kind, make), take = part, self._take

        def make_map(values: Any) -> dict[str, Any]:
            if take:
                take(units_of_a_map(values))
            return {
                key: make(value) if type(value) is kind else value for key, value in values.items()
            }

        return dict, make_map

    def _object(self, form: Any) -> Maker:
        return self.object(*kind_of_form(form))

    def object(self, kind: KindParts, forms: dict[str, Any]) -> Maker:
        """Return what makes objects of a kind, by the forms of their fields; errors as `part`."""
        make, is_listed = maker_of(kind, self._loader, tag=self._tag)
        self.are_listed = self.are_listed and is_listed
        parts = [(name, part) for name, form in forms.items() if (part := self.part(form))]
        take = self._take
        if not (parts or take):
            return make

        def make_object(values: Any) -> Any:
            if take:
                take(units_of_a_map(values))
                values = values.copy()
            for name, (kind, make_part) in parts:
                value = values.get(name)
                if type(value) is kind:
                    values[name] = make_part(value)
            return make(values)

        return make_object


def tree_maker(form: bytes, makers: TreeConstructors) -> Maker:
    """Return the constructor of a `TREE`; it raises what `TreeConstructors.part` does."""
    part = makers.part(unpackb(form))
    makers.check_end()
    if part is None:
        return lambda value: value
    kind, make = part
    return lambda value: make(value) if type(value) is kind else value


T = TypeVar("T")

_MAX_KNOWN: Final = 4096

_MAX_HEADS: Final = 1024
_MAX_HEAD_BYTES: Final = 1024
"""Of the heads of short threads, many are the same."""


class ConstructorCache:
    """The makers of one loader. Thread-safe."""

    def __init__(self, loader: Loader) -> None:
        self.loader = loader
        self.by_kinds: dict[bytes, list[Maker]] = {}
        """What `of_kinds` has returned, by the kinds."""
        self.by_head_kinds: dict[bytes, list[Maker]] = {}
        """The makers of items behind a `HEAD`, by the kinds."""
        self.trees: dict[bytes, Maker] = {}
        """What makes trees without indices, by the form."""
        self.heads: dict[bytes, Head] = {}
        """What `head` has returned, by the content."""
        loader.memories += (self.by_kinds, self.by_head_kinds, self.trees, self.heads)

    def of_kinds(self, kinds: Any, tag: str, *, with_forms: bool = False) -> list[Maker]:
        """Return what makes items of these kinds, zero included: that is as it is.

        Args:
            kinds: As stored.
            tag: For errors.
            with_forms: Whether they are those of a `HEAD`.

        Raises:
            SerdeError: As `TreeConstructors.part`, whose other errors are raised, too.
        """
        known = self.by_head_kinds if with_forms else self.by_kinds
        if type(kinds) is bytes and kinds in known:
            return known[kinds]
        nested = TreeConstructors(self.loader, [], tag)
        makers = nested.of_kinds(kinds, with_forms=with_forms)
        if nested.are_listed:
            _keep(known, kinds, makers)
        return makers

    def of_linked(self, kinds: Any, tag: str, take: Callable[[int], None]) -> list[Maker]:
        """Return what makes items behind a `HEAD` of maps that something else may hold, too.

        `take` is as on `TreeConstructors`; errors as `of_kinds`.
        """
        return TreeConstructors(self.loader, [], tag, take=take).of_kinds(kinds, with_forms=True)

    def head(self, content: bytes, kinds: bytes, makers: list[Maker], indices: bytes) -> Head:
        """Return what a `HEAD` stands for, of the makers of its kinds."""
        head = Head(makers, indices)
        if kinds in self.by_head_kinds and len(content) <= _MAX_HEAD_BYTES:
            _keep(self.heads, content, head, most=_MAX_HEADS)
        return head

    def of_tree(self, form: bytes, makers: TreeConstructors, *, reusable: bool) -> Maker:
        """Return the constructor of a `TREE`; it raises what `TreeConstructors.part` does."""
        if reusable and form in self.trees:
            return self.trees[form]
        maker = tree_maker(form, makers)
        if reusable and makers.are_listed:
            _keep(self.trees, form, maker)
        return maker


def _keep(known: dict[bytes, T], key: bytes, value: T, *, most: int = _MAX_KNOWN) -> None:
    if len(known) >= most:
        known.clear()
    known[key] = value
