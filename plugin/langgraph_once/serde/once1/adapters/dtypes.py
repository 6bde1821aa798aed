"""numpy's data types as plain values.

"<f8"                                            a simple type, as `dtype.str`
(base, shape)                                    an array in a field
(fields, bytes, aligned)                         a structure; a field is (name, title, offset,
                                                 type), with the title mostly None
"""

from __future__ import annotations

import importlib
import re
from typing import Any, Final

from langgraph_once.serde.once1.adapters.shapes import parts, plain
from langgraph_once.serde.once1.protocol import UnwritableError

__all__ = ["make_dtype", "take_dtype"]

_SIMPLE: Final = re.compile(r"[<>|=]?([biufcSUV]\d{1,9}|[mM]8(\[\d{0,9}[a-zA-Zμ]{1,7}\])?|[lLqQ])")
_MAX_DEPTH: Final = 16
_MAX_ITEM_BYTES: Final = 1 << 31


def take_dtype(dtype: Any) -> Any:
    """Return `dtype` as a plain value.

    Raises:
        UnwritableError: Its values are Python objects, or of a kind that this module does not know.
    """
    if dtype.hasobject:
        raise UnwritableError(
            "numpy's object type holds addresses; use a list or another dtype, or, for an array "
            'of nothing but objects, set `object_arrays` to "elements"'
        )
    if dtype.metadata is not None or dtype.itemsize == 0:
        raise UnwritableError(f"the data type {dtype} has metadata, or no size")
    if dtype.subdtype is not None:
        base, shape = dtype.subdtype
        return take_dtype(base), shape
    if dtype.names is not None:
        fields = tuple(_take_field(dtype, name) for name in dtype.names)
        return fields, dtype.itemsize, dtype.isalignedstruct
    for text in (dtype.str, f"{dtype.byteorder}{dtype.char}"):
        if _SIMPLE.fullmatch(text):
            made = _numpy().dtype(text)
            if made == dtype and made.num == dtype.num:
                return text
    raise UnwritableError(f"the data type {dtype} cannot be written")


def make_dtype(data: Any, *, depth: int = 0) -> Any:
    """Return the data type that `take_dtype` returned `data` for.

    Raises:
        ValueError: It did not.
    """
    if depth > _MAX_DEPTH:
        raise ValueError("a data type nested too deep")
    if type(data) is str:
        made = _simple(data)
    elif type(data) is tuple and len(data) == 2:
        base, shape = parts(data, object, tuple)
        if not all(type(n) is int and 0 < n < _MAX_ITEM_BYTES for n in shape):
            raise ValueError("not the shape of a field")
        made = _numpy().dtype((make_dtype(base, depth=depth + 1), shape))
    else:
        made = _structure(data, depth)
    if not 0 < made.itemsize < _MAX_ITEM_BYTES:
        raise ValueError("a data type without size, or too large")
    return made


def _take_field(dtype: Any, name: str) -> tuple[Any, ...]:
    field, offset, *title = dtype.fields[name]
    return name, title[0] if title else None, offset, take_dtype(field)


def _simple(text: str) -> Any:
    if not _SIMPLE.fullmatch(text):
        raise ValueError("not a data type")
    return _numpy().dtype(text)


def _structure(data: Any, depth: int) -> Any:
    fields, size, aligned = parts(data, tuple, int, bool)
    if not 0 < size < _MAX_ITEM_BYTES:
        raise ValueError("a data type without size, or too large")
    columns: dict[str, list[Any]] = {"names": [], "titles": [], "offsets": [], "formats": []}
    for field in fields:
        name, title, offset, kind = parts(field, str, object, int, object)
        if title is not None:
            plain(title, str)
        if not 0 <= offset < size:
            raise ValueError("a field outside of its structure")
        for column, value in zip(
            columns.values(), (name, title, offset, make_dtype(kind, depth=depth + 1)), strict=True
        ):
            column.append(value)
    return _numpy().dtype({**columns, "itemsize": size}, align=aligned)


def _numpy() -> Any:
    # Only ever reached with an array of numpy, or with bytes that name one.
    return importlib.import_module("numpy")
