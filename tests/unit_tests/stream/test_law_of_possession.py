"""The law: a message is left out only if its reader has it.

Random programs run twice, plain and wrapped. What plain LangGraph shows of the final state, a
reader of the wrapped graph has, too: in any form, in any set of modes. Nothing is left out because
it looks like an input, a copy or a repetition.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import contextvars
import copy
import threading
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeAlias

import anyio
import pytest
from hypothesis import HealthCheck, example, given, strategies as st
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    HumanMessage,
    RemoveMessage,
    convert_to_messages,
)
from langgraph.cache.memory import InMemoryCache
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.graph.message import REMOVE_ALL_MESSAGES, push_message
from langgraph.types import CachePolicy, Command, interrupt
from typing_extensions import TypedDict

from graphs.models import ScriptedChatModel
from langgraph_once import DedupConfig, once
from langgraph_once.stream.forms import MESSAGE_MODES, ExactForm
from tests.corpus.play import V3Reader
from tests.examples import examples
from tests.unit_tests.stream.scenes import model
from tests.unit_tests.stream.test_law_graphs import (
    BESIDE,
    QUIET,
    TEXTS,
    THREAD,
    Script,
    answer_to,
)

TURNS: Final = ("Please begin.", "Once more.")
GIVEN_UP_S: Final = 0.02


class Hanging(ScriptedChatModel):
    """A model that says its first word, and the rest only when it is let go on."""

    goes_on: threading.Event | None = None
    hangs: Callable[[], Any] = bool
    """Called when it says no more, in async graphs."""

    def _generate(self, *args: Any, **kwargs: Any) -> Any:
        if self.goes_on is not None:
            self.goes_on.wait(10)
        return super()._generate(*args, **kwargs)

    async def _agenerate(self, *_: Any, **__: Any) -> Any:
        self.hangs()
        await asyncio.sleep(10)

    def _stream(self, *args: Any, **kwargs: Any) -> Iterator[Any]:
        for at, chunk in enumerate(super()._stream(*args, **kwargs)):
            if at == 1 and self.goes_on is not None:
                self.goes_on.wait(10)
            yield chunk

    async def _astream(self, *args: Any, **kwargs: Any) -> AsyncIterator[Any]:
        at = 0
        async for chunk in super()._astream(*args, **kwargs):
            if at == 1:
                self.hangs()
                await asyncio.sleep(10)
            at += 1
            yield chunk


def hanging(text: str, **how: Any) -> Hanging:
    return Hanging(script=lambda _: AIMessage(f"{text} or not"), **how)


def breaking(text: str) -> ScriptedChatModel:
    return ScriptedChatModel(
        script=lambda _: AIMessage(f"{text} then it broke"), breaks_off=lambda _: True
    )


class ListState(TypedDict):
    """A list that each node replaces, so that nothing names the messages in it."""

    messages: list[Any]


class Programs(Script):
    """Nodes that do what programs do, and what they had better not do."""

    def node(self, kind: str, said: Any) -> Any:
        """A node of `Script`, or one of those below, which return an update."""
        make: Callable[[str], Any] | None = getattr(self, f"makes_{kind}", None)
        return super().node(kind, said) if make is None else make(said)

    def how(self, kind: str, said: Any) -> dict[str, Any]:
        how = super().how(kind, said)
        if kind.startswith("cached"):
            how["cache_policy"] = CachePolicy(key_func=lambda _: "always")
        if kind in HANDLERS:
            how["error_handler"] = self.node(HANDLERS[kind], said)
        return how

    # Lists that nodes change in place, and return, or do not.

    def makes_appends(self, text: str) -> Any:
        def node(state: Any) -> Any:
            state["messages"].append(AIMessage(text))
            return {"messages": []}

        return node

    def makes_appends_named(self, text: str) -> Any:
        names = iter(range(99))

        def node(state: Any) -> Any:
            state["messages"].append(AIMessage(text, id=f"{id(node)}-{next(names)}"))
            return {"messages": []}

        return node

    def makes_appends_answer(self, text: str) -> Any:
        def node(state: Any) -> Any:
            state["messages"].append(model(text).invoke("?"))
            return {"messages": []}

        return node

    def makes_returns_state(self, _: str) -> Any:
        return lambda state: state

    def makes_returns_list(self, _: str) -> Any:
        return lambda state: {"messages": state["messages"]}

    def makes_returns_copies(self, _: str) -> Any:
        return lambda state: {"messages": [m.model_copy() for m in state["messages"]]}

    def _with(self, adds: str, returns: str, text: str) -> Any:
        first, then = self.node(adds, text), self.node(returns, text)

        def node(state: Any) -> Any:
            first(state)
            return then(state)

        return node

    def makes_adds_and_returns_state(self, text: str) -> Any:
        return self._with("appends", "returns_state", text)

    def makes_adds_named_and_returns_list(self, text: str) -> Any:
        return self._with("appends_named", "returns_list", text)

    def makes_adds_answer_and_returns_copies(self, text: str) -> Any:
        return self._with("appends_answer", "returns_copies", text)

    def makes_adds_and_fails(self, text: str) -> Any:
        """Adds in place, fails, and finds that there as it is tried again."""
        ran = iter([True])
        adds = self.node("appends_named", text)

        def node(state: Any) -> Any:
            if next(ran, False):
                adds(state)
                raise ValueError
            return state

        return node

    def makes_adds_and_asks(self, text: str) -> Any:
        adds = self.node("appends_named", text)

        def node(state: Any) -> Any:
            adds(state)
            interrupt("Go on?")
            return state

        return node

    # Models that broke off, and nodes that keep what came.

    def makes_falls_back(self, text: str) -> Any:
        def node(_: Any) -> Any:
            try:
                return {"messages": [breaking(text).invoke("?")]}
            except ConnectionError:
                return {"messages": [model(text).invoke("?")]}

        return node

    def makes_keeps_half(self, text: str) -> Any:
        return self._half(text, lambda came: AIMessage(came.content))

    def makes_keeps_half_under_its_id(self, text: str) -> Any:
        return self._half(text, lambda came: AIMessage(came.content, id=came.id))

    def _half(self, text: str, kept: Callable[[Any], Any]) -> Any:
        def node(_: Any) -> Any:
            came: Any = None
            with contextlib.suppress(ConnectionError):
                for chunk in breaking(text).stream("?"):
                    came = chunk if came is None else came + chunk
            return {"messages": [kept(came)]}

        return node

    def makes_breaks_and_is_tried_again(self, text: str) -> Any:
        ran = iter([True])

        def node(_: Any) -> Any:
            if next(ran, False):
                try:
                    breaking(text).invoke("?")
                except ConnectionError:
                    raise ValueError from None
            return {"messages": [AIMessage(str(model(text).invoke("?").text))]}

        return node

    def makes_gives_up_thread(self, text: str) -> Any:
        """A model in a thread that the node waits for no longer, and that speaks on."""

        def node(_: Any) -> Any:
            goes_on, context = threading.Event(), contextvars.copy_context()
            pool = concurrent.futures.ThreadPoolExecutor(1)
            asked = pool.submit(context.run, hanging(text, goes_on=goes_on).invoke, "?")
            try:
                asked.result(GIVEN_UP_S)
            except TimeoutError:
                return {"messages": [model(text).invoke("?")]}
            finally:
                goes_on.set()
                pool.shutdown(wait=False)

        return node

    def makes_waits_for(self, text: str) -> Any:
        async def node(_: Any) -> Any:
            try:
                answer = await asyncio.wait_for(hanging(text).ainvoke("?"), GIVEN_UP_S)
            except TimeoutError:
                answer = await model(text).ainvoke("?")
            return {"messages": [answer]}

        return node

    def makes_moves_on(self, text: str) -> Any:
        async def node(_: Any) -> Any:
            came: Any = None
            with anyio.CancelScope() as scope:
                async for chunk in hanging(text, hangs=scope.cancel).astream("?"):
                    came = chunk if came is None else came + chunk
            return {"messages": [AIMessage(came.content)]}

        return node

    def makes_moves_on_and_asks_again(self, text: str) -> Any:
        async def node(_: Any) -> Any:
            with anyio.move_on_after(GIVEN_UP_S):
                await hanging(text).ainvoke("?")
            return {"messages": [await model(text).ainvoke("?")]}

        return node

    # Raw messages, other ways to write, and error handlers.

    def makes_writes_dict(self, text: str) -> Any:
        return lambda _: {"messages": [{"role": "assistant", "content": text}]}

    def makes_writes_str(self, text: str) -> Any:
        return lambda _: {"messages": text}

    def makes_copies_as_dict(self, text: str) -> Any:
        def node(_: Any) -> Any:
            return {"messages": [{"type": "ai", "content": str(model(text).invoke("?").text)}]}

        return node

    def makes_pushes(self, text: str) -> Any:
        names = iter(range(99))

        def node(_: Any) -> Any:
            push_message(AIMessage(text, id=f"{id(node)}-{next(names)}"))
            return {"messages": []}

        return node

    def makes_pushes_and_returns(self, text: str) -> Any:
        names = iter(range(99))

        def node(state: Any) -> Any:
            pushed = AIMessage(text, id=f"{id(node)}-{next(names)}")
            push_message(pushed)
            return {"messages": [*state["messages"], pushed, model(text).invoke("?")]}

        return node

    def makes_moves(self, _: str) -> Any:
        def node(state: Any) -> Any:
            last = state["messages"][-1]
            moved = [RemoveMessage(id=last.id), AIMessage(last.content, id=f"{last.id}m")]
            return {"messages": moved if last.id else []}

        return node

    def makes_starts_anew(self, text: str) -> Any:
        def node(state: Any) -> Any:
            return {
                "messages": [
                    RemoveMessage(id=REMOVE_ALL_MESSAGES),
                    *state["messages"][-2:],
                    AIMessage(text),
                ]
            }

        return node

    def makes_wraps(self, text: str) -> Any:
        """Runs a graph, and returns a copy of what that said last."""
        graph = self.graph([("streams", text)])

        def node(_: Any) -> Any:
            done = graph.invoke({"messages": [("user", "?")]})
            return {"messages": [AIMessage(done["messages"][-1].content)]}

        return node

    def makes_wraps_and_hands_on(self, text: str) -> Any:
        graph = self.graph([("appends_named", text), ("streams", text)])

        def node(state: Any) -> Any:
            return graph.invoke(state)

        return node

    def makes_hands_over(self, text: str) -> Any:
        """A graph inside, whose last node hands over to the graph around it."""

        def node(_: Any) -> Any:
            answer = model(text).invoke("?")
            return Command(graph=Command.PARENT, update={"messages": [answer, AIMessage(text)]})

        builder: Any = StateGraph(MessagesState)
        builder.add_node("inside", node).add_edge(START, "inside")
        return builder.compile()

    def makes_handled_state(self, text: str) -> Any:
        adds = self.node("appends_named", text)

        def node(state: Any) -> Any:
            adds(state)
            raise LookupError

        return node

    def makes_handled_half(self, text: str) -> Any:
        def node(_: Any) -> Any:
            try:
                breaking(text).invoke("?")
            except ConnectionError:
                raise LookupError from None

        return node

    def makes_writes_half(self, text: str) -> Any:
        whole = [str(chunk.text) for chunk in model(f"{text} then it broke").stream("?")]
        return lambda _: {"messages": [AIMessage("".join(whole[: len(whole) // 2]))]}

    # Answers of a cache.

    def makes_cached_streams(self, text: str) -> Any:
        return super().node("streams", text)

    def makes_cached_pair(self, text: str) -> Any:
        return super().node("writes_pair", text)

    def makes_cached_respaced(self, text: str) -> Any:
        """Not a copy without an id: a cache keeps that with its id or without, by chance."""
        return super().node("respaces", text)


class ListPrograms(Programs):
    """The same where a node writes the whole list."""

    schema = ListState

    def node(self, kind: str, said: Any) -> Any:
        run = super().node(kind, said)
        if kind in {"graph", "returns_state", "returns_list", "returns_copies", "echoes"}:
            return run

        def node(state: Any) -> Any:
            found = run(state)["messages"]
            if kind.startswith("appends"):
                return {}
            is_all = found[: len(state["messages"])] == state["messages"]
            return {"messages": found if found and is_all else [*state["messages"], *found]}

        return node


IN_PLACE = (
    *("appends", "appends_named", "appends_answer", "returns_state", "returns_list"),
    *("returns_copies", "adds_and_returns_state", "adds_named_and_returns_list"),
    *("adds_answer_and_returns_copies", "adds_and_fails", "adds_and_asks", "handled_state"),
)
BROKEN = (
    *("falls_back", "keeps_half", "keeps_half_under_its_id", "breaks_and_is_tried_again"),
    *("gives_up_thread", "handled", "handled_half"),
)
WRITES = (
    *("writes_dict", "writes_str", "copies_as_dict", "pushes", "pushes_and_returns", "moves"),
    *("wraps", "wraps_and_hands_on", "hands_over", "starts_anew"),
)
CACHED = ("cached_streams", "cached_pair", "cached_respaced")
IN_LISTS = (
    *("streams", "copies", "strips", "writes", "echoes", "fails_once", "asks", "asks_twice"),
    *("keeps_half", "falls_back", "gives_up_thread", "wraps"),
)
ASYNC = ("waits_for", "moves_on", "moves_on_and_asks_again")
OTHERS = ("fails_once", "dies_once", "asks", "asks_twice")
HANDLERS: Final[Mapping[str, str]] = {
    "handled_state": "returns_list",
    "handled_half": "writes_half",
}


def leaves(*kinds: str) -> Any:
    return st.tuples(st.sampled_from(kinds), TEXTS)


def programs(*more: str) -> Any:
    """Some nodes, one after the other; those of graphs inside remove nothing that they edit."""
    leaf = leaves(*QUIET, *IN_PLACE, *BROKEN, *WRITES, *CACHED, *OTHERS, *more)
    inner = st.recursive(
        leaf.filter(lambda node: node[0] not in {"removes", "moves", "starts_anew"}),
        lambda inside: st.tuples(st.just("graph"), st.lists(inside, min_size=1, max_size=3)),
        max_leaves=4,
    )
    beside = BESIDE | leaves("falls_back", "keeps_half", "writes_dict", "wraps", "pushes")
    spread = st.tuples(
        st.sampled_from(["branches", "sends"]), st.lists(beside, min_size=2, max_size=3)
    )
    return st.lists(leaf | inner | spread, min_size=1, max_size=4)


MODES = st.lists(
    st.sampled_from(["messages", "messages", "updates", "values", "custom", "tasks"]),
    min_size=1,
    unique=True,
)
FORMS: Final[tuple[Any, ...]] = ("exact", "stock")
CONFIGS = st.builds(
    DedupConfig,
    state=st.sampled_from(["full", "changed", "new_messages", "auto"]),
    reexecution=st.sampled_from(["retract", "retract", "hold"]),
)


USUAL: Final[Mapping[str, Any]] = {
    "config": DedupConfig(),
    "modes": "messages",
    "subgraphs": False,
    "version": "v1",
}
ALL_SHOWN: Final[Mapping[str, Any]] = {
    **USUAL,
    "modes": ["messages", "updates", "values"],
    "subgraphs": True,
}


@dataclass(frozen=True)
class Reading:
    """How a graph is read."""

    modes: Any
    subgraphs: bool = False
    version: Any = "v1"
    is_async: bool = False

    def read(self, graph: Any, asked: Any, take: Callable[[Any, str, Any], None]) -> None:
        """Take what comes, whatever its shape, as namespace, mode and data: at once, before a node
        changes it in place.
        """
        options: Any = {
            "stream_mode": self.modes,
            "subgraphs": self.subgraphs,
            "version": self.version,
            "durability": "sync",  # else a node may change what is on its way to the checkpoint
        }

        async def read() -> None:
            async for chunk in graph.astream(asked, THREAD, **options):
                take(*self._part(chunk))

        with contextlib.suppress(RuntimeError):
            if self.is_async:
                asyncio.run(read())
                return
            for chunk in graph.stream(asked, THREAD, **options):
                take(*self._part(chunk))

    def _part(self, chunk: Any) -> tuple[Any, str, Any]:
        if self.version == "v2":
            return chunk["ns"], chunk["type"], chunk["data"]
        ns, chunk = chunk if self.subgraphs and isinstance(self.modes, str) else ((), chunk)
        if isinstance(self.modes, str):
            return ns, self.modes, chunk
        return chunk if self.subgraphs else ((), *chunk)


class EventLog:
    """A graph is read by the log of its protocol events, v3."""

    modes = ("messages", "values")

    def read(self, graph: Any, asked: Any, take: Callable[[Any, str, Any], None]) -> None:
        """Take each message as it is complete, and each state."""
        reader = V3Reader()
        with contextlib.suppress(RuntimeError):
            for event in graph.stream_events(asked, THREAD, version="v3", durability="sync"):
                if event["method"] == "values":
                    take((*event["params"]["namespace"],), "values", event["params"]["data"])
                for told in reader.feed(event):
                    take(told.ns, "messages", (told.data, {}))
            for told in reader.close():
                take(told.ns, "messages", (told.data, {}))


def words(message: BaseMessage) -> str:
    """What a message says, without white space, which a reader may have as it was streamed."""
    return "".join(str(message.text).split())


def listed(data: Any) -> Iterator[BaseMessage]:
    """The messages in the lists of an update or a state, raw ones as what they become.

    Where a node pushes messages, its update is a list of updates.
    """
    if isinstance(data, list):
        for update in data:
            yield from listed(update)
    for key, value in data.items() if isinstance(data, dict) else ():
        if key == "messages":
            items = value if isinstance(value, list) else [value]
            yield from convert_to_messages(
                [tuple(item) if isinstance(item, list) else item for item in items]
            )
        else:
            yield from listed(value)


Said: TypeAlias = list[tuple[str | None, str]]
"""The messages of a state: the id of each, and what it says."""


@dataclass
class Reader:
    """What a reader has: texts by id, and those that came without one."""

    takes_back: bool
    texts: dict[str, str] = field(default_factory=dict)
    unnamed: list[str] = field(default_factory=list)

    def take(self, mode: str, data: Any) -> None:
        for message in [data[0]] if mode == "messages" else listed(data):
            if isinstance(message, RemoveMessage):
                self._drop(str(message.id))
            elif not message.id:
                self.unnamed.append(words(message))
            else:
                is_chunk = isinstance(message, AIMessageChunk)
                before = self.texts.get(message.id, "") if is_chunk else ""
                self.texts[message.id] = before + words(message)

    def _drop(self, message_id: str) -> None:
        if self.takes_back and message_id == REMOVE_ALL_MESSAGES:
            self.texts.clear()
        elif self.takes_back:
            self.texts.pop(message_id, None)

    def has(self) -> Counter[str]:
        return Counter(self.texts.values()) + Counter(self.unnamed)

    def has_of(self, state: Said) -> Counter[str]:
        """What it has of a state: each message by its id, or by what it says if it had none."""
        named = Counter(said for known, said in state if known and self.texts.get(known) == said)
        return named + ((Counter(said for _, said in state) - named) & Counter(self.unnamed))


@dataclass
class Played:
    """What readers had of a thread, by mode, and in all."""

    readers: dict[str, Reader]

    final: Said
    """What stands in it at last."""

    stood: dict[str, str] = field(default_factory=dict)
    """What stood in it before a run, by id."""

    unnamed: Counter[str] = field(default_factory=Counter)
    """What stood in it before a run without an id."""

    def had_before(self, reader: Reader) -> Counter[str]:
        """What a reader need not be told, as it stood there before a run."""
        return self.unnamed + Counter(
            said for known, said in self.stood.items() if known not in reader.texts
        )


def said_in(graph: Any) -> Said:
    messages = graph.get_state(THREAD).values.get("messages", [])
    return [(m.id, words(m)) for m in messages if m.text not in TURNS]


def played(
    graph: Any, reading: Reading | EventLog, *, turns: int, is_plain: bool = False
) -> Played:
    """Some turns of a thread, each until nothing waits."""
    modes = [reading.modes] if isinstance(reading.modes, str) else reading.modes
    readers = {mode: Reader(takes_back=not is_plain) for mode in [*modes, "all"]}
    found = Played(readers, [])

    def take(ns: Any, mode: str, data: Any) -> None:
        # What a graph inside returns without an id comes once more in the graph around it.
        if mode in MESSAGE_MODES and not (is_plain and ns and mode != "messages"):
            readers[mode].take(mode, data)
            readers["all"].take(mode, data)

    for turn in TURNS[:turns]:
        asked: Any = {"messages": [HumanMessage(turn)]}
        for _ in range(20):
            before = said_in(graph)
            found.stood.update((known, said) for known, said in before if known)
            found.unnamed |= Counter(said for known, said in before if not known)
            reading.read(graph, copy.deepcopy(asked), take)
            state = graph.get_state(THREAD)
            if not state.next:
                break
            asked = answer_to(state)
    found.final = said_in(graph)
    return found


def check(
    nodes: Any, config: DedupConfig, reading: Reading | EventLog, make: Any = Programs
) -> None:
    """What plain LangGraph shows of the final state, a reader of the wrapped graph has."""

    def made() -> Any:
        return make().graph(nodes, checkpointer=InMemorySaver(), cache=InMemoryCache())

    turns = len(TURNS) if make is Programs else 1  # the next input replaces the list
    plain = played(made(), reading, turns=turns, is_plain=True)
    modes = set(plain.readers) - {"all"}
    for form in FORMS:
        ours = played(once(made(), replace(config, form=form)), reading, turns=turns)
        assert Counter(said for _, said in ours.final) == Counter(said for _, said in plain.final)
        is_cut = form == "exact" and ExactForm().cuts_states(config, modes)
        for mode in ["all"] if is_cut else sorted(modes):
            told = ours.readers[mode]
            missing = plain.readers[mode].has_of(plain.final) - told.has() - ours.had_before(told)
            assert not missing, f"{form}, {mode}: {missing}"


@examples(20, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
@given(
    nodes=programs(),
    config=CONFIGS,
    modes=MODES | st.just("messages"),
    subgraphs=st.booleans(),
    version=st.sampled_from(["v1", "v2"]),
)
@example(
    nodes=[("graph", [("streams", "ok"), ("pushes", "ok")])],
    config=DedupConfig(state="auto"),
    modes=["values", "updates"],
    subgraphs=True,
    version="v1",
)
@example(nodes=[("keeps_half", "ok")], **USUAL)
@example(nodes=[("adds_named_and_returns_list", "ok")], **USUAL)
@example(nodes=[("cached_pair", "ok"), ("copies_as_pair", "ok")], **USUAL)
@example(nodes=[("sends", [("copies", "ok"), ("copies", "ok"), ("writes", "ok")])], **USUAL)
@example(nodes=[("branches", [("asks", "Another text."), ("writes_dict", "ok")])], **ALL_SHOWN)
def test_nothing_is_left_out_that_plain_langgraph_shows(
    nodes: Any, config: DedupConfig, modes: Any, subgraphs: bool, version: Any
) -> None:
    check(nodes, config, Reading(modes, subgraphs, version))


@examples(10, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
@given(
    nodes=programs(*ASYNC, *ASYNC),
    config=CONFIGS,
    modes=MODES | st.just("messages"),
    subgraphs=st.booleans(),
    version=st.sampled_from(["v1", "v2"]),
)
def test_nor_in_async_streams(
    nodes: Any, config: DedupConfig, modes: Any, subgraphs: bool, version: Any
) -> None:
    check(nodes, config, Reading(modes, subgraphs, version, is_async=True))


LISTS = st.lists(
    leaves(*IN_PLACE, *IN_PLACE, *IN_LISTS)
    | st.tuples(st.just("graph"), st.lists(leaves(*IN_PLACE, *IN_LISTS), min_size=1, max_size=3)),
    min_size=1,
    max_size=5,
)


@examples(15, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
@given(
    nodes=LISTS,
    config=CONFIGS,
    modes=MODES | st.just("messages"),
    subgraphs=st.booleans(),
    version=st.sampled_from(["v1", "v2"]),
)
@example(nodes=[("streams", "ok"), ("appends", "Yes."), ("returns_list", "")], **USUAL)
@example(nodes=[("appends", "Yes."), ("asks", "ok"), ("returns_list", "")], **USUAL)
@example(
    nodes=[("appends", "ok"), ("graph", [("returns_state", ""), ("appends", "ok")])],
    config=DedupConfig(),
    modes="messages",
    subgraphs=True,
    version="v1",
)
@example(
    nodes=[("appends", "a"), ("graph", [("asks", "b"), ("appends", "c")])],
    **{**USUAL, "subgraphs": True},
)
@example(
    nodes=[
        ("asks_twice", "ok"),
        ("appends", "ok"),
        ("graph", [("asks", "ha ha ha"), ("appends", "ok")]),
    ],
    **{**USUAL, "subgraphs": True},
)
def test_nor_of_lists_that_nodes_replace(
    nodes: Any, config: DedupConfig, modes: Any, subgraphs: bool, version: Any
) -> None:
    check(nodes, config, Reading(modes, subgraphs, version), ListPrograms)


@pytest.mark.filterwarnings(
    "ignore:The v3 streaming protocol:langchain_core._api.LangChainBetaWarning"
)
@examples(15, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
@given(nodes=programs(), config=CONFIGS)
@example(nodes=[("keeps_half", "ok")], config=DedupConfig())
def test_nor_in_the_log_of_v3(nodes: Any, config: DedupConfig) -> None:
    check(nodes, config, EventLog())
