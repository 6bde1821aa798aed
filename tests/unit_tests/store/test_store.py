"""What a store keeps, encrypted and not, in both databases."""

from __future__ import annotations

import asyncio
import importlib
import inspect
import json
import time
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from langgraph.store.base import GetOp, ListNamespacesOp, PutOp, SearchOp
from langgraph.store.memory import InMemoryStore
from langgraph.store.postgres.aio import AsyncPostgresStore
from langgraph.store.sqlite.aio import AsyncSqliteStore

from langgraph_once.config import CheckpointConfig, StoreConfig
from langgraph_once.errors import (
    ConfigError,
    EncodeError,
    EncryptionError,
    SerdeError,
    StorageError,
)
from langgraph_once.store import OnceStore, check_index, check_place, default_database, open_store
from tests.unit_tests.store.conftest import OLD, Place, serializer

NO_VECTORS = "another Python, or PostgreSQL|install pgvector"
ADA = ("memories", "ada")
SECRET = "the tea is in the third drawer"
VALUE: dict[str, Any] = {"text": SECRET, "n": 3, "deep": {"list": [1, 2.5, None, True, "ü"]}}


async def test_what_is_put_comes_back_and_is_not_in_the_rows(place: Place) -> None:
    async with place.opened() as store:
        await store.aput(ADA, "tea", VALUE)
        await store.aput((*ADA, "more"), "cake", {"text": SECRET})
        found = await store.aget(ADA, "tea")
        assert found is not None
        assert (found.namespace, found.key, found.value) == (ADA, "tea", VALUE)
    rows = place.rows()
    assert "drawer" not in rows
    assert "__once__" in rows
    assert "ada" in rows  # namespaces and keys are not encrypted
    async with place.opened(encryption="required") as store:
        assert [each.value for each in await store.asearch(ADA)] in (
            [VALUE, {"text": SECRET}],
            [{"text": SECRET}, VALUE],
        )
        assert await store.alist_namespaces(prefix=("memories",)) == [ADA, (*ADA, "more")]
        await store.adelete(ADA, "tea")
        assert await store.aget(ADA, "tea") is None


async def test_without_keys_rows_are_those_of_the_stock_store(place: Place) -> None:
    async with place.opened({}) as store:
        await store.aput(ADA, "tea", VALUE)
        await store.aput(ADA, "cake", {"text": "b", "n": 1})
        found = await store.asearch(ADA, filter={"n": {"$gt": 2}})
        assert [each.value for each in found] == [VALUE]
    async with place.stock() as stock:
        tea = await stock.aget(ADA, "tea")
        assert tea is not None
        assert tea.value == VALUE
        await stock.aput(ADA, "milk", {"n": 4})
    # With keys it is read all the same, beside what is encrypted.
    async with place.opened() as store:
        await store.aput(ADA, "jam", {"n": 5})
        assert len(await store.asearch(ADA)) == 4
        assert len(await store.asearch(ADA, filter={"n": {"$gt": 2}})) == 3
    async with place.stock() as stock:
        jam = await stock.aget(ADA, "jam")
        assert jam is not None
        assert jam.value.keys() == {"__once__", "sealed"}
    for encryption in ("required", "bound"):
        async with place.opened(encryption=encryption) as store:
            with pytest.raises(EncryptionError, match="langgraph-once store --to encrypted"):
                await store.aget(ADA, "tea")


async def test_without_its_key_nothing_opens_nor_looks_like_a_value(place: Place) -> None:
    async with place.opened() as store:
        await store.aput(ADA, "tea", VALUE)
    for keys in ({}, OLD):
        async with place.opened(keys) as store:
            with pytest.raises(EncryptionError, match="2026"):
                await store.aget(ADA, "tea")
    async with place.stock() as stock:
        (looks_sealed,) = await stock.asearch(ADA)
    async with place.opened({}) as store:
        with pytest.raises(EncodeError):
            await store.aput(ADA, "fake", looks_sealed.value)


@pytest.mark.parametrize(
    "row",
    [
        {"__once__": "json.zstd.aesgcm", "sealed": "no base64!"},
        {"__once__": "json", "sealed": "bm8ganNvbg=="},
        {"__once__": "json", "sealed": "W10="},
        {"__once__": "once2", "sealed": "e30="},
        {"__once__": "json.aesgcm", "sealed": "e30="},
        {"__once__": "x", "sealed": "e30="},
    ],
)
async def test_a_damaged_row_is_one_of_our_errors(place: Place, row: dict[str, str]) -> None:
    async with place.opened() as store:
        await store.aput(ADA, "tea", VALUE)
        place.execute("UPDATE store SET value = ?", json.dumps(row))
        with pytest.raises(SerdeError):
            await store.aget(ADA, "tea")


