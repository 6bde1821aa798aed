"""The makers of the kinds, heads and trees that were met before.

Only what the allowlist lists is remembered. Everything else is looked up, and reported, each time.
"""

from __future__ import annotations

from typing import Any, Final

from langgraph_once.serde.codecs.once1.format.object_forms import head_forms
from langgraph_once.serde.codecs.once1.read.class_loader import Loader
from langgraph_once.serde.codecs.once1.read.nested_objects import TreeMakers, tree_maker
from langgraph_once.serde.codecs.once1.read.simple_objects import Maker, as_it_is, makers_of
from langgraph_once.serde.codecs.once1.read.threads import Head

__all__ = ["KnownMakers"]

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

    def of_kinds(self, kinds: Any, tag: str) -> list[Maker]:
        """Return what makes items of these kinds; errors are those of `makers_of`."""
        if type(kinds) is bytes and kinds in self.by_kinds:
            return self.by_kinds[kinds]
        makers, listed = makers_of(kinds, self.loader, tag=tag)
        if listed:
            if len(self.by_kinds) >= _MAX_KNOWN:
                self.by_kinds.clear()
            self.by_kinds[kinds] = makers
        return makers

    def head(self, content: bytes, kinds: Any, indices: bytes, tag: str) -> Head:
        """Return what a `HEAD` stands for; errors are those of `makers_of`."""
        head = Head(self._of_head_kinds(kinds, tag), indices)
        if kinds in self.by_head_kinds and len(content) <= _MAX_HEAD_BYTES:
            if len(self.heads) >= _MAX_HEADS:
                self.heads.clear()
            self.heads[content] = head
        return head

    def _of_head_kinds(self, kinds: Any, tag: str) -> list[Maker]:
        if type(kinds) is bytes and kinds in self.by_head_kinds:
            return self.by_head_kinds[kinds]
        nested = TreeMakers(self.loader, [], tag)
        makers = [as_it_is, *(nested.object(*parts) for parts in head_forms(kinds))]
        if nested.are_listed:
            if len(self.by_head_kinds) >= _MAX_KNOWN:
                self.by_head_kinds.clear()
            self.by_head_kinds[kinds] = makers
        return makers

    def of_tree(self, form: bytes, makers: TreeMakers, *, reusable: bool) -> Maker:
        """Return what makes the value of a `TREE`; errors are those of `TreeMakers.part`."""
        if reusable and form in self.trees:
            return self.trees[form]
        maker = tree_maker(form, makers)
        if reusable and makers.are_listed:
            if len(self.trees) >= _MAX_KNOWN:
                self.trees.clear()
            self.trees[form] = maker
        return maker
