"""`langgraph-once check` finds all that would stop a server or be ignored by it, each in a line."""

from __future__ import annotations

import json
import os
import socket
import sqlite3
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

import pytest

import langgraph_once
from langgraph_once.floors import install_command
from langgraph_once.manifest import APP, GRAPHS_MODULE, SAVER, STORE
from tests.forked import run_once
from tests.unit_tests.checked import APP_PY, check, expect, wrapped

PLUGIN = Path(langgraph_once.__file__).parents[1]

BY_TODAY = "It is named by where the class is today"


def test_what_is_right_in_every_form_is_no_finding(tmp_path: Path) -> None:
    makers = ("made", "made_of_config", "made_of_runtime", "awaited", "entered", "entered_async")
    graphs = wrapped(graph="app:graph", builder="app:builder", **{m: f"app:{m}" for m in makers})
    plain = {f"plain_{name}": f"./app.py:{name}" for name in ("graph", "builder", *makers)}
    plain |= {"dotted": "app:graph"}
    forms = ("app.memory", "./app.py:saver", "app.async_saver", "app.InMemorySaver")
    for path in (SAVER, *forms, "app.unsigned_saver"):
        checkpointer = {"path": path, "ttl": {"default_ttl": 5}}
        http = {"app": {SAVER: APP, "app.memory": "app:web"}.get(path, "./app.py:web")}
        graphs = graphs | plain if path == SAVER else {"dotted": "app:graph"}
        found = check(tmp_path, graphs=graphs, checkpointer=checkpointer, http=http)
        assert found == (0, {}), path
    assert {each.name for each in tmp_path.iterdir()} <= {"app.py", "langgraph.json", "__pycache__"}


def test_what_would_break_the_image_is_a_hint(tmp_path: Path) -> None:
    graphs = {"graph": {"path": "app:graph", "description": "the user's own"}}
    found = check(tmp_path, graphs=graphs)
    expect(found, "hint", {"graphs.graph.description": "its apostrophe breaks the Dockerfile"})


def test_misspelt_keys_would_be_ignored(tmp_path: Path) -> None:
    found = check(
        tmp_path,
        graphs={"agent": {"path": "app:graph", "descripton": "x", "mine": 1}},
        checkpointer={"path": "app.memory", "tll": {}},
        http={"app": "app:web", "corss": {}, "once": {}},
        store={"once": {}, "indx": {}},
        auth={"once": {}},
        checkpoiter={"path": SAVER},
        _comment="is none",
        other_tool={"has": "keys"},
        once={"dedup": {}},
    )
    expect(
        found,
        "ignored",
        {
            "graphs.agent.descripton": "'description'",
            "checkpointer.tll": "'ttl'",
            "http.corss": "'cors'",
            "http.once": APP,
            "store.indx": "'index'",
            "store.once": "has no effect without store.path",
            "auth.once": "has no effect here",
            "checkpoiter": "'checkpointer'",
            "once": "belongs in checkpointer, store, http or a graph",
        },
    )


def test_misspelt_keys_beside_and_in_ours_stop_it_and_all_are_found(tmp_path: Path) -> None:
    found = check(
        tmp_path,
        graphs=wrapped(agent="app:graph", other="app:nothing")
        | {
            "onec": {"path": f"{GRAPHS_MODULE}:onec", "onec": {"target": "app:graph"}},
            "deep": {
                "path": f"{GRAPHS_MODULE}:deep",
                "once": {"target": "app:graph", "dedup": {"state": "ful", "fomr": "auto"}},
            },
            "dotted": {"path": f"{GRAPHS_MODULE}.dotted", "once": {"target": "app:graph"}},
        },
        checkpointer={"path": SAVER, "onec": {"path": "x"}, "once": {"serd": {}, "path": 3}},
        http={"app": APP, "Once": {}, "once": {"sse_encodings": ["zstd", "brotli", "gzp"]}},
    )
    assert {effect for effect, _ in found.findings.values()} == {"stops"}
    expect(
        found,
        "stops",
        {
            "graphs.onec.onec": "'once'",
            "graphs.deep.once.dedup.state": "did you mean 'full'",
            "graphs.deep.once.dedup.fomr": "'form'",
            "graphs.dotted.path": f"{GRAPHS_MODULE}:dotted",
            "graphs.other.once.target": "has no 'nothing'",
            "checkpointer.onec": "'once'",
            "checkpointer.once.serd": "did you mean 'serde'",
            "checkpointer.once.path": "string",
            "http.Once": "'once'",
            "http.once.sse_encodings[1]": "got 'brotli'",
            "http.once.sse_encodings[2]": "did you mean 'gzip'",
        },
    )


