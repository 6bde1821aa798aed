"""The project's own source: what is imported, what is not, and under which names it is found."""

from __future__ import annotations

import ast
import importlib.util
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ormsgpack import Ext, packb

from langgraph_once.config import SerdeConfig
from langgraph_once.serde import OnceSerializer
from langgraph_once.serde.codecs.once1 import Opaque
from langgraph_once.serde.trust.project import Project
from langgraph_once.serde.trust.source_file import SourceFile, SourceFiles

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
    """Read such a row in a project whose graph imports `NAMES`."""
    graph = source[0].parent / "graph.py"
    graph.write_text("".join(f"import {each}\n" for each in NAMES))
    source = (*source, graph)
    config = SerdeConfig(source=tuple(map(str, source)))
    return OnceSerializer(config).loads_typed(row(module, name))


@pytest.mark.parametrize("module", ["own_notes", "own_pkg", "own_pkg.deep"])
def test_a_class_that_the_projects_source_declares_is_imported(folder: Path, module: str) -> None:
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


IMPORTS = {
    "import own_pkg.deep": True,
    "from own_pkg.deep import Note": True,
    "from own_pkg import deep": True,
    "from own_pkg import *": False,
    "import own_pkg": False,
    "import importlib\ndeep = importlib.import_module('own_pkg.deep')": True,
    "def node(state):\n    if state:\n        from own_pkg.deep import Note": True,
    "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import own_pkg.deep as deep": True,
    "class Node:\n    async def run(self):\n        try:\n            pass\n"
    "        except ValueError:\n            from own_pkg import deep": True,
    "match 1:\n    case 1:\n        import own_pkg.deep": True,
    "import own_notes": True,  # which imports it below
}


@pytest.mark.parametrize(("source", "is_reached"), IMPORTS.items())
def test_only_what_the_graphs_import_is_imported(
    folder: Path, source: str, is_reached: bool
) -> None:
    (folder / "own_notes.py").write_text("def late():\n    import own_pkg.deep")
    graph = folder / "graph.py"
    graph.write_text(source)
    project = Project([str(folder), str(graph)])
    assert (project.find("own_pkg.deep", ("Note",)) is not None) is is_reached
    assert ("own_pkg.deep" in sys.modules) is is_reached


@pytest.mark.parametrize(
    "source", ["from . import deep", "from .deep import x", "from ..own_pkg.deep import Note"]
)
def test_relative_imports_of_a_graph_are_followed(folder: Path, source: str) -> None:
    graph = folder / "own_pkg" / "graph.py"
    graph.write_text(source)
    project = Project([str(folder), str(graph)])
    assert project.find("own_pkg.deep", ("Note",)) is not None


def test_without_graphs_the_imports_of_what_is_imported_count(folder: Path) -> None:
    (folder / "own_notes.py").write_text("def late():\n    import own_pkg.deep")
    project = Project([str(folder)])
    assert project.find("own_pkg.deep", ("Note",)) is None
    importlib.import_module("own_notes")
    assert project.find("own_pkg.deep", ("Note",)) is not None


def test_what_is_imported_and_reached_by_no_graph_is_found_by_no_new_process(folder: Path) -> None:
    graph = folder / "graph.py"
    graph.write_text("import own_notes")
    project = Project([str(folder), str(graph)])
    for module in ("own_notes", "own_pkg.deep", "foreign_notes"):
        importlib.import_module(module)
    reached = {name: project.reaches(name) for name in ("own_notes", "own_pkg.deep", "__main__")}
    assert reached == {"own_notes": True, "own_pkg.deep": False, "__main__": True}


@pytest.mark.parametrize(
    "module",
    ["own_pkg./deep", "own_pkg.", ".own_pkg", "own_pkg..deep", "own_pkg.\0", "own_pkg.a\\b"],
)
def test_what_no_module_is_called_imports_no_package(folder: Path, module: str) -> None:
    read(module, "Note", folder)
    for enforcement in ("warn", "open"):
        config = SerdeConfig(enforcement=enforcement, source=(str(folder),))
        OnceSerializer(config).loads_typed(row(module, "Note"))
    assert "own_pkg" not in sys.modules


DECLARATIONS = {
    "if True:\n    class Late: pass": True,
    "try:\n    import missing\nexcept ImportError:\n    class Late: pass": True,
    "with open(__file__):\n    class Late: pass": True,
    "from collections import namedtuple\nLate = namedtuple('Late', 'a')": True,
    "from enum import Enum\nLate: type = Enum(value='Late', names='A')": True,
    "Late = type('Late', (), {})": True,
    "Late = {}": False,
    "Late = dict(a=1)": False,
    "def make():\n    class Late: pass": False,
    "class Outer:\n    class Late: pass": False,
}


@pytest.mark.parametrize(("source", "is_declared"), DECLARATIONS.items())
def test_a_module_is_imported_for_a_class_that_it_declares(
    folder: Path, source: str, is_declared: bool
) -> None:
    file = folder / "own_notes.py"
    file.write_text(source)
    found = Project([str(folder), str(file)]).find("own_notes", ("Late",))
    assert (found is not None) is is_declared
    assert ("own_notes" in sys.modules) is is_declared


def test_a_file_is_parsed_once_for_each_version(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parsed: list[bytes] = []

    def parse(source: bytes) -> ast.Module:
        parsed.append(source)
        return real(source)

    real = ast.parse
    project = Project([str(folder), str(folder / "own_notes.py")])
    with monkeypatch.context() as patch:  # pytest parses, too, to tell what failed
        patch.setattr(ast, "parse", parse)
        found = [project.find("own_notes", (f"Missing{number}",)) for number in range(50)]
        before = len(parsed)
        (folder / "own_notes.py").write_text("class Missing7: pass")
        late = project.find("own_notes", ("Missing7",))
    assert {*found} == {None}
    assert late is not None
    assert (before, len(parsed)) == (1, 2)


def test_of_a_file_of_data_no_expression_is_looked_at(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "own_notes.py").write_text("import own_pkg\nDATA = [[1], [2]]\nclass Note: pass")
    with monkeypatch.context() as patch:
        patch.setattr(ast, "walk", None)
        found = SourceFiles().read(folder / "own_notes.py")
    assert found == SourceFile(((0, "own_pkg"),), frozenset({"Note"}))


def test_a_file_of_more_than_two_megabytes_is_not_parsed(folder: Path) -> None:
    file = folder / "own_notes.py"
    for size, classes in ((1 << 20, {"Note"}), (1 << 21, set())):
        file.write_text("class Note: pass\n#" + "a" * size)
        assert SourceFiles().read(file).classes == classes


def test_names_made_of_paths_cost_no_look_at_all_modules_each(folder: Path) -> None:
    project = Project([str(folder)])
    project.find("__first__name", ("Note",))
    calls = Counter[str]()
    sys.setprofile(lambda frame, event, _: calls.update([event]))
    try:
        found = [project.find(f"__missing__name{number}", ("Note",)) for number in range(20)]
    finally:
        sys.setprofile(None)
    assert {*found} == {None}
    assert 20 < calls["call"] < 10 * len(sys.modules)


def test_source_that_fails_or_is_no_python_has_no_classes(folder: Path) -> None:
    file = folder / "own_notes.py"
    for source in ("class Note: pass\nraise SystemError", "class Note(:", "class Note: pass\n\0"):
        file.write_text(source)
        assert Project([str(folder), str(file)]).find("own_notes", ("Note",)) is None


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
