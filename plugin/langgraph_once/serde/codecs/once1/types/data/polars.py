"""polars: `DataFrame` and `Series`, as streams of Arrow's IPC.

polars is imported where the bytes name one of its classes, and never to write. Columns of Python
objects are refused, and times that polars itself cannot show: it panics, which is no `Exception`.
"""

from __future__ import annotations

import importlib
import io
from typing import Any, Final

from langgraph_once.serde.codecs.once1.types.base.protocol import UnwritableError, plain
from langgraph_once.serde.codecs.once1.types.data.arrow import check_stream
from langgraph_once.serde.trust.lookup import imported

__all__ = ["PolarsFamily"]

_MOST_DAYS: Final = 95_000_000
"""From 1970, in either direction: 260,000 years. A little more, and polars panics."""

_MOST_OF_A_TIME: Final = {
    ("Date", None): _MOST_DAYS,
    ("Datetime", "ms"): _MOST_DAYS * 86_400_000,
    ("Datetime", "us"): _MOST_DAYS * 86_400_000_000,
}
"""By type and unit; nanoseconds do not reach that far."""

_PLACES: Final = {"DataFrame": "polars.dataframe.frame", "Series": "polars.series.series"}


class PolarsFamily:
    """`polars.DataFrame` and `polars.Series`; no subclasses."""

    name = "polars"

    def matches(self, cls: type) -> bool:
        place = _PLACES.get(cls.__name__)
        return place == cls.__module__ and getattr(imported(place), cls.__name__, None) is cls

    def encode(self, obj: Any) -> Any:
        polars = _polars()
        frame = obj.to_frame() if isinstance(obj, polars.Series) else obj
        for dtype in frame.dtypes:
            _check_dtype(dtype, polars)
        try:
            _check_times(frame, polars)
        except ValueError as error:
            raise UnwritableError(f"it holds {error}") from error
        stream = io.BytesIO()
        # Of the newest kind, text would be views.
        frame.write_ipc_stream(stream, compat_level=polars.CompatLevel.oldest())
        content = memoryview(stream.getvalue())
        try:
            check_stream(content)
        except ValueError as error:
            raise UnwritableError(f"it is, or holds, {error}") from error
        return content

    def decode(self, cls: Any, data: Any) -> Any:
        content = plain(data, bytes, memoryview)
        check_stream(content)
        polars = _polars()
        try:
            frame = polars.read_ipc_stream(io.BytesIO(content))
        except polars.exceptions.PanicException as error:  # not an `Exception`
            raise ValueError("not a frame") from error
        except Exception as error:
            raise ValueError("not a frame") from error
        _check_times(frame, polars)
        if cls is polars.DataFrame:
            return frame
        (series,) = frame
        return series


def _check_dtype(dtype: Any, polars: Any) -> None:
    if isinstance(dtype, polars.Object):
        raise UnwritableError("a column of Python objects")
    if isinstance(dtype, polars.Decimal) and dtype.precision is None:
        raise UnwritableError("a column of decimals without a precision")  # of old polars
    for part in (getattr(dtype, "inner", None), *getattr(dtype, "fields", ())):
        if part is not None:
            _check_dtype(getattr(part, "dtype", part), polars)


def _check_times(frame: Any, polars: Any) -> None:
    """Check that every date and time in `frame` can be shown.

    Raises:
        ValueError: One cannot.
    """
    columns = [*frame]
    for column in columns:
        dtype = column.dtype
        if isinstance(dtype, polars.Struct):
            columns.extend(column.struct.unnest())  # `+=` asks the frame to add
        elif dtype.is_nested():
            columns.append(column.explode())
        most = _MOST_OF_A_TIME.get((str(dtype.base_type()), getattr(dtype, "time_unit", None)))
        if most is not None and not column.to_physical().is_between(-most, most).all():
            raise ValueError("a time that polars cannot show")


def _polars() -> Any:
    return importlib.import_module("polars")
