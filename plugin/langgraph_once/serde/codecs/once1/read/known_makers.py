"""The makers of the kinds, heads and trees that were met before.

Only what the allowlist lists is remembered. Everything else is looked up, and reported, each time.
"""

from __future__ import annotations

from typing import Any, Final, TypeVar

from langgraph_once.serde.codecs.once1.format.object_forms import kinds_of
from langgraph_once.serde.codecs.once1.read.class_loader import Loader
from langgraph_once.serde.codecs.once1.read.nested_objects import TreeMakers, tree_maker
from langgraph_once.serde.codecs.once1.read.simple_objects import Maker, as_it_is
from langgraph_once.serde.codecs.once1.read.threads import Head

__all__ = ["KnownMakers"]

T = TypeVar("T")

_MAX_KNOWN: Final = 4096

_MAX_HEADS: Final = 1024
_MAX_HEAD_BYTES: Final = 1024
"""Of the heads of short threads, many are the same."""


class KnownMakers:
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
            SerdeError: As `TreeMakers.part`, and `NotSimpleError` and `ValueError` as it does.
        """
        known = self.by_head_kinds if with_forms else self.by_kinds
        if type(kinds) is bytes and kinds in known:
            return known[kinds]
        nested = TreeMakers(self.loader, [], tag)
        found = kinds_of(kinds, with_forms=with_forms)
        makers = [as_it_is, *(nested.object(*kind) for kind in found)]
        if nested.are_listed:
            _keep(known, kinds, makers)
        return makers

    def head(self, content: bytes, kinds: bytes, makers: list[Maker], indices: bytes) -> Head:
        """Return what a `HEAD` stands for, of the makers of its kinds."""
        head = Head(makers, indices)
        if kinds in self.by_head_kinds and len(content) <= _MAX_HEAD_BYTES:
            _keep(self.heads, content, head, most=_MAX_HEADS)
        return head

    def of_tree(self, form: bytes, makers: TreeMakers, *, reusable: bool) -> Maker:
        """Return what makes the value of a `TREE`; errors are those of `TreeMakers.part`."""
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
