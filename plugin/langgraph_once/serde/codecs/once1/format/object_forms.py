"""The parts of the forms that hold objects: `MODEL`, `MODELS`, `HEAD` and `TREE`, as stored.

Checked for their shape alone: nothing is looked up, and no object is made.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from ormsgpack import unpackb

from langgraph_once.serde.codecs.once1.format.layout import MARK, MAX_KINDS_BYTES, Ext, unpack

__all__ = ["MODEL_CODES", "KindParts", "head_parts", "kind_of_form", "kinds_of", "tree_parts"]

MODEL_CODES: Final = frozenset({int(Ext.MODEL), int(Ext.MODELS)})
"""Ordinary integers: members of `Ext` take their time to look up and to compare."""


class KindParts(NamedTuple):
    """A kind as it was stored."""

    class_name: str
    is_model: bool
    fields_set: list[str] | None = None
    has_extra: bool = False


def kinds_of(kinds: Any, *, with_forms: bool = False) -> list[tuple[KindParts, dict[str, Any]]]:
    """Return the kinds that were stored, each with the forms of its fields.

    Args:
        kinds: What was stored.
        with_forms: Whether a kind may have some: behind a `HEAD`.

    Raises:
        ValueError: That is not what was stored.
    """
    return [
        kind_of_form(kind)
        if with_forms and type(kind) is list and type(kind[-1]) is dict
        else (_kind(kind), {})
        for kind in _listed(kinds)
    ]


def _listed(kinds: Any) -> list[Any]:
    if type(kinds) is not bytes or len(kinds) > MAX_KINDS_BYTES:
        raise ValueError("no kinds where some belong")
    listed = unpack(kinds, 1)[0]
    if type(listed) is not list:
        raise ValueError("no array of kinds where one belongs")
    return listed


def _kind(kind: Any) -> KindParts:
    match kind:
        case [str(name)]:
            return KindParts(name, is_model=False)
        case [str(name), (None | list()) as names, bool(extra)]:
            if names is None or all(type(field) is str for field in names):
                return KindParts(name, True, names, extra)
    raise ValueError("no kind where one belongs")


def head_parts(content: bytes) -> tuple[bytes, bytes]:
    """Return the kinds and the indices that a `HEAD` holds.

    Raises:
        ValueError: It holds something else.
    """
    match unpackb(content):
        case [bytes(kinds), bytes(indices), bytes(mark)] if mark == MARK:
            return kinds, indices
    raise ValueError("a head without all of its parts")


def tree_parts(array: Any) -> tuple[bytes, list[bytes], Any]:
    """Return the packed form, the indices, and the value.

    Raises:
        ValueError: This is not the content of a `TREE`.
    """
    match array:
        case [bytes(form), list(indices), value, bytes(mark)] if mark == MARK:
            if len(form) <= MAX_KINDS_BYTES and all(type(each) is bytes for each in indices):
                return form, indices, value
    raise ValueError("a tree without all of its parts")


def kind_of_form(form: Any) -> tuple[KindParts, dict[str, Any]]:
    """Return the kind of an object, and the forms of its fields.

    Raises:
        ValueError: It is not the form of an object.
    """
    match form:
        case [*kind, dict(forms)]:
            return _kind(kind), forms
    raise ValueError("no form where one belongs")
