"""The project's own source: what is imported, what is not, and under which names it is found."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ormsgpack import Ext, packb

from langgraph_once.config import SerdeConfig
from langgraph_once.serde import OnceSerializer
from langgraph_once.serde.codecs.once1 import Opaque
from langgraph_once.serde.trust.project import Project

SOURCE = """
import sys
sys.modules.setdefault("own_was_imported", sys)
from dataclasses import dataclass

@dataclass
class Note:
    text: str = ""

if True:
    class Late:
        pass

def function():
    pass
"""
NAMES = ("own_notes", "own_pkg", "own_pkg.deep", "venv_notes", "hidden_notes", "foreign_notes")


@pytest.fixture(autouse=True)
def clean() -> Iterator[None]:
    yield
    for name in [*sys.modules]:
        if name in (*NAMES, "own_was_imported") or name.startswith("__tmp"):
            del sys.modules[name]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    own = tmp_path / "own"
    for place, name in (
        ("", "own_notes"),
        ("own_pkg", "__init__"),
        ("own_pkg", "deep"),
        (".venv/lib/site-packages", "venv_notes"),
        (".hidden", "hidden_notes"),
        ("../elsewhere", "foreign_notes"),
    ):
        (own / place).mkdir(parents=True, exist_ok=True)
        (own / place / f"{name}.py").write_text(SOURCE)
    for place in ("", ".venv/lib/site-packages", ".hidden", "../elsewhere"):
        monkeypatch.syspath_prepend(str(own / place))
    return own


def row(module: str, name: str) -> tuple[str, bytes]:
    """Return what upstream writes for a dataclass."""
    return "msgpack", packb(Ext(2, packb([module, name, {"text": "a"}])))


def read(module: str, name: str, *source: Path) -> Any:
    config = SerdeConfig(source=tuple(map(str, source)))
    return OnceSerializer(config).loads_typed(row(module, name))


@pytest.mark.parametrize("module", ["own_notes", "own_pkg", "own_pkg.deep"])
def test_what_the_source_declares_is_imported(folder: Path, module: str) -> None:
    back = read(module, "Note", folder)
    assert (type(back).__module__, back.text) == (module, "a")


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("own_notes", "Missing"),
        ("own_notes", "function"),
        ("own_notes", "dataclass"),
        ("own_notes", "sys"),
        ("own_pkg.missing", "Note"),
        ("venv_notes", "Note"),
        ("hidden_notes", "Note"),
        ("foreign_notes", "Note"),
        ("antigravity", "Note"),
        ("this", "s"),
    ],
)
def test_nothing_else_is_imported(folder: Path, module: str, name: str) -> None:
    before = {*sys.modules}
    assert type(read(module, name, folder)) is Opaque
    assert {*sys.modules} - before == set()


def test_without_a_source_nothing_is_imported(folder: Path) -> None:
    assert type(read("own_notes", "Note", folder / "other")) is Opaque
    assert "own_notes" not in sys.modules


def test_a_class_under_a_condition_is_declared(folder: Path) -> None:
    found = Project([str(folder)]).find("own_notes", ("Late",))
    assert found.__qualname__ == "Late"


def test_source_that_fails_or_is_no_python_has_no_classes(folder: Path) -> None:
    (folder / "own_notes.py").write_text("class Note: pass\nraise SystemError")
    assert Project([str(folder)]).find("own_notes", ("Note",)) is None
    (folder / "own_notes.py").write_text("class Note(:")
    assert Project([str(folder)]).find("own_notes", ("Note",)) is None


def load_as(name: str, file: Path) -> None:
    """Do what the server does with a graph that is named by its file."""
    spec: Any = importlib.util.spec_from_file_location(name, file)
    sys.modules[name] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)


def made_up(file: Path) -> str:
    return str(file).replace("/", "__").replace(".py", "")


@pytest.mark.parametrize("was_in", ["/deps/app", "/"])
def test_a_file_is_found_under_the_name_it_has_now(folder: Path, was_in: str) -> None:
    file = folder / "own_notes.py"
    load_as(made_up(file), file)
    back = read(made_up(Path(was_in) / "own" / "own_notes.py"), "Note", file)
    assert type(back).__module__ == made_up(file)


def test_a_made_up_name_leads_to_no_file_that_is_not_the_projects(folder: Path) -> None:
    file = folder / "../elsewhere/foreign_notes.py"
    load_as(made_up(file.resolve()), file.resolve())
    moved = made_up(Path("/deps/app/elsewhere/foreign_notes.py"))
    assert type(read(moved, "Note", folder)) is Opaque


def test_a_made_up_name_with_no_folder_or_file_of_the_projects_leads_nowhere(folder: Path) -> None:
    file = folder / "own_notes.py"
    load_as(made_up(file), file)
    project = Project([str(folder)])
    name = made_up(Path("/deps/app/own/own_notes.py"))
    assert project.find(name, ("Note",)) is not None
    assert project.find(made_up(Path("/deps/app/own/other.py")), ("Note",)) is None


def test_a_folder_inside_is_owned_but_not_what_is_installed_in_it(folder: Path) -> None:
    project = Project([str(folder)])
    for module in ("own_notes", "venv_notes", "hidden_notes", "foreign_notes"):
        importlib.import_module(module)
    assert [*map(project.owns, ("own_notes", "venv_notes", "hidden_notes", "foreign_notes"))] == [
        True,
        False,
        False,
        False,
    ]