@pytest.mark.parametrize(
    ("key", "path", "words"),
    [
        ("path", "langgraph_once.platform.checkpoint.saver", f"did you mean {SAVER!r}"),
        ("path", SAVER.replace("checkpointer.saver", "checkpointer:saver"), "must be written as"),
        ("path", "app.nothing", "has no 'nothing'"),
        ("path", "app.memry", "did you mean 'memory'"),
        ("path", "absent.saver", "there is no module 'absent'"),
        ("path", "app:saver", "must be as 'package.module.name'"),
        ("path", "./app.py", "must be as './file.py:name'"),
        ("path", "./gone.py:saver", "there is no file './gone.py'"),
        ("path", "./app.py:number", "got int"),
        ("path", "app.makes_number", "a factory that makes int"),
        ("path", "app.takes_one", "is called without arguments"),
        ("path", "app.too_many", "is called without arguments"),
        ("path", "builtins.iter", "is called without arguments"),
        ("path", "builtins.dict", "a factory that makes dict"),
        ("path", "app.raises", "RuntimeError: no model"),
        ("app", APP.replace(":", "."), "must be written as"),
        ("app", "langgraph_once.platform.ap:app", f"did you mean {APP!r}"),
        ("app", "absent:web", "there is no module 'absent'"),
        ("app", "app.web", "must be as './file.py:name' or 'module:name'"),
        ("app", "./gone.py:web", "there is no file './gone.py'"),
        ("app", "./app.py:wbe", "did you mean 'web'"),
        ("app", "app:graph", "got CompiledStateGraph"),
    ],
)
def test_a_wrong_checkpointer_or_app_is_named(
    tmp_path: Path, key: str, path: str, words: str
) -> None:
    component = {"path": "checkpointer", "app": "http"}[key]
    found = check(tmp_path, graphs={"agent": "app:graph"}, **{component: {key: path}})
    expect(found, "stops", {f"{component}.{key}": words})


def test_a_store_that_could_not_be_opened_is_told(tmp_path: Path) -> None:
    (tmp_path / "folder.sqlite").mkdir()
    store = {"path": STORE, "once": {"path": "folder.sqlite"}}
    found = check(tmp_path, graphs={"agent": "app:graph"}, store=store)
    expect(found, "stops", {"": "folder.sqlite"})
    if hasattr(sqlite3.Connection, "enable_load_extension"):
        return
    store = {"path": STORE, "index": {"embed": "app:upgrade", "dims": 3}}
    found = check(tmp_path, graphs={"agent": "app:graph"}, store=store)
    expect(found, "stops", {"store.index": "another Python, or PostgreSQL"})