@pytest.mark.parametrize("column", ["key", "prefix"])
async def test_rows_cannot_be_swapped(place: Place, column: str) -> None:
    async with place.opened() as store:
        await store.aput(ADA, "tea", VALUE)
        place.execute(f"UPDATE store SET {column} = 'other'")
        (namespace,) = await store.alist_namespaces()
        with pytest.raises(EncryptionError):
            await store.aget(namespace, "other" if column == "key" else "tea")


async def test_a_damaged_item_harms_no_other_question_of_the_same_batch(
    place: Place,
) -> None:
    async with place.opened() as store:
        for key in ("one", "two", "three"):
            await store.aput(ADA, key, VALUE)
        place.execute("UPDATE store SET key = 'moved' WHERE key = 'one'")
        asked = (store.aget(ADA, key) for key in ("moved", "two", "three", "two"))
        damaged, *found = await asyncio.gather(*asked, return_exceptions=True)
    assert isinstance(damaged, EncryptionError)
    values: list[Any] = found
    assert [each.value for each in values] == [VALUE] * 3
    assert values[0].value is not values[2].value


async def test_threads_and_batches_do_as_upstreams_store(place: Place) -> None:
    async with place.opened() as store:
        ops = [PutOp(ADA, str(n), {"n": n}) for n in range(3)]
        assert await asyncio.to_thread(store.batch, ops) == [None] * 3
        search = SearchOp(ADA, filter={"n": {"$gte": 1}}, limit=5)
        answers = await store.abatch(
            [GetOp(ADA, "2"), search, ListNamespacesOp(), GetOp(ADA, "nothing")]
        )
        item, found, namespaces, nothing = answers
        assert item is not None
        assert item.value == {"n": 2}  # type: ignore[union-attr]  # it was put
        assert len(found) == 2  # type: ignore[arg-type]  # a search gives a list
        assert namespaces == [ADA]
        assert nothing is None
        got = await asyncio.to_thread(store.get, ADA, "0")
        assert got is not None
        with pytest.raises(asyncio.InvalidStateError, match="aget"):
            store.get(ADA, "0")


FILTERS: list[dict[str, Any]] = [
    {"kind": "a"},
    {"kind": "a", "n": 4},
    {"n": {"$gt": 3}},
    {"n": {"$gte": 3, "$lt": 6}},
    {"n": {"$lte": 2}},
    {"n": {"$ne": 3}},
    {"n": {"$eq": 3}},
    {"tags": ["x", 1]},
    {"deep": {"yes": True}},
    {"kind": "nothing of it"},
]


@pytest.mark.parametrize("wanted", FILTERS, ids=json.dumps)
async def test_filters_choose_as_the_stock_store_in_memory(wanted: dict[str, Any]) -> None:
    stock = InMemoryStore()
    items = {
        str(n): {"kind": "ab"[n % 2], "n": n, "tags": ["x", n], "deep": {"yes": n > 4, "n": n}}
        for n in range(8)
    }
    async with open_store(":memory:", serde=serializer()) as store:
        for key, value in items.items():
            stock.put(ADA, key, value)
            await store.aput(ADA, key, value)
        found = await store.asearch(ADA, filter=wanted, limit=20)
    expected = stock.search(ADA, filter=wanted, limit=20)
    assert {each.key for each in found} == {each.key for each in expected}


async def test_a_filter_of_the_server_and_one_of_its_auth_both_hold() -> None:
    async with open_store(":memory:", serde=serializer()) as store:
        for number in range(4):
            owner = "ada" if number % 2 else "eve"
            await store.aput(ADA, str(number), {"owner": owner, "flag": bool(number), "n": number})
        both = {"$and": [{"n": {"$gt": 0}}, {"owner": "ada"}]}
        assert {each.key for each in await store.asearch(ADA, filter=both)} == {"1", "3"}
        assert await store.asearch(ADA, filter={"flag": 1}) == []
        with pytest.raises(ValueError, match="Unsupported operator"):
            await store.asearch(ADA, filter={"n": {"$near": 1}})


@pytest.mark.parametrize(
    ("wanted", "keys"),
    [
        ({"name": {"$gt": "bob"}}, "1"),
        ({"name": {"$lte": "bob"}}, "0"),
        ({"name": {"$gt": 1}}, ""),  # of another type: neither is greater
        ({"at": {"$eq": {"x": 1, "y": [1, True]}}}, "0"),
        ({"at": {"$ne": {"x": 1, "y": [1, 1]}}}, "0"),  # true is not 1, at any depth
    ],
)
async def test_texts_have_an_order_and_parts_are_compared_as_json(
    wanted: dict[str, Any], keys: str
) -> None:
    items = [
        {"name": "bob", "at": {"x": 1, "y": [1, True]}},
        {"name": "eve", "at": {"x": 1, "y": [1, 1]}},
    ]
    async with open_store(":memory:", serde=serializer()) as store:
        await store.abatch([PutOp(ADA, str(n), value) for n, value in enumerate(items)])
        found = await store.asearch(ADA, filter=wanted)
    assert {each.key for each in found} == {*keys}


