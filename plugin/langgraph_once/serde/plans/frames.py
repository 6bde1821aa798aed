"""pandas and polars: frames, series, indexes, and what they are made of.

Both are asked only where they are imported. Rows, columns, names, dtypes, frequencies, `attrs` and
flags come back; how columns share blocks of memory does not. Subclasses are no concern of this
module: what they add is theirs to know.

The data of an object of pandas are a list. Its first part is what LangGraph leaves of the object
where it leaves something: the text of a `Timestamp`, the numbers of a `Timedelta`. A column is the
parts of an array of numpy, or an array of pandas' own. Those that Arrow holds are `ChunkedArray`s.
A frame of polars is a stream of Arrow's IPC.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable
from datetime import tzinfo
from typing import Any, Final, NamedTuple

from langgraph_once.serde.limits import check_hashes, check_small
from langgraph_once.serde.lookup import imported
from langgraph_once.serde.opaque import UnavailableError, UnwritableError
from langgraph_once.serde.plans.arrays import make_array, part, take_array
from langgraph_once.serde.plans.arrow import check_stream, written_stream
from langgraph_once.serde.plans.base import Form, Maker, check, parts

_UNITS: Final = ("s", "ms", "us", "ns")
_MAX_SPARSE: Final = 10_000_000
"""A sparse array takes few bytes, however long; where it is made dense, it is bounded."""
_MAX_RANGE: Final = 1000
"""A `RangeIndex` takes three numbers, however long. Where pandas spells it out, longer ones are
written number by number."""
_MAX_FREQUENCY: Final = 40
"""The most characters of the name of a frequency."""


class _Kind(NamedTuple):
    """How instances of a class of pandas are taken apart and made."""

    take: Callable[[Any], list[Any]]
    make: Callable[[Any, list[Any]], Any]
    """Takes the class, and what `take` returned or anybody wrote."""


def _column(values: Any) -> Any:
    """Return what stands for the content of a Series, a column or an Index."""
    numpy = imported("numpy")
    if type(values).__name__ in ("NumpyExtensionArray", "PandasArray"):
        values = values.to_numpy()
    return take_array(values) if type(values) is numpy.ndarray else values


def _made_of(value: Any, base: Any, name: str) -> Any:
    if not issubclass(type(value), base):
        raise UnavailableError(f"it is made of {name} that is not available")
    return value


def _made_column(data: Any) -> Any:
    if type(data) is list:
        return _line(data)
    return _made_of(data, imported("pandas").api.extensions.ExtensionArray, "an array")


def _line(data: Any, *kinds: str) -> Any:
    """Return the array of one dimension, of a dtype of one of `kinds`."""
    made = make_array(data)
    if made.ndim != 1 or (kinds and made.dtype.kind not in kinds):
        raise ValueError("expected an array of one dimension, of another dtype")
    return made


def _index(index: Any) -> Any:
    return _made_of(index, imported("pandas").Index, "an Index")


def _take_labels(index: Any) -> Any:
    pandas = imported("pandas")
    is_long = type(index) is pandas.RangeIndex and len(index) > _MAX_RANGE
    return pandas.Index(index.to_numpy(), name=index.name) if is_long else index


def _labels(index: Any) -> Any:
    """Return an Index that pandas may spell out in memory."""
    if type(_index(index)) is imported("pandas").RangeIndex and len(index) > _MAX_RANGE:
        raise ValueError("a range of too many labels")
    return index


def _in_zone(moments: Any, zone: Any) -> Any:
    if zone is None:
        return moments
    return moments.tz_localize("UTC").tz_convert(_made_of(zone, tzinfo, "a time zone"))


def _counts(unit: Any, kind: str) -> str:
    if unit not in _UNITS:
        raise ValueError("not a unit of time")
    return f"{kind}8[{unit}]"


def _take_frequency(freq: Any) -> str | None:
    if freq is None:
        return None
    text = str(freq.freqstr)
    if len(text) > _MAX_FREQUENCY or _frequency(text) != freq:
        raise UnwritableError(f"the frequency {text} cannot be written")
    return text


def _frequency(text: Any) -> Any:
    if text is None:
        return None
    if len(check(text, str)) > _MAX_FREQUENCY:
        raise ValueError("not a frequency")
    return imported("pandas").tseries.frequencies.to_offset(text)


def _take_timestamp(obj: Any) -> list[Any]:
    count = obj.asm8.view("i8").item()
    return [obj.isoformat(), count, getattr(obj, "unit", "ns"), obj.tz, obj.fold]


def _make_timestamp(cls: Any, data: list[Any]) -> Any:
    _, count, unit, zone, fold = parts(data, str, int, str, object, int)
    _counts(unit, "M")
    made = _in_zone(cls(imported("numpy").datetime64(count, unit)), zone)
    return made if made.fold == fold else made.replace(fold=fold)


def _take_timedelta(obj: Any) -> list[Any]:
    left = [obj.days, obj.seconds, obj.microseconds]
    return [left, obj.asm8.view("i8").item(), getattr(obj, "unit", "ns")]


def _make_timedelta(cls: Any, data: list[Any]) -> Any:
    _, count, unit = parts(data, list, int, str)
    _counts(unit, "m")
    return cls(imported("numpy").timedelta64(count, unit))


def _make_period(cls: Any, data: list[Any]) -> Any:
    _, ordinal, freq = parts(data, object, int, str)
    return cls(ordinal=ordinal, freq=_frequency(freq))


def _make_interval(cls: Any, data: list[Any]) -> Any:
    _, left, right, closed = parts(data, object, object, object, str)
    return cls(left, right, closed)


def _take_categorical(obj: Any) -> list[Any]:
    codes = take_array(imported("numpy").asarray(obj.codes))
    return [None, codes, _take_labels(obj.categories), obj.ordered]


def _make_categorical(cls: Any, data: list[Any]) -> Any:
    _, codes, categories, ordered = parts(data, object, list, object, bool)
    return cls.from_codes(_line(codes, "i"), categories=_labels(categories), ordered=ordered)


def _take_masked(obj: Any) -> list[Any]:
    # Where pandas keeps them: what is under the mask belongs to what comes back.
    return [None, take_array(obj._data), take_array(obj._mask)]  # noqa: SLF001  # see above


def _make_masked(cls: Any, data: list[Any]) -> Any:
    _, values, mask = parts(data, object, list, list)
    return cls(_line(values, "i", "u", "f", "b"), _line(mask, "b"))


def _take_strings(obj: Any) -> list[Any]:
    if obj.dtype.storage == "pyarrow":
        texts = obj.__arrow_array__()
    else:
        texts = [None if gap else str(text) for text, gap in zip(obj, obj.isna(), strict=True)]
    return [None, obj.dtype.na_value is imported("pandas").NA, texts]


def _make_strings(cls: Any, data: list[Any]) -> Any:
    pandas, arrow = imported("pandas"), imported("pyarrow")
    _, missing, texts = parts(data, object, bool, object)
    storage = "python" if type(texts) is list else "pyarrow"
    gap = pandas.NA if missing else imported("numpy").nan
    dtype = pandas.StringDtype(storage, na_value=gap)
    if type(texts) is list:
        for text in texts:
            check(text, str, type(None))
        return pandas.array(texts, dtype=dtype)
    if _chunked(texts).type not in (arrow.string(), arrow.large_string()):
        raise ValueError("expected text")
    return cls(texts, dtype=dtype)


def _chunked(value: Any) -> Any:
    arrow = imported("pyarrow")
    if arrow is None:
        raise UnavailableError("it is made of an array of pyarrow")
    return part(value, arrow.ChunkedArray)


def _take_sparse(obj: Any) -> list[Any]:
    if len(obj) > _MAX_SPARSE:
        raise UnwritableError(f"a sparse array of more than {_MAX_SPARSE} items")
    places = obj.sp_index
    is_block = obj.kind == "block"
    found = [places.blocs, places.blengths] if is_block else [places.indices]
    at = [take_array(each) for each in found]
    return [None, _column(obj.sp_values), obj.kind, len(obj), at, obj.fill_value]


def _make_sparse(cls: Any, data: list[Any]) -> Any:
    _, values, kind, length, at, filled = parts(data, object, list, str, int, list, object)
    if not 0 <= length <= _MAX_SPARSE:
        raise ValueError("a sparse array that is too long")
    found = [_line(each, "i") for each in at]
    if any(each.dtype != "int32" for each in found):
        raise ValueError("expected places")
    sparse = imported("pandas._libs.sparse")
    index = {"block": sparse.BlockIndex, "integer": sparse.IntIndex}[kind](length, *found)
    values = _line(values)
    if len(values) != index.npoints:
        raise ValueError("more or fewer values than places")
    dtype = imported("pandas").SparseDtype(values.dtype, filled)
    # The public ways are deprecated, or new in pandas 3.1.
    return cls._simple_new(values, index, dtype)


def _take_moments(obj: Any) -> list[Any]:
    unit, zone = getattr(obj, "unit", "ns"), getattr(obj, "tz", None)
    return [None, take_array(obj.asi8), unit, zone, _take_frequency(getattr(obj, "freq", None))]


def _make_moments(kind: str) -> Callable[[Any, list[Any]], Any]:
    def make(_: Any, data: list[Any]) -> Any:
        _, counts, unit, zone, freq = parts(data, object, list, str, object, object)
        pandas = imported("pandas")
        cls = pandas.DatetimeIndex if kind == "M" else pandas.TimedeltaIndex
        made = _in_zone(cls(_line(counts, "i").view(_counts(unit, kind))), zone)
        if freq is not None:  # arrays had one in pandas 2; in pandas 3 only an Index has
            made.freq = _frequency(freq)
        return made.array

    return make


def _make_periods(_: Any, data: list[Any]) -> Any:
    _, ordinals, freq = parts(data, object, list, str)
    from_ordinals = imported("pandas").PeriodIndex.from_ordinals
    return from_ordinals(_line(ordinals, "i"), freq=_frequency(freq)).array


def _make_intervals(cls: Any, data: list[Any]) -> Any:
    _, left, right, closed = parts(data, object, object, object, str)
    return cls.from_arrays(_made_column(left), _made_column(right), closed=closed)


def _make_nothing(cls: Any, _: list[Any]) -> Any:
    pandas = imported("pandas")
    return pandas.NaT if cls is type(pandas.NaT) else pandas.NA


def _make_index(_: Any, data: list[Any]) -> Any:
    _, values, name = parts(data, object, object, object)
    values = _made_column(values)
    if values.dtype == object:
        with contextlib.suppress(TypeError):  # labels that cannot be hashed cannot be looked up
            check_hashes(values.tolist())
    return imported("pandas").Index(values, dtype=values.dtype, name=name)


def _take_dated(obj: Any) -> list[Any]:
    return [None, _column(obj.array), obj.name, _take_frequency(obj.freq)]


def _make_dated(cls: Any, data: list[Any]) -> Any:
    *rest, freq = parts(data, object, object, object, object)
    made = check(_make_index(cls, rest), cls)
    made.freq = _frequency(freq)
    return made


def _make_range(cls: Any, data: list[Any]) -> Any:
    _, start, stop, step, name = parts(data, object, int, int, int, object)
    return cls(start, stop, step, name=name)


def _take_multi(obj: Any) -> list[Any]:
    codes = [take_array(imported("numpy").asarray(each)) for each in obj.codes]
    return [None, [*map(_take_labels, obj.levels)], codes, [*obj.names]]


def _make_multi(cls: Any, data: list[Any]) -> Any:
    _, levels, codes, names = parts(data, object, list, list, list)
    check_small(names)
    return cls(
        [_labels(each) for each in levels], [_line(each, "i") for each in codes], names=names
    )


def _take_series(obj: Any) -> list[Any]:
    return [None, _column(obj.array), obj.index, obj.name, *_about(obj)]


def _make_series(cls: Any, data: list[Any]) -> Any:
    _, values, index, name, *about = parts(data, object, object, object, object, dict, bool)
    return _finished(_series(cls, _made_column(values), index, name), *about)


def _take_frame(obj: Any) -> list[Any]:
    columns = [_column(column.array) for _, column in obj.items()]
    return [None, columns, obj.index, obj.columns, *_about(obj)]


def _make_frame(cls: Any, data: list[Any]) -> Any:
    _, columns, index, labels, *about = parts(data, object, list, object, object, dict, bool)
    pandas = imported("pandas")
    if len(_index(labels)) != len(columns):
        raise ValueError("a frame with more or fewer labels than columns")
    content = {
        at: _series(pandas.Series, _made_column(values), index, None)
        for at, values in enumerate(columns)
    }
    made = cls(content, index=_index(index), columns=range(len(columns)))
    made.columns = labels
    return _finished(made, *about)


def _series(cls: Any, values: Any, index: Any, name: Any) -> Any:
    # A RangeIndex costs nothing: one that is longer than the values must not be filled up.
    if len(_index(index)) != len(values):
        raise ValueError("more or fewer labels than values")
    return cls(values, index=index, dtype=values.dtype, name=name, copy=False)


def _about(obj: Any) -> tuple[Any, bool]:
    return obj.attrs, obj.flags.allows_duplicate_labels


def _finished(made: Any, attrs: dict[Any, Any], allows_duplicate_labels: bool) -> Any:
    made.attrs = attrs
    made.flags.allows_duplicate_labels = allows_duplicate_labels
    return made


_INDEX: Final = _Kind(lambda obj: [None, _column(obj.array), obj.name], _make_index)
_MASKED: Final = _Kind(_take_masked, _make_masked)
_STRINGS: Final = _Kind(_take_strings, _make_strings)
_KINDS: Final[dict[str, _Kind]] = {
    "Timestamp": _Kind(_take_timestamp, _make_timestamp),
    "Timedelta": _Kind(_take_timedelta, _make_timedelta),
    "Period": _Kind(lambda obj: [None, obj.ordinal, _take_frequency(obj.freq)], _make_period),
    "Interval": _Kind(lambda obj: [None, obj.left, obj.right, obj.closed], _make_interval),
    "NaTType": _Kind(lambda _: ["NaT"], _make_nothing),
    "NAType": _Kind(lambda _: [None], _make_nothing),
    "Categorical": _Kind(_take_categorical, _make_categorical),
    "IntegerArray": _MASKED,
    "FloatingArray": _MASKED,
    "BooleanArray": _MASKED,
    "StringArray": _STRINGS,
    "ArrowStringArray": _STRINGS,
    "ArrowExtensionArray": _Kind(
        lambda obj: [None, obj.__arrow_array__()], lambda cls, data: cls(_chunked(data[1]))
    ),
    "SparseArray": _Kind(_take_sparse, _make_sparse),
    "DatetimeArray": _Kind(_take_moments, _make_moments("M")),
    "TimedeltaArray": _Kind(_take_moments, _make_moments("m")),
    "PeriodArray": _Kind(
        lambda obj: [None, take_array(obj.asi8), _take_frequency(obj.freq)], _make_periods
    ),
    "IntervalArray": _Kind(
        lambda obj: [None, _column(obj.left.array), _column(obj.right.array), obj.closed],
        _make_intervals,
    ),
    "Index": _INDEX,
    "PeriodIndex": _INDEX,
    "CategoricalIndex": _INDEX,
    "IntervalIndex": _INDEX,
    "DatetimeIndex": _Kind(_take_dated, _make_dated),
    "TimedeltaIndex": _Kind(_take_dated, _make_dated),
    "RangeIndex": _Kind(lambda obj: [None, obj.start, obj.stop, obj.step, obj.name], _make_range),
    "MultiIndex": _Kind(_take_multi, _make_multi),
    "Series": _Kind(_take_series, _make_series),
    "DataFrame": _Kind(_take_frame, _make_frame),
}
"""By the name of the class."""


class PandasForm(Form):
    """The classes of pandas in `_KINDS`."""

    name = "pandas"

    def matches(self, cls: type) -> bool:
        if cls.__name__ not in _KINDS or imported("pandas") is None:
            return False
        is_own = cls.__module__.partition(".")[0] == "pandas"
        return is_own and getattr(imported(cls.__module__), cls.__name__, None) is cls

    def take(self, obj: Any) -> list[Any]:
        return _KINDS[type(obj).__name__].take(obj)

    def maker(self, cls: type, extra: list[Any]) -> Maker:
        make_parts = _KINDS[cls.__name__].make

        def make(data: Any) -> Any:
            for each in check(data, list):  # a name is hashed
                if type(each) is tuple:
                    check_small(each)
            return check(make_parts(cls, data), cls)

        return make

    def shown(self, data: Any, extra: list[Any]) -> Any:
        return data[0] if type(data) is list and data else None


_POLARS: Final = {"DataFrame": "polars.dataframe.frame", "Series": "polars.series.series"}


class PolarsForm(Form):
    """`DataFrame` and `Series`, without columns of Python objects."""

    name = "polars"

    def matches(self, cls: type) -> bool:
        module = _POLARS.get(cls.__name__)
        return module == cls.__module__ and getattr(imported(module), cls.__name__, None) is cls

    def take(self, obj: Any) -> memoryview:
        polars = imported("polars")
        frame = obj.to_frame() if isinstance(obj, polars.Series) else obj
        if any(_holds_objects(dtype, polars) for dtype in frame.dtypes):
            raise UnwritableError("a column of Python objects")  # polars would write addresses
        stream = io.BytesIO()
        # Of the newest kind, text would be views.
        frame.write_ipc_stream(stream, compat_level=polars.CompatLevel.oldest())
        return written_stream(stream.getbuffer())

    def maker(self, cls: Any, extra: list[Any]) -> Maker:
        polars = imported("polars")

        def make(data: Any) -> Any:
            check_stream(check(data, bytes, memoryview))
            try:
                frame = polars.read_ipc_stream(io.BytesIO(data))
            except polars.exceptions.PanicException as error:  # it is no `Exception`
                raise ValueError("not a frame") from error
            if cls is polars.DataFrame:
                return frame
            (series,) = frame
            return series

        return make


def _holds_objects(dtype: Any, polars: Any) -> bool:
    inner = [each.dtype for each in getattr(dtype, "fields", ())]
    inner += [dtype.inner] if hasattr(dtype, "inner") else []
    return isinstance(dtype, polars.Object) or any(_holds_objects(each, polars) for each in inner)


FORMS: Final[tuple[Form, ...]] = (PandasForm(), PolarsForm())
