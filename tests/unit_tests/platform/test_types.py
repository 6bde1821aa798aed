"""`langgraph-once types`: what the database and the code hold, and the setting that it needs."""

from __future__ import annotations

import json
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.sqlite import SqliteSaver
from ormsgpack import packb

from langgraph_once.platform.types_report import TypeFinding, TypesReport, as_text
from langgraph_once.serde.format import head_bytes, object_of
from tests.unit_tests.platform.types_project import ENV, KEY, SECRET, make, once

LISTED = '["foreign:Client", "late_one:Late"]'


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make(tmp_path_factory.mktemp("types"))


@pytest.fixture(scope="module")
def types(project: Path) -> dict[str, Any]:
    """What is found with no setting but the keys."""
    return found(project)


@pytest.fixture(scope="module")
def printed(project: Path) -> subprocess.CompletedProcess[str]:
    """What is said to a person, and that it leaves no trace in the database."""
    before = files(project)
    assert list(before) == ["once.sqlite"]
    run = once(project, "types", **ENV)
    assert files(project) == before
    return run


def found(project: Path, **env: str) -> dict[str, Any]:
    """Return the types by their names, and under "" all else."""
    run = once(project, "types", "--json", **{**ENV, **env})
    assert (run.returncode, run.stderr) == (0, "noise at import\n")
    report: dict[str, Any] = json.loads(run.stdout)
    return {each["name"]: each for each in report.pop("types")} | {"": report}


def test_each_type_is_found_with_how_it_stands_and_why(types: dict[str, Any]) -> None:
    standings = {name: each["standing"] for name, each in types.items() if name}
    assert {name: word for name, word in standings.items() if word != "always"} == {
        "__agent:Colour": "known",
        "__agent:Plan": "known",
        "__agent:Step": "known",
        "__agent:Removed": "lost",
        "__main__:local.<locals>.Local": "lost",
        "__main__:Local": "lost",  # as upstream names it
        "foreign:Usage": "known",
        "foreign:Client": "line",
        "late_one:Late": "line",
    }
    assert "runs code" in types["foreign:Client"]["reason"]
    assert "imported" in types["late_one:Late"]["reason"]
    assert types["__agent:Removed"]["reason"].startswith("gone")
    assert types["__main__:local.<locals>.Local"]["reason"].startswith("made in a function")
    assert types["late_one:Late"]["owner"] == "of the package foreign-things"
    assert types["__agent:Removed"]["owner"] == "of this project"
    assert types[""]["allowed_types"] == json.loads(LISTED)


def test_types_tells_where_a_type_was_met_first_and_how_often(types: dict[str, Any]) -> None:
    step = types["__agent:Step"]
    assert (step["thread_id"], step["channel"]) == ("old-step", "anything")
    assert step["in_code"]
    removed = types["__agent:Removed"]
    # A checkpoint and a pending write, of a run in each of the five ways to write.
    assert (removed["channel"], removed["values"], removed["in_code"]) == ("anything", 10, False)


def test_every_value_is_looked_into_and_none_is_shown(
    printed: subprocess.CompletedProcess[str],
) -> None:
    assert "not looked into" not in printed.stdout
    for secret in (SECRET, KEY):
        assert secret not in printed.stdout
        assert secret not in printed.stderr


def test_types_counts_values_that_cannot_be_decrypted(project: Path) -> None:
    file = f"file:{project}/once.sqlite?immutable=1"
    with closing(sqlite3.connect(file, uri=True)) as conn:
        tags = conn.execute("SELECT type FROM checkpoints UNION ALL SELECT type FROM writes")
        sealed = sum("aesgcm" in tag for (tag,) in tags)
    types = found(project, ONCE_SERDE__ENCRYPTION_KEYS="{}")
    assert sealed
    assert types[""]["unread"] == {"EncryptionError": sealed}