PATHS: list[dict[str, Any]] = [
    {"user.id": "u1"},
    {"user.id": {"$eq": "u1"}},
    {"user.id": "u1", "n": {"$gte": 0}},
    {"n": 0},
    {"user.id.deeper": "u1"},
]


@pytest.mark.parametrize("wanted", PATHS, ids=json.dumps)
async def test_a_dotted_key_of_a_filter_means_what_it_does_in_the_stock_store(
    place: Place, wanted: dict[str, Any]
) -> None:
    items = [{"user": {"id": "u1"}, "n": 0}, {"user.id": "u1", "n": 1}, {"user": "u1", "n": 2}]
    found = []
    async with place.opened() as ours:
        await ours.abatch([PutOp(ADA, str(n), value) for n, value in enumerate(items)])
        found.append({each.key for each in await ours.asearch(ADA, filter=wanted)})
        for number in range(len(items)):
            await ours.adelete(ADA, str(number))
    async with place.stock() as stock:
        await stock.abatch([PutOp(ADA, str(n), value) for n, value in enumerate(items)])
        found.append({each.key for each in await stock.asearch(ADA, filter=wanted)})
    assert found[0] == found[1]


async def test_a_filter_with_or_is_an_error_in_an_empty_store_too(place: Place) -> None:
    async with place.opened() as store:
        with pytest.raises(ValueError, match=r"Unsupported operator: \$or"):
            await store.asearch(ADA, filter={"$or": [{"n": 1}, {"n": 2}]})


async def test_pages_of_a_filtered_search_are_whole(place: Place) -> None:
    """Rows of one moment, of which each page has another order."""
    async with place.opened() as store:
        await store.abatch([PutOp(ADA, str(n), {"n": n}) for n in range(700)])
        seen: list[int] = []
        for offset in range(0, 60, 10):
            wanted = {"n": {"$gte": 650}}
            found = await store.asearch(ADA, filter=wanted, limit=10, offset=offset)
            seen += [each.value["n"] for each in found]
    assert sorted(seen) == [*range(650, 700)]


async def test_semantic_search_is_of_what_was_encrypted(place: Place, index: Any) -> None:
    if index is None:
        with pytest.raises(ConfigError, match=NO_VECTORS):
            async with place.opened(index={"dims": 3}):
                pass
        return
    async with place.opened(index=index) as store:
        await store.aput(ADA, "a", {"text": "aaaa", "n": 1})
        await store.aput(ADA, "b", {"text": "bbbb", "n": 2})
        await store.aput(ADA, "c", {"text": "cccc", "n": 3}, index=False)
        # No three letters: ciphertext in base64 may hold them by chance.
        title = "b-b-b"
        await store.aput(ADA, "d", {"text": "", "title": title, "n": 4}, index=["title"])
        found = await store.asearch(ADA, query="bbbb", limit=2)
        assert [each.key for each in found] == ["b", "d"]
        assert found[0].score is not None
        found = await store.asearch(ADA, query="bb", filter={"n": {"$ne": 2}}, limit=1)
        assert [each.value for each in found] == [{"text": "", "title": title, "n": 4}]
        assert title not in place.rows()
        for key in "abcd":
            await store.adelete(ADA, key)
        assert place.execute("SELECT * FROM store_vectors") == []


async def test_items_of_the_store_expire(place: Place) -> None:
    ttl: Any = {"default_ttl": 5, "refresh_on_read": True, "sweep_interval_minutes": 1 / 1200}
    async with place.opened(ttl=ttl) as store:
        await store.aput(ADA, "old", {"n": 1}, ttl=1)
        await store.aput(ADA, "new", {"n": 1})
        await store.asearch(ADA, filter={"n": 2}, refresh_ttl=True)
        place.execute("UPDATE store SET expires_at = '2020-01-01' WHERE key = 'old'")
        ends = time.monotonic() + 10
        while await store.aget(ADA, "old", refresh_ttl=False) is not None:
            assert time.monotonic() < ends
        assert await store.aget(ADA, "new") is not None


