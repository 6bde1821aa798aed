from __future__ import annotations

import importlib
import sys
from importlib import metadata
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langgraph_once.serde.trust import module_owner as owners
from langgraph_once.serde.trust.module_owner import owner_of
from tests.forked import run_python

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.mark.parametrize("module", ["os", "os.path", "json.decoder", "_thread", "collections.abc"])
def test_the_standard_library_is_named(module: str) -> None:
    assert owner_of(module) == "of the standard library"


@pytest.mark.parametrize(
    ("module", "package"),
    [
        ("pydantic.main", "pydantic"),
        ("langchain_core.messages.ai", "langchain-core"),
        ("ormsgpack", "ormsgpack"),
        # Packages that share a folder are told apart by what they bring in it.
        ("langgraph.types", "langgraph"),
        ("langgraph.checkpoint.sqlite.aio", "langgraph-checkpoint-sqlite"),
        ("langgraph.checkpoint.base", "langgraph-checkpoint"),
        # Gone since: of the nearest that is there.
        ("langgraph.checkpoint.sqlite.no.longer", "langgraph-checkpoint-sqlite"),
    ],
)
def test_a_package_is_named_as_it_is_installed(module: str, package: str) -> None:
    assert owner_of(module) == f"of the package {package}"


def test_what_may_be_of_many_packages_names_them() -> None:
    words = owner_of("langgraph.no_such_part")
    assert words is not None
    assert words.startswith("of one of the packages langgraph, langgraph-checkpoint, ")


def test_what_is_imported_from_elsewhere_is_the_projects(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert owner_of(__name__) == "of this project"
    (tmp_path / "shop_of_owners.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    importlib.import_module("shop_of_owners")
    assert owner_of("shop_of_owners.not_imported") == "of this project"


def test_a_graph_that_the_server_named_by_its_path_is_the_projects(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    module = ModuleType(name := f"{tmp_path}__agent".replace("/", "__"))
    module.__file__ = str(tmp_path / "agent.py")
    monkeypatch.setitem(sys.modules, name, module)
    assert owner_of(name) == "of this project"
    monkeypatch.setitem(sys.modules, name := f"{tmp_path}/agent.py", module)
    assert owner_of(name) == "of this project"


@pytest.mark.parametrize("module", ["", ".", "..", "a..b", "no_such.module", "a\nb", "/etc/x", "Ω"])
def test_of_what_is_not_known_nothing_is_said(module: str) -> None:
    assert owner_of(module) is None


@given(st.text(max_size=40))
def test_the_owner_of_a_module_can_be_asked_for_with_any_name(module: str) -> None:
    before = set(sys.modules)
    words = owner_of(module)
    assert words is None or words.startswith("of ")
    assert set(sys.modules) == before


class Lazy(ModuleType):
    """A module that does something when it is asked for what it does not have."""

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(name)


@pytest.mark.parametrize("loaded", [None, 7, Lazy("lazy"), ModuleType("bare")])
def test_whatever_stands_for_a_module_is_let_be(
    monkeypatch: pytest.MonkeyPatch, loaded: Any
) -> None:
    monkeypatch.setitem(sys.modules, "some_lazy", loaded)
    assert owner_of("some_lazy.part") is None


@pytest.fixture(name="broken")
def _broken(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    def distributions() -> Any:
        raise OSError("half of it is gone")

    owners._packages.cache_clear()
    monkeypatch.setattr(metadata, "distributions", distributions)
    yield
    owners._packages.cache_clear()


@pytest.mark.usefixtures("broken")
def test_a_broken_installation_is_no_error() -> None:
    assert owner_of("pydantic.main") is None
    assert owner_of("os") == "of the standard library"


def test_a_package_that_lists_only_its_modules_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    info = tmp_path / "old_one-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: Old.One\nVersion: 1.0\n")
    (info / "top_level.txt").write_text("old_one\n_old_one\n")
    monkeypatch.syspath_prepend(tmp_path)
    owners._packages.cache_clear()
    assert owner_of("_old_one.part") == "of the package Old.One"
    owners._packages.cache_clear()


def test_nothing_is_looked_up_before_it_is_asked_for() -> None:
    program = (
        "import langgraph_once.serde, langgraph_once.serde.trust.module_owner as owners;"
        "assert not owners._packages.cache_info().currsize"
    )
    assert run_python("-c", program).returncode == 0
