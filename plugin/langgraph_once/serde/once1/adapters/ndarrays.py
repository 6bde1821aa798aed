"""numpy arrays and scalars: data type, shape, order and bytes.

numpy is imported where the bytes name one of its classes, and never to write: a value of numpy
can only come from a program that has it. Subclasses of `ndarray` are refused: their meaning is
not in their bytes. So are arrays of Python objects, whose bytes are addresses, unless a setting
asks for their elements, which then stand in a list, each a value of its own.

Arrays come back writable and contiguous, in Fortran's order if they were so. Two arrays that
looked at the same memory come back as two.
"""

from __future__ import annotations

import importlib
import math
import sys
from typing import Any, Final

from langgraph_once.serde.once1.adapters.dtypes import make_dtype, take_dtype
from langgraph_once.serde.once1.adapters.shapes import parts, plain

__all__ = ["NumpyFamily"]

_OBJECTS: Final = "|O"
"""Stands for the data type of arrays of Python objects."""

_MAX_DIMENSIONS: Final = 64
_MIN_VIEW_BYTES: Final = 1 << 16
"""Smaller arrays are copied, which is faster than a view of them."""


class NumpyFamily:
    """`numpy.ndarray`, and scalars such as `numpy.float64`."""

    name = "numpy"

    def __init__(self, *, object_arrays: bool = False) -> None:
        """Say whether arrays of Python objects are written; they are read in any case."""
        self._object_arrays = object_arrays

    def matches(self, cls: type) -> bool:
        numpy = sys.modules.get("numpy")
        if numpy is None or cls.__module__ != "numpy":
            return False
        return cls is numpy.ndarray or (issubclass(cls, numpy.generic) and not _is_object(cls))

    def encode(self, obj: Any) -> Any:
        numpy: Any = importlib.import_module("numpy")
        cls = type(obj)
        if cls is numpy.str_:
            return str.__getitem__(obj, slice(None))
        if cls is numpy.bytes_:
            return bytes.__getitem__(obj, slice(None))
        if cls is not numpy.ndarray:
            return take_dtype(obj.dtype), obj.tobytes()
        order = "F" if obj.flags.f_contiguous and not obj.flags.c_contiguous else "C"
        if self._object_arrays and obj.dtype == object and obj.dtype.metadata is None:
            return _OBJECTS, obj.shape, order, obj.ravel(order).tolist()
        return take_dtype(obj.dtype), obj.shape, order, _content(obj, order)

    def decode(self, cls: Any, data: Any) -> Any:
        numpy: Any = importlib.import_module("numpy")
        if cls is numpy.str_:
            return cls(plain(data, str))
        if cls is numpy.bytes_:
            return cls(plain(data, bytes))
        if cls is numpy.ndarray:
            dtype, shape, order, content = parts(data, object, tuple, str, object)
            if type(content) is list:
                return _object_array(dtype, shape, order, content)
            return _array(make_dtype(dtype), shape, order, content)
        dtype, content = parts(data, object, bytes)
        made = _array(make_dtype(dtype), (1,), "C", content)[0]
        if type(made) is not cls:
            raise ValueError(f"not a {cls.__qualname__}")
        return made


def _is_object(cls: type) -> bool:
    return cls.__name__ == "object_"


def _content(array: Any, order: Any) -> Any:
    """Return the bytes of an array; where it is large and contiguous, a view of them."""
    if array.nbytes < _MIN_VIEW_BYTES or not (array.flags.c_contiguous or order == "F"):
        return array.tobytes(order)
    flat = array.reshape(-1, order=order)
    return flat.view("u1").data


def _array(dtype: Any, shape: tuple[Any, ...], order: str, content: Any) -> Any:
    numpy: Any = importlib.import_module("numpy")
    _check_shape(shape, order)
    if len(plain(content, bytes, memoryview)) != math.prod(shape) * dtype.itemsize:
        raise ValueError("an array with too much or too little content")
    if not content:
        return numpy.empty(shape, dtype, order)
    flat = numpy.frombuffer(content, dtype)
    return flat.reshape(shape, order=order).copy(order)


def _object_array(dtype: Any, shape: tuple[Any, ...], order: str, elements: list[Any]) -> Any:
    numpy: Any = importlib.import_module("numpy")
    _check_shape(shape, order)
    if plain(dtype, str) != _OBJECTS:
        raise ValueError("not a data type")
    flat = numpy.fromiter(elements, object, len(elements))  # `array` would take sequences apart
    return flat.reshape(shape, order=order).copy(order)


def _check_shape(shape: tuple[Any, ...], order: str) -> None:
    if len(shape) > _MAX_DIMENSIONS or not all(type(n) is int and n >= 0 for n in shape):
        raise ValueError("not the shape of an array")
    if order not in ("C", "F"):
        raise ValueError("not an order of an array")
