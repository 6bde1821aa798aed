"""Values of packages that the project's environment has: arrays, frames, clients' exceptions."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any, Final

import httpx
import numpy as np
import pandas as pd  # type: ignore[import-untyped]  # pandas has no types
import polars as pl
import pyarrow as pa  # type: ignore[import-untyped]  # pyarrow has no types
import pydantic

from tests.unit_tests.serde.law import classes
from tests.unit_tests.serde.law.drawn import moment, number, word, words


def _numbers(r: Random) -> list[int]:
    return [number(r) for _ in range(4)]


def _frame(r: Random) -> Any:
    return pd.DataFrame({"n": _numbers(r), "s": [word(r), None, "b", "c"], "x": [0.5, np.nan] * 2})


def _table(r: Random) -> Any:
    return pa.table({"n": _numbers(r), "s": [word(r), None, "b", "c"]})


def _polars(r: Random) -> pl.DataFrame:
    return pl.DataFrame(
        {"n": _numbers(r), "s": [word(r), None, "b", "c"], "l": [[1], [], [2], [3]]}
    )


def _request() -> httpx.Request:
    return httpx.Request("GET", "https://example.org/a")


def _status_error(r: Random) -> httpx.HTTPStatusError:
    request = _request()
    return httpx.HTTPStatusError(
        word(r), request=request, response=httpx.Response(503, text=word(r), request=request)
    )


def _openai_error(r: Random) -> Any:
    import openai  # a third of a second, which each worker of pytest would take

    return openai.OpenAIError(word(r))


def _openai_status_error(r: Random) -> Any:
    import openai

    # The client takes the requests of its own fork of httpx, or of httpx.
    module: Any = __import__(openai.APIError.__init__.__annotations__["request"].partition(".")[0])
    request = module.Request("POST", "https://example.org/v1")
    response = module.Response(429, request=request)
    return openai.RateLimitError(word(r), response=response, body={"code": word(r)})


def _invalid(r: Random) -> Exception:
    try:
        classes.Plain(name=number(r))  # type: ignore[arg-type]  # that is what is tested
    except pydantic.ValidationError as error:
        return error.with_traceback(None)
    raise AssertionError("a number is no name")


KINDS: Final[dict[str, Callable[[Random], Any]]] = {
    "arrow, array": lambda r: pa.array(_numbers(r)),
    "arrow, batch": lambda r: _table(r).to_batches()[0],
    "arrow, schema": lambda r: _table(r).schema,
    "arrow, table": _table,
    "httpx, ConnectError": lambda r: httpx.ConnectError(word(r)),
    "httpx, HTTPStatusError": _status_error,
    "httpx, ReadTimeout with a request": lambda r: httpx.ReadTimeout(word(r), request=_request()),
    "httpx, URL": lambda r: httpx.URL(f"https://example.org/{number(r)}"),
    "numpy, array": lambda r: np.array(_numbers(r), dtype=r.choice(["i4", "f8", ">u2"])),
    "numpy, array in Fortran's order": lambda r: np.asfortranarray(np.array([_numbers(r)] * 2)),
    "numpy, array of dates": lambda r: np.array([moment(r)], dtype="M8[us]"),
    "numpy, array of objects": lambda r: np.array([word(r), (1, 2), None], dtype=object),
    "numpy, array of records": lambda r: np.array([(word(r), 1.5)], dtype="U5,f4"),
    "numpy, array of texts": lambda r: np.array([word(r), "b"]),
    "numpy, array without dimensions": lambda r: np.array(number(r)),
    "numpy, bool": lambda r: np.bool_(number(r) % 2),
    "numpy, date": lambda r: np.datetime64(moment(r)),
    "numpy, dtype": lambda r: np.dtype("i4,f8"),
    "numpy, float32": lambda r: np.float32(r.random()),
    "numpy, float64": lambda r: np.float64(r.random()),
    "numpy, int64": lambda r: np.int64(number(r)),
    "numpy, masked array": lambda r: np.ma.masked_greater(np.array(_numbers(r)), 500),
    "numpy, str_": lambda r: np.str_(word(r)),
    "numpy, uint8": lambda r: np.uint8(number(r) % 256),
    "openai, APIError": _openai_error,
    "openai, RateLimitError": _openai_status_error,
    "pandas, Categorical": lambda r: pd.Categorical(["a", word(r)]),
    "pandas, DataFrame": _frame,
    "pandas, DatetimeIndex": lambda r: pd.date_range(moment(r), periods=3, tz="Europe/Berlin"),
    "pandas, NA": lambda r: pd.NA,
    "pandas, NaT": lambda r: pd.NaT,
    "pandas, Series": lambda r: pd.Series(_numbers(r), name=word(r)),
    "pandas, Timedelta": lambda r: pd.Timedelta(seconds=number(r)),
    "pandas, Timestamp": lambda r: pd.Timestamp(moment(r)),
    "pandas, Timestamp with a zone": lambda r: pd.Timestamp(moment(r), tz="Europe/Berlin"),
    "polars, DataFrame": _polars,
    "polars, Series": lambda r: pl.Series(word(r), words(r), dtype=pl.String),
    "pydantic, ValidationError": _invalid,
}
