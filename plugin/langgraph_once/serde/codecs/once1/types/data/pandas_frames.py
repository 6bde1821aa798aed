"""pandas' frames: `DataFrame`, `Series`, `Index` of every kind, and what they are made of.

pandas is imported where the bytes name one of its classes, and never to write. Rows, columns,
names, data types, frequencies, `attrs` and flags come back; how columns share blocks of memory
does not. Subclasses are refused: what they add is theirs to know.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any, Final

from langgraph_once.serde.codecs.once1.types.base.protocol import parts, plain
from langgraph_once.serde.codecs.once1.types.data.pandas_arrays import (
    CODECS,
    check_labels,
    load_frequency,
    load_values,
    take_frequency,
    take_values,
)
from langgraph_once.serde.trust.lookup import imported

__all__ = ["PandasFamily"]

_FLAT_INDEXES: Final = ("Index", "PeriodIndex", "CategoricalIndex", "IntervalIndex")
_DATED_INDEXES: Final = ("DatetimeIndex", "TimedeltaIndex")


class PandasFamily:
    """The classes listed in this module and in `pandas_arrays`."""

    name = "pandas"

    def matches(self, cls: type) -> bool:
        if cls.__name__ not in _ALL or imported("pandas") is None:
            return False
        own = cls.__module__.partition(".")[0] == "pandas"
        return own and getattr(imported(cls.__module__), cls.__name__, None) is cls

    def encode(self, obj: Any) -> Any:
        return _ALL[type(obj).__name__][0](obj)

    def decode(self, cls: type, data: Any) -> Any:
        made = _ALL[cls.__name__][1](cls, data)
        if type(made) is not cls:
            raise ValueError(f"not a {cls.__qualname__}")
        return made


def _take_flat(obj: Any) -> Any:
    return take_values(obj.array), obj.name


def _load_flat(_: Any, data: Any) -> Any:
    values, name = parts(data, object, object)
    values = load_values(values)
    return _pandas().Index(values, dtype=values.dtype, name=name)


def _take_dated(obj: Any) -> Any:
    return *_take_flat(obj), take_frequency(obj.freq)


def _load_dated(cls: Any, data: Any) -> Any:
    values, name, frequency = parts(data, object, object, object)
    made = plain(_load_flat(cls, (values, name)), cls)
    made.freq = load_frequency(frequency)
    return made


def _take_range(obj: Any) -> Any:
    return obj.start, obj.stop, obj.step, obj.name


def _load_range(cls: Any, data: Any) -> Any:
    start, stop, step, name = parts(data, int, int, int, object)
    return cls(start, stop, step, name=name)


def _take_multi(obj: Any) -> Any:
    codes = [_numpy().asarray(part) for part in obj.codes]
    return [*obj.levels], codes, [*obj.names]


def _load_multi(cls: Any, data: Any) -> Any:
    levels, codes, names = parts(data, list, list, list)
    for part in codes:
        if plain(part, _numpy().ndarray).dtype.kind != "i" or part.ndim != 1:
            raise ValueError("expected the codes of labels")
    return cls(levels=[check_labels(level) for level in levels], codes=codes, names=names)


def _take_series(obj: Any) -> Any:
    return take_values(obj.array), obj.index, obj.name, *_about(obj)


def _load_series(cls: Any, data: Any) -> Any:
    values, index, name, attrs, unique = parts(data, object, object, object, dict, bool)
    made = _column(cls, load_values(values), index, name)
    return _with_about(made, attrs, unique)


def _take_frame(obj: Any) -> Any:
    columns = [take_values(obj.iloc[:, place].array) for place in range(obj.shape[1])]
    return columns, obj.index, obj.columns, *_about(obj)


def _load_frame(cls: Any, data: Any) -> Any:
    columns, index, labels, attrs, unique = parts(data, list, object, object, dict, bool)
    pandas = _pandas()
    if not issubclass(type(index), pandas.Index) or len(check_labels(labels)) != len(columns):
        raise ValueError("a frame with more or fewer labels than columns")
    if len({*map(id, columns)}) != len(columns):
        # A kilobyte of references to one long column would fill the memory.
        raise ValueError("a frame in which one column stands twice")
    content = {
        place: _column(pandas.Series, load_values(values), index, None)
        for place, values in enumerate(columns)
    }
    made = cls(content, index=index, columns=range(len(columns)))
    made.columns = labels
    return _with_about(made, attrs, unique)


def _column(cls: Any, values: Any, index: Any, name: Any) -> Any:
    # A RangeIndex costs nothing: one that is longer than the values must not be filled up.
    if not issubclass(type(index), _pandas().Index) or len(index) != len(values):
        raise ValueError("more or fewer labels than values")
    return cls(values, index=index, dtype=values.dtype, name=name, copy=False)


def _about(obj: Any) -> tuple[Any, bool]:
    return obj.attrs, obj.flags.allows_duplicate_labels


def _with_about(made: Any, attrs: dict[Any, Any], allows_duplicate_labels: bool) -> Any:
    made.attrs = attrs
    made.flags.allows_duplicate_labels = allows_duplicate_labels
    return made


def _pandas() -> Any:
    return importlib.import_module("pandas")


def _numpy() -> Any:
    return importlib.import_module("numpy")


_ALL: Final[dict[str, tuple[Callable[[Any], Any], Callable[[Any, Any], Any]]]] = {
    **CODECS,
    **dict.fromkeys(_FLAT_INDEXES, (_take_flat, _load_flat)),
    **dict.fromkeys(_DATED_INDEXES, (_take_dated, _load_dated)),
    "RangeIndex": (_take_range, _load_range),
    "MultiIndex": (_take_multi, _load_multi),
    "Series": (_take_series, _load_series),
    "DataFrame": (_take_frame, _load_frame),
}
