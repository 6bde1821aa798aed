"""numpy: arrays, matrices, arrays of records, masked arrays, scalars and dtypes.

numpy is asked only where it is imported: its values come from a program that has it.

An array is `[dtype, shape, order, content]`. Arrays come back writable and contiguous, in Fortran's
order if they were so; two that looked at the same memory come back as two. The content is

    bytes      of numbers, text of fixed length and the like
    a list     of Python objects, or of texts of any length; of arrays by field, where a structure
               has Python objects in it

Bytes that mean nothing are written as zeros: between the fields of a structure and in long doubles
may stand anything that was in memory before.

A dtype is

    "<f8"                              as `dtype.str` has it; "|O" Python objects, "T" texts
    [base, shape]                      an array in a field
    [fields, size, aligned, records]   a structure; a field is [name, title, offset, dtype]
    {"coerce": …, "missing": …}        texts with what stands for those that are missing
"""

from __future__ import annotations

import math
import re
from typing import Any, Final

from langgraph_once.serde.plans.base import Form, Maker, check, parts
from langgraph_once.serde.refused import UnavailableError, UnwritableError
from langgraph_once.serde.trust.lookup import imported

__all__ = ["FORMS", "make_array", "part", "take_array"]

_SIMPLE: Final = re.compile(
    r"[<>|=]?([biufcSUV]\d{1,9}|[mM]8(\[\d{0,9}[a-zA-Z]{1,7}\])?|[lLqQ])|\|O|T"
)
_TEXTS: Final = "T"
_ITEMS: Final = "OT"
"""Codes of dtypes whose content is a list of items."""
_LONG_DOUBLES: Final = "gG"
_BYTES_OF_80_BITS: Final = 10
_MAX_DIMENSIONS: Final = 64
_MAX_DTYPE_DEPTH: Final = 16
_MAX_ITEM_BYTES: Final = 1 << 31
_MIN_VIEW_BYTES: Final = 1 << 16
"""Smaller arrays are copied, which is faster than a view of them."""
_MAX_GAPS: Final = 16
"""So many times larger than its fields a structure with objects may be."""
_NOTED: Final = frozenset({"_getitem"})
"""Where a matrix notes that it is being read."""


def part(value: Any, *kinds: type) -> Any:
    """Return an object that another is made of, which must be exactly of one of `kinds`.

    Raises:
        UnavailableError: It is not: a stand-in, if what it was cannot be made.
    """
    if type(value) not in kinds:
        raise UnavailableError(f"it is made of a {kinds[0].__name__} that is not available")
    return value


def take_array(array: Any) -> list[Any]:
    """Return the parts of an array of exactly `numpy.ndarray`.

    Raises:
        UnwritableError: Its dtype is not known here.
    """
    order = "F" if array.flags.f_contiguous and not array.flags.c_contiguous else "C"
    return [_take_dtype(array.dtype), [*array.shape], order, _content(array, order)]


def make_array(data: Any) -> Any:
    """Return the array of these parts, which may come from anybody.

    Raises:
        ValueError: They are not those of an array, as `take_array` and LangGraph write them.
        UnavailableError: This platform has no such dtype.
    """
    described, shape, order, content = parts(data, object, list, str, object)
    if len(shape) > _MAX_DIMENSIONS or not all(type(n) is int and n >= 0 for n in shape):
        raise ValueError("not the shape of an array")
    if order not in ("C", "F"):
        raise ValueError("not an order of an array")
    dtype = _make_dtype(described)
    if type(content) is not list:
        return _of_bytes(dtype, shape, order, check(content, bytes, memoryview))
    return (_of_items if dtype.names is None else _of_fields)(dtype, shape, order, content)


def _content(array: Any, order: Any) -> Any:
    dtype = array.dtype
    if dtype.hasobject and dtype.names is not None:
        _check_gaps(dtype)
        return [take_array(array[name]) for name in dtype.names]
    if dtype.hasobject:
        return array.ravel(order).tolist()
    is_contiguous = array.flags.c_contiguous or order == "F"
    if array.nbytes < _MIN_VIEW_BYTES or not is_contiguous or _has_gaps(dtype):
        return _clean(dtype, array.tobytes(order))
    return array.reshape(-1, order=order).view("u1").data


def _of_bytes(dtype: Any, shape: list[int], order: Any, content: bytes | memoryview) -> Any:
    if dtype.hasobject or len(content) != math.prod(shape) * dtype.itemsize:
        raise ValueError("an array with too much or too little content")
    numpy = imported("numpy")
    if not content:
        return numpy.empty(shape, dtype, order)
    return numpy.frombuffer(content, dtype).reshape(shape, order=order).copy(order)


def _of_items(dtype: Any, shape: list[int], order: Any, items: list[Any]) -> Any:
    if dtype.char not in _ITEMS or math.prod(shape) != len(items):
        raise ValueError("items of what is no array of objects")
    if dtype.char == _TEXTS and not hasattr(dtype, "na_object"):
        parts(items, *[str] * len(items))
    numpy = imported("numpy")
    flat = numpy.fromiter(items, object, len(items))  # `array` would take sequences apart
    return flat.astype(dtype, copy=False).reshape(shape, order=order).copy(order)