async def test_what_expires_is_swept_when_asked_as_by_upstreams_store(place: Place) -> None:
    async with place.opened() as store:
        await store.setup()
        await store.aput(ADA, "old", {"n": 1}, ttl=1)
        await store.aput(ADA, "new", {"n": 1}, ttl=1)
        place.execute("UPDATE store SET expires_at = '2020-01-01' WHERE key = 'old'")
        assert await store.sweep_ttl() == 1
        assert [item.key for item in await store.asearch(ADA)] == ["new"]


@pytest.mark.parametrize("upstream", [AsyncSqliteStore, AsyncPostgresStore])
def test_the_store_has_what_upstreams_stores_have(upstream: Any) -> None:
    own = {name for name, _ in inspect.getmembers(upstream, callable) if not name.startswith("_")}
    assert {"aput", "start_ttl_sweeper", "stop_ttl_sweeper"} <= own
    # To open one from a URL is `open_store`'s; nothing of a database is asked through the store.
    assert {name for name in own if not hasattr(OnceStore, name)} <= {"from_conn_string"}


async def test_a_filtered_search_keeps_alive_what_it_found_alone(place: Place) -> None:
    async with place.opened(ttl={"refresh_on_read": True}) as store:
        for key in ("found", "other"):
            await store.aput(ADA, key, {"key": key}, ttl=5)
        place.execute("UPDATE store SET expires_at = '2020-01-01'")
        assert len(await store.asearch(ADA, filter={"key": "found"})) == 1
        assert place.execute("SELECT key FROM store WHERE expires_at > '2021-01-01'") == [
            ("found",)
        ]


async def test_many_may_open_a_new_database_at_once(place: Place) -> None:
    async with AsyncExitStack() as stack:
        opening = (stack.enter_async_context(place.opened()) for _ in range(6))
        one, *_, last = await asyncio.gather(*opening)
        await one.aput(ADA, "tea", VALUE)
        found = await last.aget(ADA, "tea")
        assert found is not None


async def test_a_database_out_of_reach_is_one_line() -> None:
    for database in ("/etc/hostname/store.sqlite", "postgresql://u:geheim@127.0.0.1:1/x"):
        with pytest.raises(StorageError) as caught:
            async with open_store(database, serde=serializer()):
                pass
        assert "geheim" not in str(caught.value)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("threads", "store"),
    [
        (".langgraph_once/checkpoints.sqlite", ".langgraph_once/store.sqlite"),
        ("sqlite:////data/threads.sqlite", "sqlite:////data/store.sqlite"),
        ("sqlite:///threads.sqlite", "sqlite:///store.sqlite"),
        ("threads.sqlite", "store.sqlite"),
        (":memory:", ":memory:"),
        ("postgresql://u@h/db", "postgresql://u@h/db"),
    ],
)
def test_the_store_is_beside_the_threads(threads: str, store: str) -> None:
    assert default_database(threads) == store


def test_vectors_are_refused_where_everything_must_be_encrypted(index: Any) -> None:
    check_index(None, StoreConfig(), must_encrypt=True)
    check_index(index, StoreConfig(), must_encrypt=False)
    check_index(index, StoreConfig(allow_vectors=True), must_encrypt=True)
    with pytest.raises(ConfigError, match="ONCE_STORE__ALLOW_VECTORS"):
        check_index(index, StoreConfig(), must_encrypt=True)


def test_what_a_database_cannot_do_is_found_before_it_is_opened(place: Place, index: Any) -> None:
    check_place(place.database, config=place.config, index=index)
    if place.config.schema:
        pooled = replace(place.config, transaction_pooler=True)
        with pytest.raises(ConfigError, match="for the role"):
            check_place(place.database, config=pooled, index=None)
        assert place.execute("SELECT to_regclass('store')") == [(None,)]
    else:
        if index is None:
            with pytest.raises(ConfigError, match=NO_VECTORS):
                check_place(place.database, config=place.config, index={"dims": 3})
        assert not Path(place.database).exists()


def test_a_postgresql_that_has_no_vectors_is_told(postgres: str) -> None:
    psycopg = importlib.import_module("psycopg")
    with psycopg.connect(postgres, autocommit=True) as conn:
        conn.execute("CREATE DATABASE without_vectors")
        conn.execute("ALTER DATABASE without_vectors SET search_path = public, pg_catalog")
    bare = postgres.replace("/postgres?", "/without_vectors?")
    with psycopg.connect(bare) as conn:  # as it is where pgvector is not installed
        conn.execute("CREATE VIEW pg_available_extensions AS SELECT 'plpgsql' AS name")
    check_place(bare, config=CheckpointConfig(), index=None)
    with pytest.raises(ConfigError, match="install pgvector"):
        check_place(bare, config=CheckpointConfig(), index={"dims": 3})