def test_the_setting_is_printed_in_both_forms_and_helps(
    project: Path, printed: subprocess.CompletedProcess[str]
) -> None:
    line = f"\"allowed_types\": {LISTED}\nONCE_SERDE__ALLOWED_TYPES='{LISTED}'\n"
    assert line in printed.stdout
    types = found(project, ONCE_SERDE__ALLOWED_TYPES=LISTED)
    assert types["foreign:Client"]["standing"] == types["late_one:Late"]["standing"] == "listed"
    assert types[""]["allowed_types"] is None


def test_what_is_listed_stays_in_the_setting(project: Path) -> None:
    types = found(project, ONCE_SERDE__ALLOWED_TYPES='["late_one:Late"]')
    assert types[""]["allowed_types"] == ["late_one:Late", "foreign:Client"]


def test_under_strict_everything_that_is_not_listed_needs_a_line(project: Path) -> None:
    types = found(project, ONCE_SERDE__ENFORCEMENT="strict")
    needy = {name for name, each in types.items() if each.get("standing") == "line"}
    assert needy >= {"foreign:Usage", "foreign:Client", "late_one:Late", "__agent:Step"}


@pytest.mark.parametrize("enforcement", ["warn", "open"])
def test_a_lax_enforcement_imports_nothing_that_a_row_names(
    project: Path, enforcement: str
) -> None:
    late = project.parent / "site-packages" / "late_one.py"
    source = late.read_text()
    late.write_text(f"{source}\nraise SystemExit('imported')\n")
    try:
        types = found(project, ONCE_SERDE__ENFORCEMENT=enforcement)
    finally:
        late.write_text(source)
    assert types["late_one:Late"]["standing"] == "line"


def test_check_fails_a_build_only_if_something_needs_attention(
    project: Path, printed: subprocess.CompletedProcess[str]
) -> None:
    assert once(project, "types", "--check", **ENV).returncode == 1
    assert printed.returncode == 0
    empty = {**ENV, "ONCE_CHECKPOINT__PATH": "none.sqlite"}
    run = once(project, "types", "--check", **empty)
    assert run.returncode == 0
    assert "no database yet" in run.stdout
    assert run.stdout.endswith("Nothing to do: no type needs a line.\n")
    assert not (project / "none.sqlite").exists()


def test_a_database_without_tables_is_none_yet(project: Path) -> None:
    empty = {**ENV, "ONCE_CHECKPOINT__PATH": "empty.sqlite"}
    (project / "empty.sqlite").touch()
    try:
        run = once(project, "types", **empty)
    finally:
        (project / "empty.sqlite").unlink()
    assert "no database yet" in run.stdout
    assert run.returncode == 0


def files(project: Path) -> dict[str, bytes]:
    return {
        path.name: path.read_bytes()
        for path in project.iterdir()
        if "sqlite" in path.name and not path.name.endswith("-shm")
    }


def test_types_reads_what_a_running_server_has_stored(project: Path) -> None:
    conn = sqlite3.connect(project / "once.sqlite")
    try:
        conn.execute("UPDATE writes SET thread_id = 'held' WHERE thread_id = 'plain-late'")
        conn.execute(
            "INSERT INTO checkpoints (thread_id, checkpoint_id, type, checkpoint, metadata)"
            " VALUES ('run', '1', 'pickle', X'80', '{}')"
        )
        conn.commit()
        before = files(project)
        assert "once.sqlite-wal" in before
        conn.execute("UPDATE writes SET thread_id = 'plain-late' WHERE thread_id = 'held'")
        assert found(project)[""]["unread"] == {"pickle, which is refused": 1}
        assert files(project) == before
    finally:
        conn.rollback()
        conn.execute("DELETE FROM checkpoints WHERE thread_id = 'run'")
        conn.execute("UPDATE writes SET thread_id = 'plain-late' WHERE thread_id = 'held'")
        conn.commit()
        conn.close()


def test_a_database_that_is_none(project: Path) -> None:
    run = once(project, "types", **{**ENV, "ONCE_CHECKPOINT__PATH": "agent.py"})
    assert run.returncode == 1
    assert run.stderr.splitlines()[-1].startswith("langgraph-once: cannot open the checkpoint da")


