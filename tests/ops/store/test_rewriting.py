"""All values of a store, encrypted or made plain, beside who reads and writes them."""

from __future__ import annotations

from typing import Any

from pydantic import SecretStr

from langgraph_once_ops.encryption import Rewritten, rewrite
from tests.unit_tests.store.conftest import KEYS, OLD, Place, serializer
from tests.unit_tests.store.test_store import ADA


def rewritten(
    place: Place,
    keys: dict[str, SecretStr] = KEYS,
    to: dict[str, SecretStr] = KEYS,
    *,
    is_dry: bool = False,
) -> Rewritten:
    """Rewrite all rows: read with `keys`, write with `to`."""
    return rewrite(
        place.database,
        reading=serializer(keys),
        writing=serializer(to),
        schema=place.config.schema,
        is_dry=is_dry,
    )


async def test_all_rows_are_encrypted_or_made_plain_in_place(place: Place, index: Any) -> None:
    async with place.opened({}, index=index) as store:
        for n in range(450):
            await store.aput(ADA, str(n), {"text": f"drawer {n}"}, ttl=1000)
    before = place.execute("SELECT key, created_at, expires_at FROM store ORDER BY key")
    dry = rewritten(place, is_dry=True)
    assert (dry.items, dry.rows, dry.troubles) == (450, 450, [])
    assert "drawer 7" in place.rows()
    done = rewritten(place, {}, OLD)
    assert (done.rows, done.changed) == (450, 0)
    assert "drawer" not in place.rows()
    assert rewritten(place, KEYS, KEYS).rows == 450  # the newest key
    assert rewritten(place, KEYS, KEYS).rows == 0
    async with place.opened(index=index, encryption="required") as store:
        query = index and "drawer"
        found = await store.asearch(ADA, query=query, limit=1000, refresh_ttl=False)
        assert len(found) == 450
    assert (
        rewritten(place, {}, {})
        .troubles[0]
        .startswith("memories.ada, '0': the value needs the key")
    )
    assert rewritten(place, KEYS, {}).rows == 450
    async with place.opened({}, index=index) as store:
        found = await store.asearch(ADA, filter={"text": "drawer 7"}, refresh_ttl=False)
        assert [each.key for each in found] == ["7"]
    assert place.execute("SELECT key, created_at, expires_at FROM store ORDER BY key") == before
