"""Settings: the environment over `langgraph.json` over defaults; mistakes named where they are."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from langgraph_once.commands.settings_reference import env_example, json_schema, variables
from langgraph_once.config import REMOVED, CheckpointConfig, DedupConfig, HideConfig, SerdeConfig
from langgraph_once.errors import ConfigError
from langgraph_once.manifest import APP, SAVER, Manifest
from langgraph_once.settings import (
    load_graph_targets,
    load_settings,
    setting_problems,
    unknown_variables,
)

ROOT = Path(__file__).parents[2]
KEY = "c2VjcmV0LXNlY3JldC1zZWNyZXQtMDEy"


def graph(**once: Any) -> Manifest:
    path = "langgraph_once.platform.graphs:agent"
    return Manifest(graphs={"agent": {"path": path, "once": once}})


def test_defaults_need_no_file_and_no_variable() -> None:
    settings = load_settings(Manifest(), {})
    assert settings.serde == SerdeConfig()


def test_the_environment_wins_over_langgraph_json_key_by_key() -> None:
    once = {"path": "here.sqlite", "serde": {"compression": "none", "max_decoded_bytes": 7000}}
    settings = load_settings(
        Manifest(checkpointer={"path": "x.y", "once": once}),
        {"ONCE_SERDE__COMPRESSION": "zstd", "PATH": "/bin"},
    )
    assert settings.checkpoint.path == "here.sqlite"
    assert (settings.serde.compression, settings.serde.max_decoded_bytes) == ("zstd", 7000)


def test_the_environment_wins_for_every_graph() -> None:
    manifest = graph(target="app.graph:graph", dedup={"state": "auto"})
    assert load_graph_targets(manifest, {})[0].dedup == DedupConfig(state="auto")
    (target,) = load_graph_targets(manifest, {"ONCE_DEDUP__STATE": "new_messages"})
    assert target.dedup == DedupConfig(state="new_messages")
    assert (target.graph_id, target.name, target.target) == ("agent", "agent", "app.graph:graph")


@pytest.mark.parametrize(
    ("environ", "where", "problem"),
    [
        ({"ONCE_SERDE__COMPRESSION": "gzip"}, "ONCE_SERDE__COMPRESSION", "'zstd' or 'none'"),
        (
            {"ONCE_SERDE": '{"compresion": "none"}'},
            "ONCE_SERDE__COMPRESION",
            "mean 'compression'",
        ),
        ({"ONCE_SERDE": '{"compression": '}, "ONCE_SERDE", "as JSON"),
        ({"ONCE_SERDE__ALLOWED_TYPES": "a:B"}, "ONCE_SERDE__ALLOWED_TYPES", "as JSON"),
        (
            {"ONCE_SERDE__ENCRYPTION_KEYS": '{"2026": "first", "2026": "second"}'},
            "ONCE_SERDE__ENCRYPTION_KEYS",
            "'2026' stands there twice",
        ),
        ({"ONCE_SERDE__MAX_DECODED_BYTES": "-1"}, "ONCE_SERDE__MAX_DECODED_BYTES", "than or"),
        ({"LANGGRAPH_CHECKPOINTER": "{"}, "LANGGRAPH_CHECKPOINTER", "not valid JSON"),
    ],
)
def test_a_wrong_variable_is_named(environ: dict[str, str], where: str, problem: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load_settings(None, environ)
    assert caught.value.key == where
    assert problem in caught.value.problem
    assert "\n" not in str(caught.value)


KUBERNETES = {
    "ONCE_SERVICE_HOST": "10.0.0.1",
    "ONCE_SERVICE_PORT": "80",
    "ONCE_SERVICE_PORT_HTTP": "80",
    "ONCE_PORT": "tcp://10.0.0.1:80",
    "ONCE_PORT_80_TCP": "tcp://10.0.0.1:80",
    "ONCE_PORT_80_TCP_ADDR": "10.0.0.1",
}
"""What it sets for a service named `once`, in each container of the namespace."""


def test_a_variable_that_is_no_setting_changes_nothing() -> None:
    strange = {"ONCE_HTTP": "tcp://10.0.0.1:80", "ONCE_STORE": "/data", "once_dedup": "1"}
    gone = {"ONCE_CHECKPOINT__POOL_MIN_SIZE": "1", "ONCE_DATABASE_URL__X": "1"}
    environ = {**KUBERNETES, **strange, **gone}
    manifest = graph(target="app.graph:graph", dedup={"state": "auto"})
    assert load_settings(manifest, environ).model_dump() == load_settings(manifest, {}).model_dump()
    assert load_graph_targets(manifest, environ) == load_graph_targets(manifest, {})
    assert setting_problems(manifest, environ) == []
    assert unknown_variables(environ).keys() == environ.keys()


def test_a_setting_is_none_of_the_unknown_variables() -> None:
    known = {each.name: each.default for each in variables()}
    known |= {"once_serde__compression": "none", "ONCE_DEDUP__HIDE__TAGS": "[]", "ONCE_HTTP": "{}"}
    assert unknown_variables(known) == {}


@pytest.mark.parametrize(
    ("misspelt", "setting"),
    [
        ("ONCE_SERDE__COMPRESION", "ONCE_SERDE__COMPRESSION"),
        ("ONCE_SERD__COMPRESSION", "ONCE_SERDE__COMPRESSION"),
        ("ONCE_SERDE__ENCRYPTION_KEY", "ONCE_SERDE__ENCRYPTION_KEYS"),
        ("ONCE_SERDE_ENCRYPTION_KEYS", "ONCE_SERDE__ENCRYPTION_KEYS"),
        ("once_checkpoint_path", "ONCE_CHECKPOINT__PATH"),
        ("ONCE_DATABASE", "ONCE_DATABASE_URL"),
        *((name, None) for name in KUBERNETES),
    ],
)
def test_a_misspelt_variable_is_told_with_the_setting_it_resembles(
    misspelt: str, setting: str | None
) -> None:
    assert unknown_variables({misspelt: "{}"}) == {misspelt: setting}


@pytest.mark.parametrize(
    ("manifest", "where", "problem"),
    [
        (Manifest(checkpointer={"once": {"pth": "x"}}), "checkpointer.once.pth", "mean 'path'"),
        (Manifest(checkpointer={"once": {"path": 3}}), "checkpointer.once.path", "valid string"),
        (
            Manifest(checkpointer={"once": {"serde": {"compression": "gzip"}}}),
            "checkpointer.once.serde.compression",
            "'zstd' or 'none'",
        ),
        (
            Manifest(checkpointer={"once": {"serde": {"encryption_keys": {"k": KEY}}}}),
            "checkpointer.once.serde.encryption_keys",
            "ONCE_SERDE__ENCRYPTION_KEYS",
        ),
        (Manifest(checkpointer={"once": {}, "serde": {}}), "checkpointer.serde", "once.serde"),
        (Manifest(checkpointer={"path": SAVER, "onec": {}}), "checkpointer.onec", "mean 'once'"),
        (Manifest(http={"app": APP, "Once": {}}), "http.Once", "mean 'once'"),
        (Manifest(checkpointer={"once": {"serd": {}}}), "checkpointer.once.serd", "mean 'serde'"),
        (
            Manifest(http={"once": {"sse_encodings": ["zstd", "gzp"]}}),
            "http.once.sse_encodings[1]",
            "got 'gzp'; did you mean 'gzip'?",
        ),
        (
            Manifest(checkpointer={"once": {"serde": {"upgrades": {"shop: state:Line": "a:b"}}}}),
            "checkpointer.once.serde.upgrades['shop: state:Line']",
            "'module:Name'",
        ),
        (Manifest(http={"once": {"expose_config": "may"}}), "http.once.expose_config", "boolean"),
        (Manifest(http={"once": 5}), "http.once", "must be an object"),
        (graph(), "graphs.agent.once.target", "package.module:name"),
        (graph(target="./app.py:graph"), "graphs.agent.once.target", "file path"),
        (graph(target="a.b:c", dedup={"state": "all"}), "graphs.agent.once.dedup.state", "'full'"),
        (graph(target="a.b:c", dedup={"sate": "full"}), "graphs.agent.once.dedup.sate", "'state'"),
        (
            graph(target="a.b:c", dedup={"hide": {"tagz": []}}),
            "graphs.agent.once.dedup.hide",
            "does not know 'tagz'",
        ),
        (
            graph(target="a.b:c", dedup={"hide": {"tags": "x"}}),
            "graphs.agent.once.dedup.hide",
            "must be a list",
        ),
        *(
            (
                graph(target="a.b:c", dedup={"hide": {"namespaces": ["a", wrong]}}),
                "graphs.agent.once.dedup.hide",
                f"has '{wrong}'",
            )
            for wrong in ("/b", "a:b", "a|b")
        ),
        (graph(target="a.b:c", dedupe={}), "graphs.agent.once.dedupe", "mean 'dedup'"),
        (Manifest(graphs={"g": {"path": "a:b", "once": {}}}), "graphs.g.once", "no effect"),
        (
            Manifest(
                graphs={
                    name: {"path": "langgraph_once.platform.graphs:x", "once": {"target": target}}
                    for name, target in {"g": "a:g", "h": "a:h"}.items()
                }
            ),
            "graphs.h.path",
            "already stands for graph 'g'",
        ),
    ],
)
def test_a_wrong_sub_key_is_named_by_its_path(manifest: Manifest, where: str, problem: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load_settings(manifest, {})
    assert caught.value.key == f"langgraph.json: {where}"
    assert problem in caught.value.problem
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "value"),
    [("ONCE_DEDUP__HIDE", '{"tags": ["nostream"]}'), ("ONCE_DEDUP__HIDE__TAGS", '["nostream"]')],
)
def test_what_is_hidden_may_be_said_in_the_environment(name: str, value: str) -> None:
    manifest = graph(target="a.b:c", dedup={"hide": {"nodes": ["plan"], "namespaces": ["a/b"]}})
    (target,) = load_graph_targets(manifest, {name: value})
    assert target.dedup.hide == HideConfig(tags={"nostream"}, nodes={"plan"}, namespaces={"a/b"})
    with pytest.raises(ConfigError) as caught:
        load_settings(Manifest(), {name: "nostream"})
    assert caught.value.key == name


def test_secrets_never_print() -> None:
    environ = {
        "ONCE_SERDE__ENCRYPTION_KEYS": json.dumps({"2026": KEY}),
        "LANGGRAPH_AES_KEY": "an-upstream-key!",
    }
    settings = load_settings(Manifest(), environ)
    shown = f"{settings!r} {settings} {settings.public()} {settings.serde!r}"
    assert KEY not in shown
    assert "an-upstream-key!" not in shown
    assert settings.public()["serde"]["encryption_keys"] == {"2026": "**********"}
    assert settings.serde.encryption_keys["2026"].get_secret_value() == KEY


def test_a_secret_of_the_wrong_type_never_prints() -> None:
    environ = {"ONCE_SERDE__ENCRYPTION_KEYS": json.dumps({"2026": [KEY]})}
    with pytest.raises(ConfigError) as caught:
        load_settings(Manifest(), environ)
    assert KEY not in str(caught.value)
    assert caught.value.key == "ONCE_SERDE__ENCRYPTION_KEYS"


def test_config_objects_are_checked_when_made_in_code() -> None:
    with pytest.raises(ConfigError, match=r"DedupConfig\.state"):
        DedupConfig(state="none")  # type: ignore[arg-type]  # wrong on purpose
    with pytest.raises(AttributeError):
        DedupConfig().state = "auto"  # type: ignore[misc]  # wrong on purpose


@pytest.mark.parametrize("setting", REMOVED)
def test_a_setting_that_was_removed_says_what_to_do_instead(setting: str) -> None:
    section, key = setting.split(".")
    problem = f"was removed: {REMOVED[setting]}"
    variable = f"ONCE_{section}__{key}".upper()
    kind, manifest = {
        "dedup": (DedupConfig, graph(target="a.b:c", dedup={key: "x"})),
        "serde": (SerdeConfig, Manifest(checkpointer={"once": {"serde": {key: "x"}}})),
        "checkpoint": (CheckpointConfig, Manifest(checkpointer={"once": {key: "x"}})),
    }[section]
    attempts: list[Callable[[], Any]] = [
        lambda: kind(**{key: "x"}),
        lambda: load_settings(Manifest(), {variable: "x"}),
        lambda: load_settings(manifest, {}),
    ]
    for attempt in attempts:
        with pytest.raises(ConfigError) as caught:
            attempt()
        assert caught.value.problem == problem
    assert unknown_variables({variable: "x"}) == {}


def test_the_written_reference_is_in_step_with_the_settings() -> None:
    assert (ROOT / ".env.example").read_text() == env_example()
    written = json.loads((ROOT / "docs" / "langgraph-once.schema.json").read_text())
    assert written == json_schema()


def test_the_reference_names_every_key_and_shows_no_secret_key_in_the_schema() -> None:
    settings = load_settings(Manifest(), {}).public()
    for section in ("serde", "checkpoint", "dedup", "http"):
        for key in settings[section]:
            assert f"# ONCE_{section.upper()}__{key.upper()}=" in env_example()
    assert "encryption_keys" not in json.dumps(json_schema())


def test_an_uncommented_env_example_is_valid() -> None:
    lines = [line.removeprefix("# ") for line in env_example().splitlines()]
    environ = dict(line.split("=", 1) for line in lines if line.startswith("ONCE_"))
    assert load_settings(Manifest(), environ).serde == SerdeConfig()


def test_our_own_langgraph_json_is_valid_against_settings_and_schema() -> None:
    import jsonschema_rs

    ours = json.loads((ROOT / "langgraph.json").read_text())
    load_settings(Manifest.from_json(ours), {})
    jsonschema_rs.validate(json_schema(), ours)
    wrong = copy.deepcopy(ours)
    wrong["checkpointer"]["once"]["serde"]["compression"] = "gzip"
    assert not jsonschema_rs.is_valid(json_schema(), wrong)


@pytest.mark.parametrize("path", ["postgresql://me:@/threads?host=/run", "postgresql://h:5432/db"])
def test_an_address_without_a_password_may_stand_in_a_file(path: str) -> None:
    assert CheckpointConfig(path=path).path == path
    with pytest.raises(ConfigError, match="holds a password"):
        CheckpointConfig(path="postgresql://me:hush@/threads?host=/run")