def _of_fields(dtype: Any, shape: list[int], order: Any, columns: list[Any]) -> Any:
    if not dtype.hasobject or len(columns) != len(dtype.names):
        raise ValueError("more or fewer columns than fields")
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


def _check_gaps(dtype: Any) -> None:
    if dtype.itemsize > _MAX_GAPS * sum(dtype[name].itemsize for name in dtype.names):
        raise UnwritableError("a structure of Python objects that is nearly empty")


def _has_gaps(dtype: Any) -> bool:
    return dtype.names is not None or dtype.char in _LONG_DOUBLES


def _clean(dtype: Any, content: bytes) -> bytes:
    if not content or not _has_gaps(dtype):
        return content
    cells = imported("numpy").frombuffer(content, "u1").reshape(-1, dtype.itemsize)
    cleaned: bytes = (cells & _used(dtype)).tobytes()
    return cleaned


def _used(dtype: Any) -> Any:
    """Return the bytes of an item: those that mean something are 255, the others 0."""
    numpy = imported("numpy")
    if dtype.subdtype is not None:
        base, shape = dtype.subdtype
        return numpy.tile(_used(base), math.prod(shape))
    used = numpy.zeros(dtype.itemsize, "u1")
    if dtype.names is not None:
        for name in dtype.names:
            field, offset = dtype.fields[name][:2]
            used[offset : offset + field.itemsize] |= _used(field)
    elif dtype.char in _LONG_DOUBLES and numpy.finfo(dtype).nmant == 63:
        numbers = 2 if dtype.char == "G" else 1
        used.reshape(numbers, -1)[:, :_BYTES_OF_80_BITS] = 255
    else:
        used[:] = 255
    return used


def _take_dtype(dtype: Any, *, sized: bool = True) -> Any:
    """Return what the bytes hold of a dtype; `sized` if it is that of an array."""
    if dtype.metadata is not None or (sized and dtype.itemsize == 0):
        raise UnwritableError(f"the dtype {dtype} has metadata, or no size")
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
    if dtype.char == _TEXTS:
        missing = {"missing": dtype.na_object} if hasattr(dtype, "na_object") else {}
        return {"coerce": dtype.coerce, **missing}
    raise UnwritableError(f"the dtype {dtype} cannot be written")


def _take_field(dtype: Any, name: str) -> list[Any]:
    field, offset, *title = dtype.fields[name]
    return [name, title[0] if title else None, offset, _take_dtype(field)]


def _make_dtype(data: Any, *, sized: bool = True, depth: int = 0) -> Any:
    if depth > _MAX_DTYPE_DEPTH:
        raise ValueError("a dtype nested too deep")
    if type(data) is str:
        made = _simple(data)
    elif type(data) is dict:
        missing = {"na_object": data["missing"]} if "missing" in data else {}
        made = imported("numpy").dtypes.StringDType(coerce=check(data["coerce"], bool), **missing)
    elif len(check(data, list)) == 2:
        base, shape = parts(data, object, list)
        if not all(type(n) is int and 0 < n < _MAX_ITEM_BYTES for n in shape):
            raise ValueError("not the shape of a field")
        made = imported("numpy").dtype((_make_dtype(base, depth=depth + 1), tuple(shape)))
    else:
        made = _structure(data, depth)
    if not int(sized) <= made.itemsize < _MAX_ITEM_BYTES:
        raise ValueError("a dtype without size, or too large")
    return made


def _simple(text: str) -> Any:
    if not _SIMPLE.fullmatch(text):
        raise ValueError("not a dtype")
    try:
        return imported("numpy").dtype(text)
    except TypeError as error:
        raise UnavailableError("this platform has no such number") from error


def _structure(data: Any, depth: int) -> Any:
    fields, size, aligned, is_record = parts(data, list, int, bool, bool)
    if not 0 < size < _MAX_ITEM_BYTES:
        raise ValueError("a dtype without size, or too large")
    described: dict[str, Any] = {"names": [], "titles": [], "offsets": [], "formats": []}
    for each in fields:
        name, title, offset, kind = parts(each, str, object, int, object)
        check(title, str, type(None))
        if not 0 <= offset < size:
            raise ValueError("a field outside of its structure")
        field = name, title, offset, _make_dtype(kind, depth=depth + 1)
        for column, value in zip(described.values(), field, strict=True):
            column.append(value)
    numpy = imported("numpy")
    made = numpy.dtype({**described, "itemsize": size}, align=aligned)
    return numpy.dtype((numpy.record, made)) if is_record else made


class _NumpyForm(Form):
    """What is of numpy itself. Subclasses of others are not: what they add is theirs to know."""

    def matches(self, cls: type) -> bool:
        numpy = imported("numpy")
        return numpy is not None and cls.__module__ in _MODULES and self._is_of(numpy, cls)

    def _is_of(self, numpy: Any, cls: type) -> bool:
        raise NotImplementedError


