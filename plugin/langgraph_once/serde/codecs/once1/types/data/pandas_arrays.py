"""pandas' scalars and arrays: what frames are made of.

Timestamp, Timedelta       count since the epoch, unit, time zone
Period, Interval           ordinal and frequency; both ends and which are closed
NaT, NA                    nothing: the class says it all
arrays                     the arrays of numpy or pyarrow inside, and what gives them their
                           meaning
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from datetime import tzinfo
from typing import Any, Final

from langgraph_once.serde.codecs.once1.types.base.protocol import UnwritableError, parts, plain

__all__ = [
    "CODECS",
    "check_labels",
    "load_frequency",
    "load_values",
    "take_frequency",
    "take_values",
]

_UNITS: Final = ("s", "ms", "us", "ns")
_MASKED: Final = ("IntegerArray", "FloatingArray", "BooleanArray")
_MAX_SPARSE: Final = 10_000_000
"""A sparse array takes few bytes, however long; where it is made dense, it is bounded."""
_MAX_LABELS: Final = 1_000_000
"""A `RangeIndex` of any length takes three numbers; where pandas spells it out, it is bounded."""


def take_values(values: Any) -> Any:
    """Return what stands for the content of a Series, column or Index."""
    pandas, numpy = _pandas(), _numpy()
    if type(values) is pandas.arrays.NumpyExtensionArray:
        values = values.to_numpy()
    if type(values) is not numpy.ndarray:
        return values
    return values.tolist() if values.dtype == object else _view(values)


def _view(values: Any) -> Any:
    # A reader may copy an array: two owners of one get one each, so that this stays bounded.
    return values[:]


def load_values(data: Any) -> Any:
    """Return the array that `take_values` returned `data` for; one dimension, of any kind."""
    pandas, numpy = _pandas(), _numpy()
    if type(data) is list:
        values = numpy.empty(len(data), dtype=object)
        for place, value in enumerate(data):
            values[place] = value
        return values
    if type(data) is numpy.ndarray:
        if data.ndim != 1:
            raise ValueError("expected one dimension")
        return data
    if not issubclass(type(data), pandas.api.extensions.ExtensionArray):
        raise ValueError("expected an array")
    return data


def check_labels(labels: Any) -> Any:
    """Return `labels`, an Index that pandas may spell out in memory."""
    pandas = _pandas()
    if not issubclass(type(labels), pandas.Index):
        raise ValueError("expected an Index")
    if isinstance(labels, pandas.RangeIndex) and len(labels) > _MAX_LABELS:
        raise ValueError("a range of too many labels")
    return labels


def _take_timestamp(obj: Any) -> Any:
    return _numpy_scalar(obj), obj.tz


def _load_timestamp(_: Any, data: Any) -> Any:
    count, zone = parts(data, _numpy().datetime64, object)
    made = _pandas().Timestamp(count)
    return made if zone is None else made.tz_localize("UTC").tz_convert(_zone(zone))


def _numpy_scalar(obj: Any) -> Any:
    return obj.tz_convert(None).asm8 if getattr(obj, "tz", None) is not None else obj.asm8


def _load_timedelta(_: Any, data: Any) -> Any:
    return _pandas().Timedelta(plain(data, _numpy().timedelta64))


def _zone(value: Any) -> tzinfo:
    if not issubclass(type(value), tzinfo):
        raise ValueError("not a time zone")
    zone: tzinfo = value
    return zone


def _take_period(obj: Any) -> Any:
    return obj.ordinal, take_frequency(obj.freq)


def _load_period(cls: Any, data: Any) -> Any:
    ordinal, freq = parts(data, int, str)
    return cls(ordinal=ordinal, freq=load_frequency(freq))


def take_frequency(freq: Any) -> str | None:
    """Return the name of a frequency; None for none."""
    if freq is None:
        return None
    text = str(freq.freqstr)
    if load_frequency(text) != freq:
        raise UnwritableError(f"the frequency {text} cannot be written")
    return text


def load_frequency(text: Any) -> Any:
    """Return the frequency of that name."""
    if text is None:
        return None
    if len(plain(text, str)) > 40:
        raise ValueError("not a frequency")
    offsets: Any = importlib.import_module("pandas.tseries.frequencies")
    return offsets.to_offset(text)


def _load_interval(cls: Any, data: Any) -> Any:
    left, right, closed = parts(data, object, object, str)
    return cls(left, right, closed)


def _take_categorical(obj: Any) -> Any:
    return obj.codes, obj.categories, bool(obj.ordered)


def _load_categorical(cls: Any, data: Any) -> Any:
    codes, categories, ordered = parts(data, _numpy().ndarray, object, bool)
    return cls.from_codes(codes, categories=check_labels(categories), ordered=ordered)


def _take_masked(obj: Any) -> Any:
    # Where pandas keeps them: what is under the mask belongs to what comes back.
    return _view(obj._data), _view(obj._mask)  # noqa: SLF001  # see above


def _load_masked(cls: Any, data: Any) -> Any:
    return cls(*parts(data, _numpy().ndarray, _numpy().ndarray))


def _take_strings(obj: Any) -> Any:
    missing = obj.dtype.na_value is _pandas().NA
    return missing, [None if gap else str(text) for text, gap in zip(obj, obj.isna(), strict=True)]


def _load_strings(_: Any, data: Any) -> Any:
    missing, texts = parts(data, bool, list)
    if not all(text is None or type(text) is str for text in texts):
        raise ValueError("expected text")
    pandas = _pandas()
    gap = pandas.NA if missing else _numpy().nan
    return pandas.array(texts, dtype=pandas.StringDtype("python", na_value=gap))


def _take_arrow_strings(obj: Any) -> Any:
    return obj.dtype.na_value is _pandas().NA, obj.__arrow_array__()


def _load_arrow_strings(cls: Any, data: Any) -> Any:
    missing, texts = parts(data, bool, object)
    arrow: Any = importlib.import_module("pyarrow")
    if type(texts) is not arrow.ChunkedArray or texts.type not in (
        arrow.string(),
        arrow.large_string(),
    ):
        raise ValueError("expected text")
    pandas = _pandas()
    gap = pandas.NA if missing else _numpy().nan
    return cls(texts, dtype=pandas.StringDtype("pyarrow", na_value=gap))


def _load_arrow(cls: Any, data: Any) -> Any:
    arrow: Any = importlib.import_module("pyarrow")
    return cls(plain(data, arrow.ChunkedArray))


def _take_sparse(obj: Any) -> Any:
    if len(obj) > _MAX_SPARSE:
        raise UnwritableError(f"a sparse array of more than {_MAX_SPARSE} items")
    places = obj.sp_index
    found: tuple[Any, ...]
    if obj.kind == "block":
        found = _view(places.blocs), _view(places.blengths)
    else:
        found = (_view(places.indices),)
    return take_values(obj.sp_values), obj.kind, len(obj), found, obj.fill_value


def _load_sparse(cls: Any, data: Any) -> Any:
    values, kind, length, found, filled = parts(data, object, str, int, tuple, object)
    if not 0 <= length <= _MAX_SPARSE:
        raise ValueError("a sparse array that is too long")
    for part in found:
        if plain(part, _numpy().ndarray).dtype != "int32" or part.ndim != 1:
            raise ValueError("expected places")
    sparse: Any = importlib.import_module("pandas._libs.sparse")
    index = {"block": sparse.BlockIndex, "integer": sparse.IntIndex}[kind](length, *found)
    values = load_values(values)
    if type(values) is not _numpy().ndarray or len(values) != index.npoints:
        raise ValueError("more or fewer values than places")
    dtype = _pandas().SparseDtype(values.dtype, filled)
    # The public ways are deprecated, or new in pandas 3.1.
    return cls._simple_new(values, index, dtype)


def _take_dates(obj: Any) -> Any:
    zone = getattr(obj, "tz", None)
    counts = obj.to_numpy("M8" if zone is None else f"M8[{obj.unit}]")
    return _view(counts), zone, _frequency(obj)


def _load_dates(_: Any, data: Any) -> Any:
    counts, zone, freq = parts(data, _numpy().ndarray, object, object)
    made = _pandas().DatetimeIndex(_of_kind(counts, "M"))
    if zone is not None:
        made = made.tz_localize("UTC").tz_convert(_zone(zone))
    if freq is not None:
        made.freq = load_frequency(freq)
    return made.array


def _take_durations(obj: Any) -> Any:
    return _view(obj.to_numpy()), _frequency(obj)


def _load_durations(_: Any, data: Any) -> Any:
    counts, freq = parts(data, _numpy().ndarray, object)
    made = _pandas().TimedeltaIndex(_of_kind(counts, "m"))
    if freq is not None:
        made.freq = load_frequency(freq)
    return made.array


def _frequency(obj: Any) -> str | None:
    # Arrays had a frequency in pandas 2; in pandas 3 only an Index has one.
    return take_frequency(getattr(obj, "freq", None))


def _of_kind(values: Any, kind: str) -> Any:
    if values.ndim != 1 or values.dtype.kind != kind:
        raise ValueError("expected dates or durations")
    return values


def _take_periods(obj: Any) -> Any:
    return obj.asi8, take_frequency(obj.freq)


def _load_periods(_: Any, data: Any) -> Any:
    ordinals, freq = parts(data, _numpy().ndarray, str)
    if ordinals.dtype != "int64" or ordinals.ndim != 1:
        raise ValueError("expected ordinals")
    return _pandas().PeriodIndex.from_ordinals(ordinals, freq=load_frequency(freq)).array


def _take_intervals(obj: Any) -> Any:
    return take_values(obj.left.array), take_values(obj.right.array), obj.closed


def _load_intervals(cls: Any, data: Any) -> Any:
    left, right, closed = parts(data, object, object, str)
    return cls.from_arrays(load_values(left), load_values(right), closed=closed)


def _load_nothing(cls: Any, data: Any) -> Any:
    plain(data, type(None))
    pandas = _pandas()
    return pandas.NaT if cls is type(pandas.NaT) else pandas.NA


def _pandas() -> Any:
    return importlib.import_module("pandas")


def _numpy() -> Any:
    return importlib.import_module("numpy")


CODECS: Final[dict[str, tuple[Callable[[Any], Any], Callable[[Any, Any], Any]]]] = {
    "Timestamp": (_take_timestamp, _load_timestamp),
    "Timedelta": (_numpy_scalar, _load_timedelta),
    "Period": (_take_period, _load_period),
    "Interval": (lambda obj: (obj.left, obj.right, obj.closed), _load_interval),
    "NaTType": (lambda _: None, _load_nothing),
    "NAType": (lambda _: None, _load_nothing),
    "Categorical": (_take_categorical, _load_categorical),
    "StringArray": (_take_strings, _load_strings),
    "ArrowStringArray": (_take_arrow_strings, _load_arrow_strings),
    "ArrowExtensionArray": (lambda obj: obj.__arrow_array__(), _load_arrow),
    "SparseArray": (_take_sparse, _load_sparse),
    "DatetimeArray": (_take_dates, _load_dates),
    "TimedeltaArray": (_take_durations, _load_durations),
    "PeriodArray": (_take_periods, _load_periods),
    "IntervalArray": (_take_intervals, _load_intervals),
    **dict.fromkeys(_MASKED, (_take_masked, _load_masked)),
}
"""By the name of the class: what takes an object apart, and what makes one of class and data."""
