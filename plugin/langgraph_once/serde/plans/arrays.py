"""numpy: arrays, matrices, arrays of records, masked arrays, scalars and dtypes.

numpy is asked only where it is imported: its values come from a program that has it.

An array is `[dtype, shape, order, content]`. Arrays come back writable and contiguous, in Fortran's
order if they were so; two that looked at the same memory come back as two. The content is

    bytes    of numbers, text of fixed length and the like
    a list   of Python objects, or of texts of any length; of a structure, the arrays of its fields

So what stands in memory between the fields of a structure is not written, nor are the bytes of long
doubles that mean nothing: anything may be there. A dtype is

    "<f8"                              as `dtype.str` has it; "|O" Python objects, "T" texts
    [base, shape]                      an array in a field
    [fields, size, aligned, records]   a structure; a field is [name, title, offset, dtype]
    {"coerce": …, "missing": …}        texts with what stands for those that are missing
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any, Final

from langgraph_once.serde.lookup import imported
from langgraph_once.serde.opaque import UnavailableError, UnwritableError
from langgraph_once.serde.plans.base import Form, Maker, check, parts

_SIMPLE: Final = re.compile(
    r"[<>|=]?([biufcSUV]\d{1,9}|[mM]8(\[\d{0,9}[a-zA-Z]{1,7}\])?|[lLqQ])|\|O|T"
)
_ITEMS: Final = "OT"
"""Codes of dtypes whose content is a list of items."""
_LONG_DOUBLES: Final = "gG"
# The rest of the 12 or 16 is padding, which holds what was in memory before.
_BYTES_OF_80_BITS: Final = 10
# As numpy 2 allows; numpy 1 had 32.
_MAX_DIMENSIONS: Final = 64
# numpy counts in `npy_intp`.
_MAX_LENGTH: Final = 1 << 63
# Structures in structures; each level is a call, here and in numpy.
_MAX_DTYPE_DEPTH: Final = 16
_MAX_GAPS: Final = 100
"""So many times larger than its fields a structure may be."""
_MIN_VIEW_BYTES: Final = 1 << 16
"""Smaller arrays are copied, which is faster than a view of them."""
_MODULES: Final = ("numpy", "numpy.rec", "numpy.char", "numpy.ma", "numpy.ma.core", "numpy.dtypes")
_ARRAYS: Final = ("ndarray", "matrix", "recarray", "chararray", "MaskedArray", "MaskedConstant")
_NOTED: Final = frozenset({"_getitem"})
"""Where a matrix notes that it is being read."""


def part(value: Any, *kinds: type) -> Any:
    """Return an object that another is made of, which must be exactly of one of `kinds`.

    Raises:
        UnavailableError: It is not: it is a stand-in, where it cannot be made.
    """
    if type(value) not in kinds:
        raise UnavailableError(f"it is made of a {kinds[0].__name__} that is not available")
    return value


def take_array(array: Any) -> list[Any]:
    """Return the parts of an array of exactly `numpy.ndarray`.

    Raises:
        UnwritableError: Its dtype is not known here, or has no size.
    """
    if not array.dtype.itemsize:
        raise UnwritableError("an array of items without size")
    order = "F" if array.flags.f_contiguous and not array.flags.c_contiguous else "C"
    return [_take_dtype(array.dtype), [*array.shape], order, _content(array, order)]


def make_array(data: Any) -> Any:
    """Return the array of these parts, which may come from anybody.

    Raises:
        ValueError: They are not those of an array, as `take_array` and LangGraph write them.
        UnavailableError: This platform has no such dtype.
    """
    described, shape, order, content = parts(data, object, list, str, object)
    if len(shape) > _MAX_DIMENSIONS or not all(
        type(n) is int and 0 <= n < _MAX_LENGTH for n in shape
    ):
        raise ValueError("not the shape of an array")
    if order not in ("C", "F"):
        raise ValueError("not an order of an array")
    dtype = _make_dtype(described)
    if type(content) is not list:
        return _of_bytes(dtype, shape, order, check(content, bytes, memoryview))
    return (_of_items if dtype.names is None else _of_fields)(dtype, shape, order, content)


def _content(array: Any, order: Any) -> Any:
    dtype = array.dtype
    if dtype.names is not None:
        _check_gaps(dtype)
        return [take_array(array[name]) for name in dtype.names]
    if dtype.hasobject:
        return array.ravel(order).tolist()
    if dtype.char in _LONG_DOUBLES:
        return _without_padding(array.tobytes(order))
    is_contiguous = array.flags.c_contiguous or order == "F"
    if array.nbytes < _MIN_VIEW_BYTES or not is_contiguous:
        return array.tobytes(order)
    return array.reshape(-1, order=order).view("u1").data


def _without_padding(content: bytes) -> bytes:
    numpy = imported("numpy")
    if numpy.finfo("g").nmant != 63:
        return content
    cells = numpy.frombuffer(content, "u1").reshape(-1, numpy.dtype("g").itemsize).copy()
    cells[:, _BYTES_OF_80_BITS:] = 0
    return bytes(cells.data)


def _check_gaps(dtype: Any) -> None:
    if dtype.itemsize > _MAX_GAPS * sum(dtype[name].itemsize for name in dtype.names):
        raise UnwritableError("a structure that is nearly empty")


def _of_bytes(dtype: Any, shape: list[int], order: Any, content: bytes | memoryview) -> Any:
    count = math.prod(shape)
    if dtype.hasobject or not dtype.itemsize or len(content) != count * dtype.itemsize:
        raise ValueError("an array with too much or too little content")
    numpy = imported("numpy")
    if not content:
        return numpy.empty(shape, dtype, order)
    return numpy.frombuffer(content, dtype).reshape(shape, order=order).copy(order)


def _of_items(dtype: Any, shape: list[int], order: Any, items: list[Any]) -> Any:
    if dtype.char not in _ITEMS or math.prod(shape) != len(items):
        raise ValueError("items of what is no array of objects")
    if dtype.char == "T" and not hasattr(dtype, "na_object"):
        parts(items, *[str] * len(items))
    flat = imported("numpy").fromiter(items, object, len(items))  # `array` takes sequences apart
    return flat.astype(dtype, copy=False).reshape(shape, order=order).copy(order)


def _of_fields(dtype: Any, shape: list[int], order: Any, columns: list[Any]) -> Any:
    _check_gaps(dtype)
    found = {name: make_array(column) for name, column in zip(dtype.names, columns, strict=True)}
    for name, column in found.items():
        field = dtype[name]
        if column.dtype != field.base or column.shape != (*shape, *field.shape):
            raise ValueError("a column that is not of its field")
    made = imported("numpy").zeros(shape, dtype, order)
    for name, column in found.items():
        made[name][...] = column
    return made


def _take_dtype(dtype: Any) -> Any:
    """Return what the bytes hold of a dtype."""
    if dtype.metadata is not None:
        raise UnwritableError(f"the dtype {dtype} has metadata")
    if dtype.subdtype is not None:
        base, shape = dtype.subdtype
        return [_take_dtype(base), [*shape]]
    if dtype.names is not None:
        is_record = dtype.type is imported("numpy").record
        fields = [_take_field(dtype, name) for name in dtype.names]
        return [fields, dtype.itemsize, dtype.isalignedstruct, is_record]
    for text in (dtype.str, dtype.char, f"{dtype.byteorder}{dtype.char}"):
        if _SIMPLE.fullmatch(text):
            made = imported("numpy").dtype(text)
            if made == dtype and made.num == dtype.num and repr(made) == repr(dtype):
                return text
    if dtype.char == "T":
        missing = {"missing": dtype.na_object} if hasattr(dtype, "na_object") else {}
        return {"coerce": dtype.coerce, **missing}
    raise UnwritableError(f"the dtype {dtype} cannot be written")


def _take_field(dtype: Any, name: str) -> list[Any]:
    field, offset, *title = dtype.fields[name]
    return [name, title[0] if title else None, offset, _take_dtype(field)]


def _make_dtype(data: Any, depth: int = 0) -> Any:
    """Return the dtype; numpy checks that what it is made of fits together."""
    if depth > _MAX_DTYPE_DEPTH:
        raise ValueError("a dtype nested too deep")
    numpy = imported("numpy")
    if type(data) is str:
        return _simple(data)
    if type(data) is dict:
        missing = {"na_object": data["missing"]} if "missing" in data else {}
        return numpy.dtypes.StringDType(coerce=check(data["coerce"], bool), **missing)
    if len(check(data, list)) == 2:
        base, shape = parts(data, object, list)
        return numpy.dtype((_make_dtype(base, depth + 1), tuple(parts(shape, *[int] * len(shape)))))
    fields, size, aligned, is_record = parts(data, list, int, bool, bool)
    found = [parts(each, str, object, int, object) for each in fields]
    names, titles, offsets, kinds = ([*each] for each in zip(*found, strict=True))
    described = {"names": names, "titles": titles, "offsets": offsets, "itemsize": size}
    formats = [_make_dtype(kind, depth + 1) for kind in kinds]
    made = numpy.dtype({**described, "formats": formats}, align=aligned)
    return numpy.dtype((numpy.record, made)) if is_record else made


def _simple(text: str) -> Any:
    if not _SIMPLE.fullmatch(text):
        raise ValueError("not a dtype")
    try:
        return imported("numpy").dtype(text)
    except TypeError as error:
        raise UnavailableError("this platform has no such number") from error


def _take_masked(obj: Any) -> list[Any]:
    if obj._optinfo.keys() - _NOTED:  # noqa: SLF001  (where numpy keeps them)
        raise UnwritableError("a masked array with attributes")
    mask = None if obj.mask is imported("numpy").ma.nomask else obj.mask
    return [obj.data, mask, obj._fill_value, bool(obj.hardmask)]  # noqa: SLF001  (None: not set)


def _make_masked(data: Any) -> Any:
    numpy = imported("numpy")
    values, mask, filled, is_hard = parts(data, object, object, object, bool)
    part(values, numpy.ndarray, numpy.matrix)
    if mask is None:
        mask = numpy.ma.nomask
    elif part(mask, numpy.ndarray).shape != values.shape:
        raise ValueError("a mask of another shape")
    elif mask.dtype != numpy.ma.make_mask_descr(values.dtype):
        raise ValueError("a mask for another dtype")
    made = numpy.ma.MaskedArray(values, mask=mask, hard_mask=is_hard)
    if filled is not None:
        if part(filled, numpy.ndarray).ndim or filled.dtype != values.dtype:
            raise ValueError("expected what stands for masked items")
        made._fill_value = filled  # noqa: SLF001  (what is set in public is converted)
    return made


class NumpyForm(Form):
    """The classes of numpy that hold data. Other subclasses of `ndarray` mean more than that."""

    name = "numpy"

    def matches(self, cls: type) -> bool:
        numpy = imported("numpy")
        if numpy is None or cls.__module__ not in _MODULES:
            return False
        if issubclass(cls, numpy.ndarray):
            return cls.__name__ in _ARRAYS
        return issubclass(cls, (numpy.generic, numpy.dtype))

    def take(self, obj: Any) -> Any:
        numpy = imported("numpy")
        if type(obj) is numpy.ndarray:
            return take_array(obj)
        if isinstance(obj, numpy.dtype):
            return [_take_dtype(obj)]
        if isinstance(obj, numpy.str_):
            return str.__str__(obj)
        if isinstance(obj, numpy.bytes_):
            return bytes(obj)
        if isinstance(obj, numpy.generic):
            return take_array(numpy.asarray(obj, dtype=obj.dtype))
        if isinstance(obj, numpy.ma.MaskedArray):
            return None if obj is numpy.ma.masked else _take_masked(obj)
        if vars(obj).keys() - _NOTED:
            raise UnwritableError("an array with attributes")
        return take_array(obj.view(numpy.ndarray))

    def maker(self, cls: type, extra: list[Any]) -> Maker:
        make = self._make(cls, imported("numpy"))
        return lambda data: check(make(data), cls)

    def _make(self, cls: Any, numpy: Any) -> Callable[[Any], Any]:
        if issubclass(cls, numpy.dtype):
            return lambda data: _make_dtype(*parts(data, object))
        if cls in (numpy.str_, numpy.bytes_):
            return lambda data: cls(check(data, str if cls is numpy.str_ else bytes))
        if issubclass(cls, numpy.generic):
            return lambda data: make_array(data)[()]
        if issubclass(cls, numpy.ma.MaskedArray):
            return _make_masked if cls is numpy.ma.MaskedArray else lambda _: numpy.ma.masked
        return lambda data: make_array(data).view(cls)

    def shown(self, data: Any, extra: list[Any]) -> Any:
        return None if type(data) is list else data


FORMS: Final[tuple[Form, ...]] = (NumpyForm(),)
