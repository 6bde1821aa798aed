"""What the source of a project imports is found in its text, which runs nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from blockbuster import blockbuster_ctx

from langgraph_once.serde.lookup import imported_packages

SOURCE = '''
"""import in_docstring_is_found_too"""
import plain, second as s; import third
import dotted.deep as d
from origin.deep import (a,
    b)
from \\
    continued import c
if True:
    import conditional
try: import inline
except ImportError: pass
def function():
    import late
    from later.deep import x
    importlib.import_module("called.deep")
    __import__('built')
# import commented
text = "import quoted"
value = imported
'''


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "graph.py").write_text(SOURCE)
    return tmp_path


def test_imports_are_found_wherever_they_stand(folder: Path) -> None:
    found = imported_packages([str(folder / "app")])
    assert found >= {
        *("plain", "second", "third", "dotted", "origin", "continued", "conditional", "inline"),
        *("late", "later", "called", "built"),
    }
    assert found.isdisjoint({"commented", "quoted", "imported", "s", "d", "a", "b", "deep", "c"})


def test_a_file_is_looked_at_alone(folder: Path) -> None:
    (folder / "app" / "other.py").write_text("import elsewhere")
    assert "elsewhere" not in imported_packages([str(folder / "app" / "graph.py")])
    assert imported_packages(()) == frozenset()
    assert imported_packages([str(folder / "gone"), str(folder / "gone.py")]) == frozenset()


def test_installed_and_hidden_folders_are_not_looked_at(folder: Path) -> None:
    for place in (".venv/lib", "env/site-packages", "node_modules"):
        (folder / place).mkdir(parents=True)
        (folder / place / "x.py").write_text("import foreign")
    assert "foreign" not in imported_packages([str(folder)])


def test_a_package_that_imports_from_itself_counts(folder: Path) -> None:
    (folder / "mine" / "deep").mkdir(parents=True)
    for place in ("mine", "mine/deep"):
        (folder / place / "__init__.py").write_text("")
    (folder / "mine" / "deep" / "x.py").write_text("def f():\n    from . import y")
    assert "mine" in imported_packages([str(folder)])


async def test_links_are_followed_and_the_event_loop_is_not_blocked(folder: Path) -> None:
    (folder / "link").symlink_to("app")
    (folder / "app" / "round").symlink_to(folder)
    with blockbuster_ctx():
        found = imported_packages([str(folder / "link")])
    assert "late" in found


def test_large_files_and_those_that_are_no_text_are_no_trouble(folder: Path) -> None:
    (folder / "data.py").write_bytes(b"import large\n" + b"x" * 3_000_000)
    (folder / "odd.py").write_bytes(b"\xff\xfe\nimport odd\n")
    found = imported_packages([str(folder)])
    assert "odd" in found
    assert "large" not in found