def test_types_that_settings_name_and_that_do_not_exist(tmp_path: Path) -> None:
    serde = {
        "allowed_types": ["app:Line", "app:Lime", "gone:Line"],
        "aliases": {"old:Line": "app:Line", "old:Lime": "app:Lime"},
        "upgrades": {
            "app:Line": "app:upgrade",
            "app:Lin": "app:upgrade",
            "old:Line": "app:nothing",
        },
        "adapters": ["app:nothing"],
    }
    checkpointer = {"path": SAVER, "once": {"serde": serde}}
    found = check(tmp_path, graphs={"agent": "app:graph"}, checkpointer=checkpointer)
    at = "checkpointer.once.serde"
    assert found.findings == {
        f"{at}.allowed_types[1]": ("ignored", "module 'app' has no 'Lime'; did you mean 'Line'?"),
        f"{at}.allowed_types[2]": ("ignored", "there is no module 'gone' to import"),
        f"{at}.aliases['old:Lime']": (
            "ignored",
            "module 'app' has no 'Lime'; did you mean 'Line'?",
        ),
        f"{at}.upgrades['app:Lin']": (
            "ignored",
            "module 'app' has no 'Lin'; did you mean 'Line'? " + BY_TODAY,
        ),
        f"{at}.upgrades['old:Line']": ("stops", "module 'app' has no 'nothing'"),
        f"{at}.adapters[0]": ("stops", "module 'app' has no 'nothing'"),
    }


def test_a_key_is_named_as_it_was_written(tmp_path: Path) -> None:
    serde = {"upgrades": {"shop: state:Line": "app:upgrade"}, "allowed_types": ["app.Line"]}
    checkpointer = {"path": SAVER, "once": {"serde": serde}}
    found = check(tmp_path, graphs={"agent": "app:graph"}, checkpointer=checkpointer)
    expect(
        found,
        "stops",
        {
            "checkpointer.once.serde.upgrades['shop: state:Line']": "'module:Name'",
            "checkpointer.once.serde.allowed_types[0]": "got 'app.Line'",
        },
    )


def test_graphs_and_factories_that_make_none(tmp_path: Path) -> None:
    names = ("number", "makes_number", "raises", "takes_three", "with_saver")
    graphs = wrapped(**{name: f"app:{name}" for name in names})
    graphs |= {f"plain_{name}": f"./app.py:{name}" for name in names}
    found = check(tmp_path, graphs=graphs | {"none": {"once": {}}})
    words = {
        "number": "got int",
        "makes_number": "makes something else than a graph",
        "raises": "RuntimeError: no model",
        "takes_three": "must take 0, 1, or 2 arguments",
        "with_saver": "compiled with a checkpointer of its own",
    }
    expected = {f"graphs.{name}.once.target": text for name, text in words.items()}
    expected |= {f"graphs.plain_{name}": text for name, text in words.items()}
    assert found.findings.pop("graphs.none")[1].startswith("must name a graph as './file.py:graph'")
    del found.findings["graphs.none.once"]
    expect(found, "stops", expected)


def test_factories_that_do_not_say_what_they_take(tmp_path: Path) -> None:
    names = {"of_c": "app", "Unsigned": "app", "too_many": "app", "dict": "builtins"}
    names |= {"three_left": "app"}
    graphs: dict[str, Any] = {name: f"{module}:{name}" for name, module in names.items()}
    wrapped_too = wrapped(**{f"wrapped_{name}": target for name, target in graphs.items()})
    found = check(tmp_path, graphs=graphs | wrapped_too)
    assert "hush" not in str(found)
    expected = dict.fromkeys(names, "the server cannot tell which arguments this takes")
    expected["three_left"] = "must take 0, 1, or 2 arguments. Got 3"
    both = {f"graphs.{name}": words for name, words in expected.items()}
    both |= {f"graphs.wrapped_{name}.once.target": words for name, words in expected.items()}
    expect(found, "stops", both)


@pytest.mark.parametrize(
    "ask", ['given["user"]', 'given.get("user").name', '"user" in given or 1 / 0']
)
def test_a_factory_that_needs_a_run_is_a_hint(tmp_path: Path, ask: str) -> None:
    lines = ["def asks(config):", "    given = config['configurable']", f"    {ask}"]
    (tmp_path / "asking.py").write_text("\n".join(lines))
    found = check(tmp_path, graphs=wrapped(agent="asking:asks"))
    expect(found, "hint", {"graphs.agent.once.target": "which brings what it asks for: 'user'"})


