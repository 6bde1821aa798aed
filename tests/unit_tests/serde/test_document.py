"""docs/values.md says what is so: its examples run, with its settings."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from pydantic import SecretStr

from langgraph_once.config import SerdeConfig
from langgraph_once.serde import OnceSerializer

TEXT = (Path(__file__).parents[3] / "docs" / "values.md").read_text()
BLOCKS = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
SETTINGS = dict(re.findall(r"^ONCE_SERDE__(\w+)=(.*)$", TEXT, re.MULTILINE))


@pytest.fixture(name="myapp")
def _myapp(monkeypatch: pytest.MonkeyPatch) -> Any:
    module: Any = ModuleType("myapp")
    monkeypatch.setitem(sys.modules, "myapp", module)
    return module


def run(module: Any, *words: str) -> None:
    """Run the examples that have these words in them."""
    (block,) = (block for block in BLOCKS if all(word in block for word in words))
    exec(block, module.__dict__)


def setting(name: str) -> Any:
    text = SETTINGS[name].strip("'")
    return json.loads(text) if text[0] in "[{" else text


def test_an_old_invoice_is_read(myapp: Any) -> None:
    run(myapp, "upgrade_invoice")
    reader = OnceSerializer(
        SerdeConfig(allowed_types=("myapp:Invoice",), upgrades=setting("UPGRADES"))
    )
    new = myapp.Invoice
    for version, fields in ((0, {"number": "7", "total": 1.5}), (1, {"number": "7", "cents": 150})):
        old = object.__new__(new)
        old.__dict__.update(fields)
        new.__once_version__ = version
        row = OnceSerializer(SerdeConfig(allowed_types=("myapp:Invoice",))).dumps_typed(old)
        new.__once_version__ = 2
        assert reader.loads_typed(row) == new("7", 150, "EUR")


def test_shapes_and_handles_come_back(myapp: Any) -> None:
    run(myapp, "SubclassAdapter")
    myapp.Ball = type("Ball", (myapp.Shape,), {"__module__": "myapp"})
    once = OnceSerializer(
        SerdeConfig(adapters=setting("ADAPTERS"), allowed_types=("myapp:Shape", "myapp:Ball"))
    )
    ball, handle = once.loads_typed(once.dumps_typed([myapp.Ball(3), myapp.Handle(4)]))
    assert (type(ball), ball.size, handle.number) == (myapp.Ball, 3, 4)


def test_a_storable_class_comes_back_under_strict(myapp: Any) -> None:
    run(myapp, "@storable")
    strict = OnceSerializer(SerdeConfig(enforcement="strict"))
    receipt = myapp.Receipt("7", 150)
    assert strict.loads_typed(strict.dumps_typed(receipt)) == receipt


def test_the_audit_prints_the_setting(myapp: Any, capsys: pytest.CaptureFixture[str]) -> None:
    run(myapp, "upgrade_invoice")
    run(myapp, "Audit()")
    assert '"allowed_types": ["myapp:Invoice"]' in capsys.readouterr().out


def test_the_wrapped_serializer_reads_what_it_writes(myapp: Any) -> None:
    pytest.importorskip("Crypto")
    run(myapp, "EncryptedSerializer")
    bare = OnceSerializer(upstream_aes_key=SecretStr("16, 24 or 32 b.."))
    row = myapp.serde.dumps_typed(["the same"] * 50)
    assert row[0] == "once2.zstd+aes"
    assert myapp.serde.loads_typed(row) == bare.loads_typed(row) == ["the same"] * 50
    before = bare.dumps_typed(["the same"] * 50)
    assert myapp.serde.loads_typed(before) == ["the same"] * 50
