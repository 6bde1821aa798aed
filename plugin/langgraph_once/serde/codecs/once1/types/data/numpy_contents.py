"""What is in a numpy array: data type, shape, order, and

    bytes, or a view of them      numbers, text and the like
    a list                        Python objects, or texts of any length, one after the other
    a tuple of arrays, by field   a structure with Python objects in it

Bytes that mean nothing, between the fields of a structure and in long doubles, are zero: in
memory, anything may stand there.
"""

from __future__ import annotations

import importlib
import math
from typing import Any, Final

from langgraph_once.serde.codecs.once1.types.base.protocol import UnwritableError, parts, plain
from langgraph_once.serde.codecs.once1.types.data.numpy_dtypes import TEXTS, make_dtype, take_dtype

__all__ = ["make_array", "make_scalar", "take_array", "take_scalar"]

_MAX_DIMENSIONS: Final = 64
_MIN_VIEW_BYTES: Final = 1 << 16
"""Smaller arrays are copied, which is faster than a view of them."""
_ITEMS: Final = "OT"
_LONG_DOUBLES: Final = "gG"
_BYTES_OF_80_BITS: Final = 10
_MAX_GAPS: Final = 16
"""So many times larger than its fields a structure with objects may be."""


def take_array(array: Any) -> tuple[Any, ...]:
    """Return what stands for an array of exactly `numpy.ndarray`."""
    order = "F" if array.flags.f_contiguous and not array.flags.c_contiguous else "C"
    return take_dtype(array.dtype), array.shape, order, _content(array, order)


def make_array(data: Any) -> Any:
    """Return the array that `take_array` returned `data` for."""
    form, shape, order, content = parts(data, object, tuple, str, object)
    if len(shape) > _MAX_DIMENSIONS or not all(type(n) is int and n >= 0 for n in shape):
        raise ValueError("not the shape of an array")
    if order not in ("C", "F"):
        raise ValueError("not an order of an array")
    dtype = make_dtype(form)
    if type(content) is list:
        return _of_items(dtype, shape, order, content)
    if type(content) is tuple:
        return _of_fields(dtype, shape, order, content)
    return _of_bytes(dtype, shape, order, content)


def take_scalar(scalar: Any) -> tuple[Any, Any]:
    """Return what stands for a scalar of numpy."""
    if scalar.dtype.hasobject:
        return take_dtype(scalar.dtype), _content(_numpy().array(scalar), "C")
    return take_dtype(scalar.dtype), _clean(scalar.dtype, scalar.tobytes())


def make_scalar(data: Any) -> Any:
    """Return the scalar that `take_scalar` returned `data` for."""
    form, content = parts(data, object, object)
    if type(content) is tuple:
        return make_array((form, (), "C", content))[()]
    return make_array((form, (1,), "C", plain(content, bytes)))[0]


def _content(array: Any, order: Any) -> Any:
    dtype = array.dtype
    if dtype.hasobject and dtype.names is not None:
        _check_gaps(dtype)
        return tuple(array[name].copy() for name in dtype.names)
    if dtype.hasobject:
        return array.ravel(order).tolist()
    small = array.nbytes < _MIN_VIEW_BYTES or not (array.flags.c_contiguous or order == "F")
    if small or _has_gaps(dtype):
        return _clean(dtype, array.tobytes(order))
    return array.reshape(-1, order=order).view("u1").data


def _of_bytes(dtype: Any, shape: tuple[int, ...], order: str, content: Any) -> Any:
    numpy = _numpy()
    if dtype.hasobject or not dtype.itemsize:
        raise ValueError("bytes of what is not in bytes")
    if len(plain(content, bytes, memoryview)) != math.prod(shape) * dtype.itemsize:
        raise ValueError("an array with too much or too little content")
    if not content:
        return numpy.empty(shape, dtype, order)
    flat = numpy.frombuffer(content, dtype)
    return flat.reshape(shape, order=order).copy(order)


def _of_items(dtype: Any, shape: tuple[int, ...], order: str, items: list[Any]) -> Any:
    numpy = _numpy()
    if dtype.char not in _ITEMS or math.prod(shape) != len(items):
        raise ValueError("items of what is no array of objects")
    if dtype.char == TEXTS and not all(type(item) is str for item in items):
        raise ValueError("expected text")
    flat = numpy.fromiter(items, object, len(items))  # `array` would take sequences apart
    return flat.astype(dtype, copy=False).reshape(shape, order=order).copy(order)


def _of_fields(dtype: Any, shape: tuple[int, ...], order: str, columns: tuple[Any, ...]) -> Any:
    numpy = _numpy()
    if not dtype.hasobject or len(columns) != len(dtype.names or ()):
        raise ValueError("more or fewer columns than fields")
    _check_gaps(dtype)
    for name, column in zip(dtype.names, columns, strict=True):
        field = dtype[name]
        plain(column, numpy.ndarray)
        if column.dtype != field.base or column.shape != shape + field.shape:
            raise ValueError("a column that is not of its field")
    made = numpy.zeros(shape, dtype, order)
    for name, column in zip(dtype.names, columns, strict=True):
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
    cells = _numpy().frombuffer(content, "u1").reshape(-1, dtype.itemsize)
    kept: bytes = (cells & _used(dtype)).tobytes()
    return kept


def _used(dtype: Any) -> Any:
    """Return the bytes of an item: those that mean something are 255, the others 0."""
    numpy = _numpy()
    if dtype.subdtype is not None:
        base, shape = dtype.subdtype
        return numpy.tile(_used(base), math.prod(shape))
    used = numpy.zeros(dtype.itemsize, "u1")
    if dtype.names is not None:
        for name in dtype.names:
            field, offset = dtype.fields[name][:2]
            used[offset : offset + field.itemsize] |= _used(field)
    elif dtype.char in _LONG_DOUBLES and numpy.finfo(dtype).nmant == 63:
        parts_of_it = 2 if dtype.char == "G" else 1
        used.reshape(parts_of_it, -1)[:, :_BYTES_OF_80_BITS] = 255
    else:
        used[:] = 255
    return used


def _numpy() -> Any:
    # Only ever reached with an array of numpy, or with bytes that name one.
    return importlib.import_module("numpy")