def test_names_and_threads_cannot_steer_a_terminal(project: Path, tmp_path: Path) -> None:
    path = tmp_path / "evil.sqlite"
    with closing(sqlite3.connect(path, isolation_level=None)) as conn:
        SqliteSaver(conn).setup()
        bad, good = (
            packb(object_of(head_bytes("named", name), None))
            for name in ("evil:[red]Nam\x1b", "evil:[red]")
        )
        rows = [
            ("t", "once2", bad),
            ("\x1b[2J", "once2", good),
            ("t", None, None),
            ("t", "once2", b"\xc7\xff\x0c"),
        ]
        conn.executemany(
            "INSERT INTO writes (thread_id, checkpoint_id, task_id, idx, channel, type, value) "
            "VALUES (?, 'id', 'task', ?, 'c', ?, ?)",
            [(thread_id, number, *cell) for number, (thread_id, *cell) in enumerate(rows)],
        )
    run = once(project, "types", **{**ENV, "ONCE_CHECKPOINT__PATH": str(path)})
    assert run.returncode == 0
    assert "\x1b" not in run.stdout
    assert "evil:[red]" in run.stdout
    assert f"{path}: 4 stored values" in run.stdout
    assert "2 values were not looked into: damaged" in run.stdout
    assert "1 values were not looked into: UnknownTagError" in run.stdout
    assert "evil:" not in run.stdout.split("ALLOWED_TYPES")[-1].split("\n")[0]


def test_check_says_how_many_types_the_graphs_hold(project: Path) -> None:
    run = once(project, "check", **ENV)
    assert (run.returncode, run.stderr) == (0, "noise at import\n")
    assert run.stdout.splitlines()[-1] == (
        "types: the graphs' states name 3 of their own, none needs a setting"
    )
    run = once(project, "check", **ENV, ONCE_SERDE__ENFORCEMENT="strict")
    assert run.returncode == 0
    assert (
        "name 3 of their own, 3 cannot be rebuilt in a new process: see `langgraph-once types`"
        in (run.stdout)
    )


def test_what_an_agent_answers_with_is_of_its_state(tmp_path: Path) -> None:
    folder = tmp_path / "app"
    folder.mkdir()
    (folder / "agent.py").write_text(
        "from dataclasses import dataclass\n"
        "from langchain.agents import create_agent\n"
        "from langchain.agents.structured_output import ToolStrategy\n"
        "from langchain_core.language_models.fake_chat_models import FakeListChatModel\n"
        "from pydantic import BaseModel\n"
        "class Inner(BaseModel):\n    x: int\n"
        "class Answer(BaseModel):\n    inner: Inner\n"
        "@dataclass\nclass Other:\n    y: int\n"
        "model = FakeListChatModel(responses=['x'])\n"
        "auto = create_agent(model, response_format=Answer)\n"
        "tool = create_agent(model, response_format=ToolStrategy(Answer | Other))\n"
        "def factory(config):\n    return auto\n"
    )
    graphs = {
        **{name: f"./agent.py:{name}" for name in ("auto", "tool", "factory")},
        "gone": "./gone.py:graph",
        "typo": "agent:grph",
    }
    (folder / "langgraph.json").write_text(json.dumps({"dependencies": ["."], "graphs": graphs}))
    run = once(folder, "types", "--json")
    report = json.loads(run.stdout)
    own = {each["name"] for each in report["types"] if each["standing"] == "known"}
    assert own == {"__agent:Answer", "__agent:Inner", "__agent:Other"}
    problems = {line.split(":")[1]: line for line in report["problems"]}
    assert {name.split(".")[1] for name in problems} == {"factory", "gone", "typo"}
    assert once(folder, "check").returncode == 1


def test_the_line_to_paste_comes_last() -> None:
    report = TypesReport("a.sqlite", True, "safe", (), [])
    report.findings["shop:Cart"] = TypeFinding("shop:Cart", "line", "why", {"shop:Cart": None})
    assert as_text(report).endswith("ONCE_SERDE__ALLOWED_TYPES='[\"shop:Cart\"]'")
