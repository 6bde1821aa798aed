"""numpy: arrays, scalars, data types, masked arrays, matrices and arrays of records.

numpy is imported where the bytes name one of its classes, and never to write: a value of numpy
can only come from a program that has it. Other subclasses of `ndarray` are refused: their meaning
is not in their bytes.

Arrays come back writable and contiguous, in Fortran's order if they were so. Two arrays that
looked at the same memory come back as two.
"""

from __future__ import annotations

import importlib
from typing import Any, Final

from langgraph_once.serde.codecs.once1.types.base.protocol import UnwritableError, parts, plain
from langgraph_once.serde.codecs.once1.types.data.numpy_contents import (
    make_array,
    make_scalar,
    take_array,
    take_scalar,
)
from langgraph_once.serde.codecs.once1.types.data.numpy_dtypes import make_dtype, take_dtype
from langgraph_once.serde.trust.lookup import imported

__all__ = ["DTYPES", "NumpyFamily"]

_VIEWS: Final = ("matrix", "recarray", "chararray")
"""Subclasses that show an array in another way."""
_NOTED: Final = frozenset({"_getitem"})
"""Where a matrix notes that it is being read."""
_MASKED, _MASK = "MaskedArray", "MaskedConstant"
_MODULES: Final = ("numpy", "numpy.rec", "numpy.char", "numpy.ma", "numpy.ma.core")

DTYPES: Final = tuple(
    f"{kind}DType"
    for kind in (
        *("Bool", "Byte", "Bytes", "CLongDouble", "Complex128", "Complex64", "DateTime64"),
        *("Float16", "Float32", "Float64", "Int16", "Int32", "Int64", "Int8", "Int", "Long"),
        *("LongDouble", "LongLong", "Object", "Short", "Str", "String", "TimeDelta64", "UByte"),
        *("UInt16", "UInt32", "UInt64", "UInt8", "UInt", "ULong", "ULongLong", "UShort", "Void"),
    )
)
"""The classes of data types, in `numpy.dtypes`."""


class NumpyFamily:
    """What the classes of numpy that hold data hold."""

    name = "numpy"

    def matches(self, cls: type) -> bool:
        numpy = imported("numpy")
        if numpy is None:
            return False
        if cls.__module__ == "numpy.dtypes":
            return issubclass(cls, numpy.dtype) and cls.__name__ in DTYPES
        if cls.__module__ == "numpy" and issubclass(cls, numpy.generic):
            return cls.__name__ != "object_"
        listed = ("ndarray", *_VIEWS, _MASKED, _MASK)
        return (
            cls.__module__ in _MODULES
            and cls.__name__ in listed
            and getattr(imported(cls.__module__), cls.__name__, None) is cls
        )

    def encode(self, obj: Any) -> Any:
        numpy = _numpy()
        if isinstance(obj, numpy.dtype):
            return take_dtype(obj, sized=False)
        if type(obj) is numpy.str_:
            return str.__getitem__(obj, slice(None))
        if type(obj) is numpy.bytes_:
            return bytes.__getitem__(obj, slice(None))
        if type(obj).__name__ == _MASK:
            return None
        if isinstance(obj, numpy.generic):
            return take_scalar(obj)
        if type(obj) is numpy.ndarray:
            return take_array(obj)
        return _take_masked(obj) if type(obj).__name__ == _MASKED else _take_view(obj)

    def decode(self, cls: Any, data: Any) -> Any:
        numpy = _numpy()
        if issubclass(cls, numpy.dtype):
            made = make_dtype(data, sized=False)
        elif issubclass(cls, numpy.generic):
            made = _load_scalar(cls, data)
        elif cls.__name__ == _MASK:
            plain(data, type(None))
            made = numpy.ma.masked
        elif cls.__name__ == _MASKED:
            made = _load_masked(data)
        else:
            made = make_array(data)
            if cls is numpy.matrix and made.ndim != 2:
                raise ValueError("a matrix has two dimensions")
            made = made if cls is numpy.ndarray else made.view(cls)
        if type(made) is not cls:
            raise ValueError(f"not a {cls.__qualname__}")
        return made


def _load_scalar(cls: Any, data: Any) -> Any:
    numpy = _numpy()
    if cls is numpy.str_:
        return cls(plain(data, str))
    if cls is numpy.bytes_:
        return cls(plain(data, bytes))
    return make_scalar(data)


def _take_view(obj: Any) -> Any:
    if vars(obj).keys() - _NOTED:
        raise UnwritableError("an array with attributes")
    return take_array(obj.view(_numpy().ndarray))


def _take_masked(obj: Any) -> Any:
    if obj._optinfo.keys() - _NOTED:  # noqa: SLF001  (where numpy keeps them)
        raise UnwritableError("a masked array with attributes")
    mask = None if obj.mask is _numpy().ma.nomask else obj.mask.view()
    return obj.data, mask, obj._fill_value, bool(obj.hardmask)  # noqa: SLF001  (None where not set)


def _load_masked(data: Any) -> Any:
    numpy = _numpy()
    shown, mask, filled, hard = parts(data, object, object, object, bool)
    if type(shown) not in (numpy.ndarray, numpy.matrix):
        raise ValueError("expected an array")
    if mask is None:
        mask = numpy.ma.nomask
    elif plain(mask, numpy.ndarray).shape != shown.shape:
        raise ValueError("a mask of another shape")
    elif mask.dtype != numpy.ma.make_mask_descr(shown.dtype):
        raise ValueError("a mask for another data type")
    made = numpy.ma.MaskedArray(shown, mask=mask, hard_mask=hard)
    if filled is not None:
        if plain(filled, numpy.ndarray).ndim or filled.dtype != shown.dtype:
            raise ValueError("expected what stands for masked items")
        made._fill_value = filled  # noqa: SLF001  (what is set in public is converted)
    return made


def _numpy() -> Any:
    return importlib.import_module("numpy")
