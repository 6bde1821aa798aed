"""numpy's data types as plain values.

"<f8"                                            a simple type, as `dtype.str`
(base, shape)                                    an array in a field
(fields, bytes, aligned)                         a structure; a field is (name, title, offset,
                                                 type), with the title mostly None
(fields, bytes, aligned, True)                   a structure whose scalars are `numpy.record`
"|O"                                             Python objects
"T"                                              texts of any length
"""

from __future__ import annotations

import importlib
import re
from typing import Any, Final

from langgraph_once.serde.codecs.once1.types.base.protocol import UnwritableError, parts, plain

__all__ = ["OBJECTS", "TEXTS", "make_dtype", "take_dtype"]

OBJECTS: Final = "|O"
TEXTS: Final = "T"

_SIMPLE: Final = re.compile(r"[<>|=]?([biufcSUV]\d{1,9}|[mM]8(\[\d{0,9}[a-zA-Zμ]{1,7}\])?|[lLqQ])")
_MAX_DEPTH: Final = 16
_MAX_ITEM_BYTES: Final = 1 << 31


def take_dtype(dtype: Any, *, sized: bool = True) -> Any:
    """Return `dtype` as a plain value.

    Args:
        dtype: The data type.
        sized: Whether it is that of an array, where items have a size.

    Raises:
        UnwritableError: It is of a kind that this module does not know.
    """
    if dtype.metadata is not None or (sized and dtype.itemsize == 0):
        raise UnwritableError(f"the data type {dtype} has metadata, or no size")
    if dtype.subdtype is not None:
        base, shape = dtype.subdtype
        return take_dtype(base), shape
    if dtype.names is not None:
        fields = tuple(_take_field(dtype, name) for name in dtype.names)
        is_record = (True,) if dtype.type is _numpy().record else ()
        return fields, dtype.itemsize, dtype.isalignedstruct, *is_record
    for text in (dtype.str, dtype.char, f"{dtype.byteorder}{dtype.char}"):
        if text in (OBJECTS, TEXTS) or _SIMPLE.fullmatch(text):
            made = _numpy().dtype(text)
            if made == dtype and made.num == dtype.num and repr(made) == repr(dtype):
                return text
    raise UnwritableError(f"the data type {dtype} cannot be written")


def make_dtype(data: Any, *, sized: bool = True, depth: int = 0) -> Any:
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
        made = _structure(plain(data, tuple), depth)
    if not int(sized) <= made.itemsize < _MAX_ITEM_BYTES:
        raise ValueError("a data type without size, or too large")
    return made


def _take_field(dtype: Any, name: str) -> tuple[Any, ...]:
    field, offset, *title = dtype.fields[name]
    return name, title[0] if title else None, offset, take_dtype(field)


def _simple(text: str) -> Any:
    if text not in (OBJECTS, TEXTS) and not _SIMPLE.fullmatch(text):
        raise ValueError("not a data type")
    return _numpy().dtype(text)


def _structure(data: Any, depth: int) -> Any:
    of_records = (bool,) if len(data) == 4 else ()
    fields, size, aligned, *is_record = parts(data, tuple, int, bool, *of_records)
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
    made = _numpy().dtype({**columns, "itemsize": size}, align=aligned)
    return _numpy().dtype((_numpy().record, made)) if is_record else made


def _numpy() -> Any:
    # Only ever reached with an array of numpy, or with bytes that name one.
    return importlib.import_module("numpy")
