"""No row calls a function, or the constructor of a class that is no data, under any setting."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any, Literal

import pytest
from ormsgpack import Ext, packb

from langgraph_once.config import SerdeConfig
from langgraph_once.errors import SerdeError
from langgraph_once.serde import OnceSerializer
from langgraph_once.serde.format import head_bytes, object_of
from langgraph_once.serde.registry import FORMS

Enforcement = Literal["safe", "strict", "warn", "open"]
ENFORCEMENTS: tuple[Enforcement, ...] = ("safe", "strict", "warn", "open")
TARGETS = (
    ("subprocess", "Popen"),
    ("subprocess", "run"),
    ("os", "system"),
    ("builtins", "eval"),
    ("builtins", "open"),
    ("re", "enum.bltns.compile"),
    ("pathlib", "Path.touch"),
    ("tests.unit_tests.serde.hostile.test_calls", "Touching"),
    ("tests.unit_tests.serde.hostile.test_calls", "touching"),
    ("tests.unit_tests.serde.hostile.test_calls", "json.codecs.builtins.eval"),
)
EXTRAS: tuple[tuple[Any, ...], ...] = ((), (None,), ([],), (0,))
CALLED: list[Any] = []


class Touching:
    """No data: a class with a constructor that does something."""

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        CALLED.append((args, kwargs))
        return object.__new__(cls)


def touching(*args: Any, **kwargs: Any) -> None:
    CALLED.append((args, kwargs))


def rows(module: str, name: str, proof: Path) -> dict[str, tuple[str, bytes]]:
    """Return rows that name a target with arguments that make it write a file."""
    command = ["touch", str(proof)]
    last = name.rpartition(".")[2]
    envelope = {"lc": 2, "type": "constructor", "id": [*module.split("."), *name.split(".")]}
    found = {
        "json": ("json", json.dumps({**envelope, "args": [command], "kwargs": {}}).encode()),
        "json method": (
            "json",
            json.dumps({**envelope, "method": last, "args": [command]}).encode(),
        ),
    }
    for code, argument in (
        (0, command),
        (0, f"touch {proof}"),
        (1, [command]),
        (2, {"args": command}),
        (4, {"args": command}),
        (5, {"args": command}),
    ):
        content = packb([module, name, argument, "model_validate_json"])
        found[f"msgpack {code} {type(argument).__name__}"] = ("msgpack", packb(Ext(code, content)))
    found["msgpack method"] = (
        "msgpack",
        packb(Ext(3, packb([module, name.rpartition(".")[0] or name, command, last]))),
    )
    for form in (*(form.name for form in FORMS), "named", "stock", "hashed"):
        for number, data in enumerate((command, {"args": command}, [command, {}], None)):
            for extra in EXTRAS:
                head = head_bytes(form, f"{module}:{name}", 0, *extra)
                content = packb(object_of(head, data))
                found[f"once2 {form} {number} {extra}"] = ("once2", content)
    return found


@pytest.mark.parametrize("enforcement", ENFORCEMENTS)
@pytest.mark.parametrize(("module", "name"), TARGETS)
def test_reading_a_hostile_row_calls_nothing(
    module: str, name: str, enforcement: Enforcement, tmp_path: Path
) -> None:
    proof = tmp_path / "proof"
    serde = OnceSerializer(SerdeConfig(enforcement=enforcement))
    CALLED.clear()
    for kind, row in rows(module, name, proof).items():
        try:
            back = serde.loads_typed(row)
        except SerdeError:
            continue
        finally:
            assert not proof.exists(), kind
            assert CALLED == [], kind
        assert not isinstance(back, subprocess.Popen | subprocess.CompletedProcess), kind