def test_what_works_but_not_as_it_reads_is_a_hint(tmp_path: Path) -> None:
    entry = {"path": f"{GRAPHS_MODULE}:agnt", "once": {"target": "app:graph"}}
    twice = "from app import graph\nfrom langgraph_once import once\ngraph = once(graph)\n"
    (tmp_path / "twice.py").write_text(twice)
    found = check(tmp_path, graphs={"agent": entry} | wrapped(twice="twice:graph"), env=".envv")
    expect(
        found,
        "hint",
        {
            "graphs.agent.path": "clients find the graph as 'agent'",
            "graphs.twice.once.target": "wrapped by `once` in code, too",
            "env": "there is no file '.envv'",
        },
    )


def test_variables_that_are_no_settings_are_hints(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(APP_PY)
    manifest = {"dependencies": ["."], "graphs": wrapped(agent="app:graph")}
    (tmp_path / "langgraph.json").write_text(json.dumps(manifest))
    environ = {"ONCE_PORT": "tcp://10.0.0.1:80", "ONCE_SERVICE_HOST": "1", "ONCE_DATABASE": "x"}
    run = run_once("check", cwd=tmp_path, **environ)
    assert run.returncode == 0, run.stderr
    assert [line for line in run.stdout.splitlines() if "ONCE_" in line] == [
        "hint: ONCE_DATABASE: is no setting, and has no effect; did you mean ONCE_DATABASE_URL?",
        "hint: ONCE_PORT, ONCE_SERVICE_HOST: no settings, and without effect",
    ]


def test_check_says_that_no_graph_is_wrapped(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(APP_PY)
    for graphs, words in (
        ({"agent": "./app.py:graph"}, "settings and database are fine; no graph is wrapped"),
        (wrapped(agent="app:graph"), "settings, database and 1 wrapped graph(s) are fine"),
    ):
        manifest = {"dependencies": ["."], "graphs": graphs}
        (tmp_path / "langgraph.json").write_text(json.dumps(manifest))
        run = run_once("check", cwd=tmp_path)
        assert f"langgraph.json: {words}\n" in run.stdout, run.stderr


def test_check_says_where_threads_are(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(APP_PY)
    for checkpointer, words in (
        (None, "not in our database, so LangGraph's rules say which types survive"),
        ({"path": SAVER}, "in .langgraph_once/checkpoints.sqlite"),
        ({"path": SAVER, "once": {"path": "mine.sqlite"}}, "in mine.sqlite"),
    ):
        graphs = wrapped(agent="app:graph")
        manifest = {"dependencies": ["."], "graphs": graphs, "checkpointer": checkpointer}
        (tmp_path / "langgraph.json").write_text(json.dumps(manifest))
        run = run_once("check", cwd=tmp_path)
        assert f"threads: {words}\n" in run.stdout, run.stderr


def test_an_error_of_ones_own_code_is_one_line_with_its_place(tmp_path: Path) -> None:
    (tmp_path / "inner.py").write_text("def f():\n    return undefined\n")
    (tmp_path / "broken.py").write_text("import inner\nprint('said')\ninner.f()\n")
    (tmp_path / "comma.py").write_text("x = 1\ny = (2\n")
    (tmp_path / "lacks.py").write_text("import not_installed_here\n")
    graphs = wrapped(broken="broken:graph", comma="comma:graph", lacks="lacks:graph")
    (tmp_path / "langgraph.json").write_text(json.dumps({"dependencies": [], "graphs": graphs}))
    for arguments in (["check"], ["check", "--verbose"]):
        run = run_once(*arguments, cwd=tmp_path)
        first, *rest = [line for line in run.stderr.splitlines() if line.startswith("langgraph-")]
        assert run.returncode == 1
        assert first.startswith("langgraph-once: inner.py:2: NameError: name 'undefined'")
        assert first.endswith("(while loading langgraph.json: graphs.broken.once.target)")
        assert rest[0].startswith("langgraph-once: comma.py:2: SyntaxError: '(' was never closed")
        assert rest[1].startswith("langgraph-once: lacks.py:1: ModuleNotFoundError: No module")
        assert ("Traceback" in run.stderr) is ("--verbose" in arguments)
        assert ("--verbose" in rest[-1]) is ("--verbose" not in arguments)
        assert "importlib" not in run.stderr


def test_a_project_in_src_that_is_not_installed(tmp_path: Path) -> None:
    for root in (tmp_path, tmp_path / "service"):
        (root / "src" / "agent").mkdir(parents=True)
    (tmp_path / "service" / "src" / "helper.py").touch()
    (tmp_path / "service" / "found.py").write_text(APP_PY)
    manifest: dict[str, Any] = {
        "dependencies": [".", "./service"],
        "graphs": wrapped(a="agent.graph:graph", b="helper:graph", c="found:graph"),
    }
    found = check(tmp_path, **manifest)
    expect(
        found,
        "stops",
        {
            "graphs.a.once.target": "it is in 'src', which is not on the import path: install the "
            "project, with `pip install -e .`",
            "graphs.b.once.target": "it is in 'service/src', which is not on the import path: "
            "install the project, with `pip install -e service`",
        },
    )


def test_a_busy_port_names_the_options(tmp_path: Path) -> None:
    check(tmp_path, graphs={"agent": "app:graph"})
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        run = run_once("check", "--port", port, cwd=tmp_path)
    assert run.returncode == 1
    (line,) = run.stderr.splitlines()
    assert line.startswith(f"langgraph-once: port {port}: cannot be served on: Address already in")
    assert "`make dev PORT=" in line
    assert "`langgraph dev --port " in line


@pytest.mark.slow
def test_packages_that_are_not_installed_are_named_with_their_extra(tmp_path: Path) -> None:
    absent = ("starlette", "brotli", "langgraph_api", "psycopg")
    installed = tmp_path / "installed"
    installed.mkdir()
    for each in Path(sysconfig.get_path("purelib")).iterdir():
        if not each.name.startswith(absent):
            (installed / each.name).symlink_to(each)
    (tmp_path / "app.py").write_text(
        "from langgraph.graph import START, MessagesState, StateGraph\n"
        "graph = StateGraph(MessagesState).add_node('n', lambda _: {}).add_edge(START, 'n')\n"
    )
    once = {"sse_encodings": ["br"]}
    manifest = {"graphs": wrapped(agent="app:graph"), "http": {"app": APP, "once": once}}
    (tmp_path / "langgraph.json").write_text(json.dumps({"dependencies": ["."], **manifest}))
    run = subprocess.run(
        [sys.executable, "-S", "-m", "langgraph_once", "check", "--json"],
        cwd=tmp_path,
        env={
            "PYTHONPATH": os.pathsep.join([str(installed), str(PLUGIN)]),
            "ONCE_DATABASE_URL": "postgresql://user:secret@host/threads",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    imported = subprocess.run(
        [sys.executable, "-S", "-c", "import langgraph_once.platform.app"],
        env={"PYTHONPATH": os.pathsep.join([str(installed), str(PLUGIN)])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert imported.stderr.endswith(f"extra: {install_command('server')}\n")
    assert run.returncode == 1, run.stderr
    assert "secret" not in run.stdout
    assert {each["where"]: each["problem"] for each in json.loads(run.stdout)["findings"]} == {
        "langgraph dev": f"needs the package langgraph_api: {install_command('server')}",
        "langgraph.json: http.once.sse_encodings": "'br' has no effect without the package "
        f"brotli: {install_command('brotli')}",
        "ONCE_DATABASE_URL": f"PostgreSQL needs an extra: {install_command('postgres')}",
    }
