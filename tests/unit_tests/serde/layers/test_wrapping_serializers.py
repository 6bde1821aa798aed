"""Serializers that wrap ours, as upstream's `EncryptedSerializer` does: run, stop, resume."""

from __future__ import annotations

import base64
import operator
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from decimal import Decimal
from typing import TYPE_CHECKING, Annotated, Any, TypedDict

import pytest
from langchain_core.messages import AnyMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde.encrypted import EncryptedSerializer
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.types import Command, interrupt
from pydantic import SecretStr

from langgraph_once.config import SerdeConfig
from langgraph_once.errors import EncryptionError
from langgraph_once.serde import OnceSerializer
from tests.data.blobs import files
from tests.data.blobs.once_values import KEY as TEST_RING

if TYPE_CHECKING:
    from pathlib import Path

    from langchain_core.runnables import RunnableConfig
    from langgraph.checkpoint.base import BaseCheckpointSaver
    from langgraph.checkpoint.serde.base import SerializerProtocol

AES_KEY = "0123456789abcdef"
KEY: dict[str, Any] = {"encryption_keys": {"k1": base64.b64encode(b"a secret of 16 b").decode()}}
SETTINGS: list[dict[str, Any]] = [
    {},
    {"compression": "none"},
    {"compression": "none", **KEY},
    {"encryption": "required", **KEY},
    {"compatible": True},
]
THREAD: RunnableConfig = {"configurable": {"thread_id": "1"}}
TEXT = "the same words " * 50


class Reversing:
    """A cipher of somebody else, with a name of its own."""

    def encrypt(self, plaintext: bytes) -> tuple[str, bytes]:
        return "rev+v2", plaintext[::-1]

    def decrypt(self, ciphername: str, ciphertext: bytes) -> bytes:
        assert ciphername == "rev+v2"
        return ciphertext[::-1]


def aes(inner: SerializerProtocol) -> EncryptedSerializer:
    pytest.importorskip("Crypto")
    return EncryptedSerializer.from_pycryptodome_aes(inner, key=AES_KEY.encode())


def reversing(inner: SerializerProtocol) -> EncryptedSerializer:
    return EncryptedSerializer(Reversing(), inner)


Wrap = Callable[["SerializerProtocol"], EncryptedSerializer]
Open = Callable[["SerializerProtocol"], AbstractContextManager["BaseCheckpointSaver[Any]"]]


def once(settings: dict[str, Any], **more: Any) -> OnceSerializer:
    return OnceSerializer(SerdeConfig(**settings), **more)


class State(TypedDict, total=False):
    messages: Annotated[list[AnyMessage], add_messages]
    prices: Annotated[list[Any], operator.add]


def step(state: State) -> State:
    answer = interrupt({"total": Decimal("1.50"), "why": TEXT})
    return {"messages": [HumanMessage(TEXT + answer, id="2")], "prices": [Decimal("1.50")]}


def run_and_resume(saver: BaseCheckpointSaver[Any], again: BaseCheckpointSaver[Any]) -> Any:
    """Run to an interrupt under one saver, and from there to the end under another."""
    graph = StateGraph(State).add_node("step", step).add_edge(START, "step")
    asked = graph.compile(saver).invoke({"messages": [HumanMessage(TEXT, id="1")]}, THREAD)
    assert asked["__interrupt__"][0].value["total"] == Decimal("1.50")
    compiled = graph.compile(again)
    assert compiled.get_state(THREAD).interrupts[0].value["why"] == TEXT
    compiled.invoke(Command(resume="yes"), THREAD)
    return compiled.get_state(THREAD).values


@pytest.fixture(params=["memory", "sqlite"])
def open_saver(request: pytest.FixtureRequest, tmp_path: Path) -> Open:
    """Opens the same rows with a serializer of its own each time."""
    memory = InMemorySaver()

    @contextmanager
    def opened(serde: SerializerProtocol) -> Iterator[BaseCheckpointSaver[Any]]:
        if request.param == "memory":
            memory.serde = serde
            yield memory
        else:
            with SqliteSaver.from_conn_string(str(tmp_path / "threads.sqlite")) as saver:
                saver.serde = serde
                yield saver

    return opened


@pytest.mark.parametrize("wrap", [aes, reversing])
@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_a_wrapped_serializer_runs_stops_and_resumes(
    wrap: Wrap, settings: dict[str, Any], open_saver: Open
) -> None:
    with open_saver(wrap(once(settings))) as saver:
        final = run_and_resume(saver, saver)
    assert final["messages"][1].content == TEXT + "yes"
    if not settings.get("compatible"):
        assert final["prices"] == [Decimal("1.50")]


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_a_thread_begun_without_the_wrapper_goes_on_with_it(
    settings: dict[str, Any], tmp_path: Path
) -> None:
    path = str(tmp_path / "threads.sqlite")
    with SqliteSaver.from_conn_string(path) as bare, SqliteSaver.from_conn_string(path) as wrapped:
        bare.serde, wrapped.serde = once(settings), aes(once(settings))
        assert run_and_resume(bare, wrapped)["messages"][1].content == TEXT + "yes"


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_a_thread_begun_with_the_wrapper_goes_on_without_it(
    settings: dict[str, Any], tmp_path: Path
) -> None:
    """Given upstream's key, our serializer opens the wrapper's rows, too: the way out of it."""
    path = str(tmp_path / "threads.sqlite")
    with SqliteSaver.from_conn_string(path) as bare, SqliteSaver.from_conn_string(path) as wrapped:
        wrapped.serde = aes(once(settings))
        bare.serde = once(settings, upstream_aes_key=SecretStr(AES_KEY))
        assert run_and_resume(wrapped, bare)["messages"][1].content == TEXT + "yes"


@pytest.mark.parametrize("layers", ["+zstd", "+aesgcm", "+zstd+aesgcm"])
def test_what_the_wrapper_could_not_read_of_the_first_version_is_not_lost(layers: str) -> None:
    """It wrote tags with a plus below the wrapper, which splits there."""
    tag, data = files.load("once-0.1")[f"msgpack-thread{layers}"]
    cipher = aes(once({})).cipher
    row = (f"{tag}+aes", cipher.encrypt(data)[1])
    with pytest.raises(AssertionError, match="Unsupported cipher"):
        aes(once({})).loads_typed(row)
    reader = once({"encryption_keys": TEST_RING}, upstream_aes_key=SecretStr(AES_KEY))
    assert reader.loads_typed(row) == reader.loads_typed((tag, data))


def test_a_wrapped_row_of_ours_under_another_tag_is_refused() -> None:
    """Upstream's cipher does not vouch for the tag; ours below it does."""
    reader = once(KEY, upstream_aes_key=SecretStr(AES_KEY))
    tag, data = aes(once(KEY)).dumps_typed(TEXT)
    assert tag == "once2.zstd.aesgcm+aes"
    assert reader.loads_typed((tag, data)) == TEXT
    for other in ("once2.aesgcm+aes", "bytes.zstd.aesgcm+aes", "once2+zstd+aesgcm+aes"):
        with pytest.raises(EncryptionError):
            reader.loads_typed((other, data))
