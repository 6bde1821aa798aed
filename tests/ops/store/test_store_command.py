"""`langgraph-once store` rewrites the values of the store that `langgraph.json` names."""

from __future__ import annotations

import asyncio
import json
from base64 import b64encode
from pathlib import Path

import pytest

from langgraph_once.errors import EncryptionError
from langgraph_once.platform.store import store
from tests.unit_tests.platform.test_store_socket import ADA, MUST, once, project, values

__all__ = ["project"]


async def test_values_are_encrypted_by_one_command_and_made_plain_by_another(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with store() as opened:
        await opened.aput(ADA, "old", {"text": "tea"})
    assert values(project) == ['{"text":"tea"}']
    for variable, value in MUST.items():
        monkeypatch.setenv(variable, value)
    async with store() as opened:
        with pytest.raises(EncryptionError, match="langgraph-once store --to encrypted"):
            await opened.aget(ADA, "old")
        told = [
            await asyncio.to_thread(once, "store", "--to", "encrypted", *more, cwd=project)
            for more in (["--dry-run"], [], [])
        ]
        assert [(each.returncode, each.stdout, each.stderr) for each in told] == [
            (0, "1 items, 1 would be rewritten\n", ""),
            (0, "1 items, 1 rewritten\n", ""),
            (0, "1 items, 0 rewritten\n", ""),
        ]
        found = await opened.aget(ADA, "old")
        assert found is not None
        assert found.value == {"text": "tea"}
        assert "tea" not in values(project)[0]
    wrong = json.dumps({"2026": b64encode(b"w" * 32).decode()})
    left = once("store", "--to", "plain", cwd=project, ONCE_SERDE__ENCRYPTION_KEYS=wrong)
    assert (left.returncode, left.stdout) == (1, "1 items, 0 rewritten\n")
    assert "left as it is: notes.ada, 'old': the value does not open" in left.stderr
    assert once("store", "--to", "plain", cwd=project).returncode == 0
    assert json.loads(values(project)[0]) == {"text": "tea"}


def test_the_command_needs_a_key(project: Path) -> None:
    run = once("store", "--to", "plain", cwd=project)
    assert (run.returncode, "there is no key" in run.stderr) == (1, True)
