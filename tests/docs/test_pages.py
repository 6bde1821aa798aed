"""What the pages name is there: links, commands, settings, targets of make."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import metadata

import click
import jsonschema_rs
import pytest

from langgraph_once import extensions
from langgraph_once.__main__ import commands as ours
from langgraph_once.commands.settings_reference import json_schema, variables
from langgraph_once.serde.trust import TABLE, May, Standing
from tests.docs.reference import PAGES
from tests.docs.snippets import ROOT, pages, snippets

LINK = re.compile(r"(?<!!)\[[^\]]*\]\((?!https?:)([^)#]*)(#[^)]*)?\)|!\[[^\]]*\]\(([^)]+)\)")
PLAIN = {**os.environ, "NO_COLOR": "1"}
SHOWN = ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")


@pytest.mark.parametrize("page", SHOWN)
def test_links_lead_somewhere(page: str) -> None:
    for target, anchor, picture in LINK.findall((ROOT / page).read_text()):
        found = ROOT / (target or picture or page)
        assert found.exists(), found
        if anchor:
            titles = re.findall(r"^#+ (.+)$", found.read_text(), re.MULTILINE)
            assert anchor[1:] in {slug(title) for title in titles}


def test_the_site_is_built_without_a_warning() -> None:
    command = [sys.executable, "-m", "zensical", "build", "--strict", "--clean"]
    done = subprocess.run(command, cwd=ROOT, env=PLAIN, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_site_has_every_page() -> None:
    nav = json.dumps(tomllib.loads((ROOT / "zensical.toml").read_text())["project"]["nav"])
    assert [page for page in pages()[1:] if f'"{page.removeprefix("docs/")}"' not in nav] == []


@pytest.mark.parametrize("page", PAGES)
def test_generated_pages_are_up_to_date(page: str) -> None:
    assert (ROOT / "docs" / page).read_text() == PAGES[page](), "run `make docs`"


def test_the_table_of_trust_is_the_one_that_decides_wherever_it_stands() -> None:
    pages = [(ROOT / page).read_text() for page in ("SECURITY.md", "docs/security.md")]
    (table,) = {
        re.findall(r"^\| \| `strict`.*?\n(?=\n)", page, re.MULTILINE | re.DOTALL)[0]
        for page in pages
    }
    rows = [line.strip("| ").split(" | ") for line in table.splitlines()[2:]]
    words = {"yes": May.ALL, "imported as": May.ALL, "data classes": May.DATA}
    words |= {"stand-in": May.NOTHING, "not imported": May.NOTHING}
    for standing, (_, *cells) in zip(Standing, rows, strict=True):
        said = [next(words[word] for word in words if cell.startswith(word)) for cell in cells]
        assert said == [TABLE[column][standing] for column in ("strict", "safe", "open")]


def test_the_readme_is_read_in_two_minutes() -> None:
    assert len((ROOT / "README.md").read_text().splitlines()) <= 150


def test_all_pages_are_read_in_an_afternoon() -> None:
    lengths = {page: len((ROOT / page).read_text().splitlines()) for page in pages()[1:]}
    of_users = {page: lines for page, lines in lengths.items() if page != "docs/architecture.md"}
    assert len(of_users) <= 20
    assert max(of_users.values()) <= 300
    assert sum(of_users.values()) <= 3_000


def test_the_architecture_names_every_file() -> None:
    """By its path or name, or without `.py` in a drawing."""
    words = set(re.findall(r"\w+", (ROOT / "docs/architecture.md").read_text()))
    files = [f for f in (ROOT / "plugin").rglob("*.py") if not f.stem.startswith("__")]
    assert [str(f.relative_to(ROOT)) for f in files if f.stem not in words] == []


def test_commands_are_known() -> None:
    """With their options; nothing of them runs."""
    absent = extensions.absent("command")
    shown = [(page, words) for page, words in of_ours() if words[0] not in absent]
    assert shown
    for page, words in shown:
        command: click.Command = ours
        context = click.Context(ours)
        while isinstance(command, click.Group) and words:
            name = words.pop(0)
            found = command.get_command(context, name)
            assert found is not None, f"{page}: langgraph-once {name}"
            command = found
        known = {
            option for param in command.params for option in (*param.opts, *param.secondary_opts)
        }
        asked = {word.partition("=")[0] for word in words if word.startswith("-")}
        assert asked <= known | {"--help"}, f"{page}: {command.name} {asked - known}"


def of_ours() -> Iterator[tuple[str, list[str]]]:
    for page in (*SHOWN, *pages()[1:]):
        text = (ROOT / page).read_text()
        blocks = "\n".join(snippet.text for snippet in snippets(page))
        for line in (*re.findall(r"`(langgraph-once [^`]+)`", text), *blocks.splitlines()):
            if line.startswith("langgraph-once "):
                yield page, shlex.split(line.partition("#")[0])[1:]


def test_targets_of_make_are_there() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for page in (*SHOWN, *pages()[1:]):
        named = set(re.findall(r"(?:`|^)make ([a-z-]+)", (ROOT / page).read_text(), re.MULTILINE))
        assert named <= targets, page


def test_paths_lead_somewhere() -> None:
    for page in (*SHOWN, *pages()[1:]):
        if page != "CHANGELOG.md":  # which names what there was
            text = (ROOT / page).read_text()
            for path in re.findall(r"`((?:plugin|tests|bench|demo|graphs|docs)/[\w/.-]+)`", text):
                assert not is_here(path) or (ROOT / path).exists(), f"{page}: {path}"


def is_here(path: str) -> bool:
    """Whether a path is of the mission, or operations are not deleted."""
    rooms = ("plugin/langgraph_once_ops", "tests/ops")
    return all((ROOT / room).exists() for room in rooms if path.startswith(room))


def test_settings_are_known() -> None:
    known = {variable.name for variable in variables()}
    for page in (*SHOWN, *pages()[1:]):
        named = set(re.findall(r"\bONCE_[A-Z_]+[A-Z]\b", (ROOT / page).read_text()))
        assert {name for name in named if "__" in name} <= known, page


def test_what_stands_in_langgraph_json_is_valid() -> None:
    shown = [s.text for page in pages() for s in snippets(page, "json")]
    configs = [json.loads(text) for text in shown if '"dependencies"' in text]
    assert configs
    for config in configs:
        jsonschema_rs.validate(json_schema(), config)


def slug(title: str) -> str:
    """The anchor of a heading, as GitHub and the site make it."""
    return re.sub(r"[^\w -]", "", title.lower()).strip().replace(" ", "-")


def test_no_page_installs_this_package_from_an_index() -> None:
    """None has it: a line names a clone, a wheel or a commit."""
    tracked = subprocess.check_output(["git", "ls-files", "-z"], cwd=ROOT, text=True).split("\0")
    for name in tracked:
        if name.startswith("tests/") or not name.endswith((".md", ".py", ".toml", ".example")):
            continue
        for line in (ROOT / name).read_text().splitlines():
            by_name = re.search(r"(?<![\w/.-])langgraph-once(\[[\w,-]+\])(?! @ )", line)
            installs = re.search(r"(pip install|uv add)\b[^`#]*[\s\"'](?=langgraph-once\b)", line)
            assert not installs, f"{name}: {line}"
            assert not by_name or name == "pyproject.toml", f"{name}: {line}"


def test_a_package_index_is_shown_no_link_that_leads_nowhere() -> None:
    text = str(metadata("langgraph-once").json["description"])
    assert "# langgraph-once" in text
    assert LINK.findall(text) == []