_MODULES: Final = ("numpy", "numpy.rec", "numpy.char", "numpy.ma", "numpy.ma.core", "numpy.dtypes")


class ArrayForm(_NumpyForm):
    """`ndarray`, and the subclasses of numpy's that show an array in another way."""

    name = "array"

    def _is_of(self, numpy: Any, cls: type) -> bool:
        return issubclass(cls, numpy.ndarray) and cls.__name__ in _VIEWS

    def take(self, obj: Any) -> list[Any]:
        numpy = imported("numpy")
        if type(obj) is numpy.ndarray:
            return take_array(obj)
        if vars(obj).keys() - _NOTED:
            raise UnwritableError("an array with attributes")
        return take_array(obj.view(numpy.ndarray))

    def maker(self, cls: type, extra: list[Any]) -> Maker:
        numpy = imported("numpy")
        if cls is numpy.ndarray:
            return make_array

        def make(data: Any) -> Any:
            made = make_array(data)
            if cls is numpy.matrix and made.ndim != 2:
                raise ValueError("a matrix has two dimensions")
            return made.view(cls)

        return make

    def shown(self, data: Any, extra: list[Any]) -> Any:
        return None  # LangGraph gives that without numpy


_VIEWS: Final = ("ndarray", "matrix", "recarray", "chararray")


class MaskedForm(_NumpyForm):
    """Masked arrays: `[array, mask, what stands for masked items, whether the mask is hard]`."""

    name = "masked"

    def _is_of(self, numpy: Any, cls: type) -> bool:
        return cls is numpy.ma.MaskedArray

    def take(self, obj: Any) -> list[Any]:
        if obj._optinfo.keys() - _NOTED:  # noqa: SLF001  (where numpy keeps them)
            raise UnwritableError("a masked array with attributes")
        mask = None if obj.mask is imported("numpy").ma.nomask else obj.mask
        filled = obj._fill_value  # noqa: SLF001  (None where none is set)
        return [obj.data, mask, filled, bool(obj.hardmask)]

    def maker(self, cls: Any, extra: list[Any]) -> Maker:
        numpy = imported("numpy")

        def make(data: Any) -> Any:
            values, mask, filled, hard = parts(data, object, object, object, bool)
            part(values, numpy.ndarray, numpy.matrix)
            if mask is None:
                mask = numpy.ma.nomask
            elif part(mask, numpy.ndarray).shape != values.shape:
                raise ValueError("a mask of another shape")
            elif mask.dtype != numpy.ma.make_mask_descr(values.dtype):
                raise ValueError("a mask for another dtype")
            made = cls(values, mask=mask, hard_mask=hard)
            if filled is not None:
                if part(filled, numpy.ndarray).ndim or filled.dtype != values.dtype:
                    raise ValueError("expected what stands for masked items")
                made._fill_value = filled  # noqa: SLF001  (what is set in public is converted)
            return made

        return make

    def shown(self, data: Any, extra: list[Any]) -> Any:
        return data[0] if type(data) is list and data else None  # as LangGraph: the array


class ScalarForm(_NumpyForm):
    """Numbers, dates, records: an array without dimensions. Text and bytes are themselves."""

    name = "scalar"

    def _is_of(self, numpy: Any, cls: type) -> bool:
        return issubclass(cls, numpy.generic) and cls is not numpy.object_

    def take(self, obj: Any) -> Any:
        numpy = imported("numpy")
        if type(obj) is numpy.str_:
            return str.__getitem__(obj, slice(None))
        if type(obj) is numpy.bytes_:
            return bytes.__getitem__(obj, slice(None))
        return take_array(numpy.asarray(obj, dtype=obj.dtype))

    def maker(self, cls: Any, extra: list[Any]) -> Maker:
        numpy = imported("numpy")
        if cls in (numpy.str_, numpy.bytes_):
            return lambda data: cls(check(data, str if cls is numpy.str_ else bytes))

        def make(data: Any) -> Any:
            made = make_array(data)
            return check(made[()] if made.ndim == 0 else made, cls)

        return make

    def shown(self, data: Any, extra: list[Any]) -> Any:
        return None if type(data) is list else data


class DtypeForm(_NumpyForm):
    """Dtypes that are themselves the value."""

    name = "dtype"

    def _is_of(self, numpy: Any, cls: type) -> bool:
        return issubclass(cls, numpy.dtype)

    def take(self, obj: Any) -> list[Any]:
        return [_take_dtype(obj, sized=False)]

    def maker(self, cls: type, extra: list[Any]) -> Maker:
        return lambda data: check(_make_dtype(*parts(data, object), sized=False), cls)

    def shown(self, data: Any, extra: list[Any]) -> Any:
        return None


FORMS: Final[tuple[Form, ...]] = (ArrayForm(), MaskedForm(), ScalarForm(), DtypeForm())
