"""Rows that real upstream versions wrote come back as what they were, in every version of ours."""

from __future__ import annotations

from datetime import datetime
from typing import Final

import pytest
from langgraph.checkpoint.serde.encrypted import EncryptedSerializer
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from pydantic import SecretStr

from langgraph_once.errors import PayloadError, TypeNotAllowedError
from langgraph_once.serde import OnceSerializer
from tests.data.blobs import files, model
from tests.data.blobs.compare import alike
from tests.data.blobs.upstream_values import AES_KEY, VALUES
from tests.unit_tests.serde.strictly import strict_config

pytestmark = [
    pytest.mark.filterwarnings("ignore:Importing Send from langgraph.constants"),
    pytest.mark.filterwarnings("ignore::langchain_core._api.beta_decorator.LangChainBetaWarning"),
]

TYPES: Final = (
    *model.ALLOWED_TYPES,
    "pydantic.types:SecretStr",
    "langgraph.constants:Send",  # where langgraph 0.1 and early 0.2 kept it
    "builtins:bytearray",  # inside other values, some versions wrote it as an extension
    "builtins:bytes",
)

READER: Final = OnceSerializer(
    strict_config(allowed_types=TYPES), upstream_aes_key=SecretStr(AES_KEY.decode())
)
NEWEST_UPSTREAM: Final = EncryptedSerializer.from_pycryptodome_aes(
    JsonPlusSerializer(
        allowed_msgpack_modules=[tuple(name.split(":")) for name in TYPES],
        allowed_json_modules=True,
    ),
    key=AES_KEY,
)

JSON: Final = ("1.0.2",)
CORE_0_3: Final = ("2.0.0", "2.0.26", "2.1.2")
ORMSGPACK: Final = ("2.0.26", "2.1.2", "3.0.1", "4.0.0", "4.3.2")
ALL: Final = (*JSON, "2.0.0", *ORMSGPACK)

EXCEPTIONS: Final[tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...]] = (
    # What the writer could not keep: no reader can bring it back.
    ("tuples were written as lists", ALL, ("tuple",)),
    ("half a surrogate pair was dropped, or replaced", ALL, ("surrogate",)),
    ("namedtuples were written as lists, int enums as ints", ("1.0.2", "2.0.0"),
     ("namedtuple", "int_enum", "enum_inside")),
    ("a model in a field typed Any was written as a dict", ALL, ("pydantic_nested",)),
    ("keys of JSON objects are text", JSON, ("int_keys",)),
    ("zones were written as offsets", ALL, ("zoned",)),
    ("exceptions were written as text", ("2.0.0", *ORMSGPACK), ("exception",)),
    ("bytearrays inside others were written as bytes",
     ("2.0.0", "2.1.2", "3.0.1", "4.0.0", "4.3.2"), ("bytes_inside",)),
    # What was written well, and what upstream's newest reader makes of it.
    ("messages of langchain-core 0.3 had a field `example`, which stays on them as an extra",
     CORE_0_3, ("human", "human_blocks", "human_chunk", "ai", "ai_invalid_call", "ai_chunk",
                "thread", "send")),
    ("as above, inside a command", ("2.0.26", "2.1.2"), ("command",)),
)  # fmt: skip
"""Why, in which versions, and which values come back as upstream's newest reader has them.

A line that is no longer needed fails the test: take it away, and rejoice."""

EXCEPTED: Final = {
    (version, name): why
    for why, versions, names in EXCEPTIONS
    for version in versions
    for name in names
}

ROWS: Final = {
    (folder.removeprefix("upstream-"), name): row
    for folder in files.folders("upstream-")
    for name, row in files.load(folder).items()
}


def test_a_row_comes_back_as_what_was_written(subtests: pytest.Subtests) -> None:
    for (version, name), row in ROWS.items():
        if name != "pickled":
            with subtests.test(f"{version}-{name}"):
                check(version, name, row)


def check(version: str, name: str, row: tuple[str, bytes]) -> None:
    back = READER.loads_typed(row)
    name = name.removesuffix("+aes")
    value = VALUES[name]()
    if (version, name) not in EXCEPTED:
        assert alike(back, value)
        return
    newest = NEWEST_UPSTREAM.loads_typed(row)
    if row[0].startswith("json"):
        # Upstream ignores the method of an envelope, and returns None for its datetime.
        newest = {**newest, "when": value["when"]} if name == "surrogate" else newest
        newest = (
            datetime.fromisoformat("2025-03-01T12:30:05.000007+01:00")
            if name == "zoned"
            else newest
        )
    assert alike(back, newest)
    assert not alike(back, value), f"no longer an exception: {EXCEPTED[version, name]}"


@pytest.mark.parametrize("version", [version for version, name in ROWS if name == "pickled"])
def test_a_pickled_row_is_refused(version: str) -> None:
    with pytest.raises(PayloadError, match="any code"):
        READER.loads_typed(ROWS[version, "pickled"])


def test_a_row_that_names_own_types_needs_them_allowed(subtests: pytest.Subtests) -> None:
    for (version, name), row in ROWS.items():
        if name in ("dataclass", "enum", "pydantic", "pydantic_v1"):
            with subtests.test(f"{version}-{name}"):
                with pytest.raises(TypeNotAllowedError, match=model.__name__) as caught:
                    OnceSerializer(strict_config()).loads_typed(row)
                assert caught.value.tag == row[0]


def test_every_exception_concerns_a_row() -> None:
    assert EXCEPTED.keys() <= ROWS.keys()


@pytest.mark.parametrize("version", ALL)
def test_every_value_was_written_or_is_known_to_have_been_refused(version: str) -> None:
    folder = f"upstream-{version}"
    assert VALUES.keys() <= files.load(folder).keys() | files.refusals(folder).keys()


def test_the_tags_of_upstream_are_all_there() -> None:
    tags = {row[0] for row in ROWS.values()}
    assert tags == {
        *("null", "bytes", "bytearray", "json", "msgpack", "pickle"),
        *("null+aes", "bytes+aes", "bytearray+aes", "json+aes", "msgpack+aes"),
    }
