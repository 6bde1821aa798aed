"""polars: `DataFrame` and `Series`, as streams of Arrow's IPC.

polars is imported where the bytes name one of its classes, and never to write. Columns of Python
objects are refused.
"""

from __future__ import annotations

import importlib
import io
from typing import Any, Final

from langgraph_once.serde.codecs.once1.types.base.checks import plain
from langgraph_once.serde.codecs.once1.types.base.protocol import UnwritableError
from langgraph_once.serde.codecs.once1.types.data.arrow_streams import check_stream
from langgraph_once.serde.trust.lookup import imported

__all__ = ["PolarsFamily"]

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


def _polars() -> Any:
    return importlib.import_module("polars")
