"""Events folded to what a consumer has."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage

from langgraph_once.events import (
    ArtifactEvent,
    ChannelUpdateEvent,
    ChannelValueEvent,
    CustomEvent,
    Event,
    GapPossibleEvent,
    InterruptEvent,
    MessageCompletedEvent,
    MessageRemovedEvent,
    MessageReplacedEvent,
    MessageSupersededEvent,
    SoFar,
    StreamEndedEvent,
    StreamErrorEvent,
    TaskFinishedEvent,
    TaskStartedEvent,
    TokenStreamEvent,
    ToolCallCompletedEvent,
    ToolCallFailedEvent,
    ToolCallProgressEvent,
    ToolCallStartedEvent,
    ToolResultEvent,
    Transcript,
    UIEvent,
    UsageEvent,
    Where,
)

ROOT = Where((), "model", "1")
AGENT = Where(("agent:1",), "model", "2")
OTHER = Where(("other:1",), "model", "3")
INSIDE = Where(("agent:1", "tool:1"), "model", "4")


def token(text: str, message_id: str = "m", where: Where = ROOT, **how: Any) -> TokenStreamEvent:
    so_far = SoFar.of(text)
    return TokenStreamEvent(
        seq=0, where=where, message_id=message_id, content_delta=text, so_far=so_far, **how
    )


def whole(text: str, message_id: str | None = "m", where: Where = ROOT) -> MessageCompletedEvent:
    message = AIMessage(text, id=message_id)
    return MessageCompletedEvent(seq=0, where=where, message_id=message_id, message=message)


def replaced(message: Any, where: Where = ROOT) -> MessageReplacedEvent:
    return MessageReplacedEvent(seq=0, where=where, message_id=message.id, message=message)


def removed(message_id: str, where: Where = ROOT) -> MessageRemovedEvent:
    return MessageRemovedEvent(seq=0, where=where, message_id=message_id)


def facts(index: int = 0, message_id: str | None = "m", where: Where = ROOT) -> dict[str, Any]:
    return {
        "seq": 0,
        "where": where,
        "tool_call_id": f"c{index}",
        "name": "find",
        "index": index,
        "message_id": message_id,
    }


def call(**how: Any) -> list[Event]:
    args: Any = {"final_args": '{"a":1}', "parsed_args": {"a": 1}}
    return [ToolCallStartedEvent(**facts(**how)), ToolCallCompletedEvent(**facts(**how), **args)]


def result(content: str, where: Where = ROOT, message_id: str | None = "m") -> ToolResultEvent:
    return ToolResultEvent(
        seq=0,
        where=where,
        tool_call_id="c0",
        name="find",
        message_id=message_id,
        status="success",
        content=content,
    )


def texts(*events: Event) -> list[str]:
    return [str(message.text) for message in Transcript(events).messages(None)]


def test_a_message_that_is_being_said_is_there_with_what_it_has_said() -> None:
    (message,) = Transcript([token("One "), token("two.")]).messages()
    assert isinstance(message, AIMessage)
    assert (message.content, message.id) == ("One two.", "m")


def test_the_reasoning_of_a_message_is_in_a_block_before_its_text() -> None:
    events = [token("Well", kind="reasoning"), token(" now.", kind="reasoning"), token("One.")]
    (message,) = Transcript(events).messages()
    assert message.content == [
        {"type": "reasoning", "reasoning": "Well now."},
        {"type": "text", "text": "One."},
    ]


def test_a_message_that_is_whole_is_the_one_that_was_told() -> None:
    event = whole("One two.")
    assert Transcript([token("One"), event]).messages()[0] is event.message


def test_messages_without_an_id_are_each_another() -> None:
    assert texts(whole("A", None), whole("B", None)) == ["A", "B"]
    assert texts(token("A", ""), whole("A", ""), token("B", ""), whole("B", "")) == ["A", "B"]


def test_messages_of_one_graph_or_of_all() -> None:
    transcript = Transcript([whole("A", "a"), whole("B", "b", AGENT)])
    assert [m.text for m in transcript.messages()] == ["A"]
    assert [m.text for m in transcript.messages(("agent:1",))] == ["B"]
    assert [m.text for m in transcript.messages(None)] == ["A", "B"]
    assert transcript.namespaces == ((), ("agent:1",))


def test_equal_ids_in_parallel_tasks_are_two_messages() -> None:
    assert texts(token("A", where=AGENT), token("B", where=OTHER)) == ["A", "B"]


def test_a_replacement_takes_the_place_of_the_message() -> None:
    edited = AIMessage("B!", id="b")
    assert texts(whole("A", "a"), whole("B", "b"), whole("C", "c"), replaced(edited)) == [
        "A",
        "B!",
        "C",
    ]


def test_a_replacement_of_what_was_not_told_is_told() -> None:
    assert texts(replaced(HumanMessage("New.", id="n"))) == ["New."]


def test_a_replacement_finds_the_last_of_its_id_around_and_inside_its_graph() -> None:
    said = [whole("A", where=AGENT), whole("B", where=OTHER)]
    assert texts(*said, replaced(AIMessage("X", id="m"), INSIDE)) == ["X", "B"]
    assert texts(*said, replaced(AIMessage("X", id="m"), ROOT)) == ["A", "X"]


def test_a_replacement_brings_its_own_calls() -> None:
    made = {"name": "look", "args": {"b": 2}, "id": "c9"}
    events = [*call(), whole("", "m"), replaced(AIMessage("", id="m", tool_calls=[made]))]
    (record,) = Transcript(events).tool_calls()
    found = (record.tool_call_id, record.name, record.args, record.parsed_args, record.message_id)
    assert found == ("c9", "look", '{"b": 2}', {"b": 2}, "m")
    assert Transcript([*call(), replaced(HumanMessage("", id="m"))]).tool_calls() == []


def test_a_removal_takes_the_message_and_its_calls() -> None:
    events = [*call(), whole("A"), *call(message_id="n"), whole("B", "n"), removed("m")]
    transcript = Transcript(events)
    assert [m.text for m in transcript.messages()] == ["B"]
    assert [c.message_id for c in transcript.tool_calls()] == ["n"]
    transcript.apply(token("again"))
    assert [m.text for m in transcript.messages()] == ["B", "again"]


def test_a_removal_spares_equal_ids_elsewhere() -> None:
    said = [whole("A", where=AGENT), whole("B", where=OTHER)]
    assert texts(*said, removed("m", INSIDE)) == ["B"]
    assert texts(*said, removed("m", Where(("third:1",)))) == []


def test_all_messages_of_a_graph_and_of_those_inside_it_are_removed() -> None:
    said = [whole("A", "a"), whole("B", "b", AGENT), whole("C", "c", INSIDE)]
    assert texts(*said, removed("__remove_all__", AGENT)) == ["A"]
    assert texts(*said, removed("__remove_all__", ROOT)) == []


def test_what_is_superseded_is_void() -> None:
    void = MessageSupersededEvent(seq=0, where=ROOT, old_id="m", new_id=None, reason="retry")
    assert texts(token("One"), void, token("Two", "n")) == ["Two"]


def test_a_call_grows_and_completes() -> None:
    transcript = Transcript([ToolCallStartedEvent(**facts())])
    (record,) = transcript.tool_calls()
    assert (record.args, record.parsed_args, record.error) == ("", None, None)
    so_far = SoFar.of('{"a"')
    transcript.apply(ToolCallProgressEvent(**facts(), args_delta='{"a"', so_far=so_far))
    assert record.args == '{"a"'
    transcript.apply(call()[1])
    assert (record.args, record.parsed_args) == ('{"a":1}', {"a": 1})
    assert transcript.tool_calls() == [record]


def test_a_tool_call_that_fails_is_in_the_transcript() -> None:
    failed = ToolCallFailedEvent(**facts(), error="no JSON", accumulated_args="{x")
    (record,) = Transcript([ToolCallStartedEvent(**facts()), failed]).tool_calls()
    assert (record.args, record.error, record.parsed_args) == ("{x", "no JSON", None)


def test_a_call_told_from_its_middle_on_is_there() -> None:
    (record,) = Transcript(call()[1:]).tool_calls()
    assert record.parsed_args == {"a": 1}


def test_a_call_that_is_made_again_takes_the_place_of_the_first() -> None:
    assert len(Transcript([*call(), *call()]).tool_calls()) == 1
    assert len(Transcript([*call(), *call(index=1)]).tool_calls()) == 2


@pytest.mark.parametrize("message_id", [None, ""])
def test_calls_of_messages_without_an_id_are_each_another(message_id: str | None) -> None:
    calls = Transcript([*call(message_id=message_id), *call(message_id=message_id)]).tool_calls()
    assert [c.parsed_args for c in calls] == [{"a": 1}] * 2


def test_calls_of_one_graph_or_of_all() -> None:
    transcript = Transcript([*call(), *call(where=AGENT)])
    assert [c.where for c in transcript.tool_calls()] == [ROOT, AGENT]
    assert [c.where for c in transcript.tool_calls(("agent:1",))] == [AGENT]


def answered(*events: Event) -> list[list[str]]:
    calls = Transcript(events).tool_calls()
    return [[told.content for told in call.results] for call in calls]


def test_a_result_goes_to_the_call_of_its_message_and_graph() -> None:
    assert answered(*call(), *call(message_id="n"), result("A")) == [["A"], []]
    assert answered(*call(where=AGENT), *call(where=OTHER), result("A", AGENT)) == [["A"], []]
    assert answered(*call(where=AGENT), result("A", INSIDE)) == [["A"]]
    assert answered(*call(index=1), result("A")) == [[]]
    assert answered(result("A")) == []


def test_a_result_goes_to_the_call_of_its_task_first() -> None:
    first, second = Where((), "model", "1"), Where((), "model", "2")
    calls = [*call(where=first), *call(where=second)]
    assert answered(*calls, result("A", first)) == [["A"], []]
    assert answered(*calls, result("A", Where((), "tools", "9"))) == [[], ["A"]]


def test_a_result_goes_to_a_call_without_one() -> None:
    first, second = Where((), "model", "1"), Where((), "model", "2")
    calls = [*call(where=first), *call(where=second)]
    tools = Where((), "tools", "9")
    told = [result(text, tools) for text in "ABC"]
    assert answered(*calls, *told) == [["B"], ["A", "C"]]


def test_states_updates_and_artifacts() -> None:
    def value(key: str, said: Any, where: Where = ROOT) -> ChannelValueEvent:
        return ChannelValueEvent(seq=0, where=where, key=key, value=said, previous_known=False)

    def note(said: int) -> ArtifactEvent:
        return ArtifactEvent(
            seq=0, artifact_type="Note", artifact_data=said, key="notes", artifact_id="a"
        )

    update = ChannelUpdateEvent(seq=0, where=ROOT, key="k", update=1)
    events: list[Event] = [
        value("k", 1),
        value("k", 2),
        value("k", 3, AGENT),
        update,
        update,
        note(1),
        note(2),
    ]
    transcript = Transcript(events)
    assert transcript.channels() == {"k": 2}
    assert transcript.channels(("agent:1",)) == {"k": 3}
    assert transcript.updates("k") == [("model", 1), ("model", 1)]
    assert transcript.updates("k", ("agent:1",)) == []
    assert transcript.artifacts["notes", "a"].artifact_data == 2
    inner = replace(note(3), where=AGENT)
    for event in (inner, note(4)):
        transcript.apply(event)
    assert transcript.artifacts["notes", "a"].artifact_data == 4, "the one told last"
    assert transcript.artifacts_of()["notes", "a"].artifact_data == 4
    assert transcript.artifacts_of(("agent:1",)) == {("notes", "a"): inner}
    assert transcript.namespaces == ((), ("agent:1",))


def test_what_is_shown_written_and_waited_for() -> None:
    def shown(action: Any, name: str) -> UIEvent:
        return UIEvent(seq=0, action=action, ui_id=name)

    waiting = InterruptEvent(seq=0, interrupt_id="i", value="?")
    custom = CustomEvent(seq=0, data=1)
    transcript = Transcript(
        [shown("push", "a"), shown("push", "b"), shown("remove", "a"), custom, waiting]
    )
    assert list(transcript.ui) == ["b"]
    assert transcript.custom == [custom]
    assert transcript.interrupts == {"i": waiting}


def used(tokens: int, total: int) -> UsageEvent:
    def of(count: int) -> Any:
        return {"input_tokens": 0, "output_tokens": count, "total_tokens": count}

    return UsageEvent(seq=0, message_id="m", usage=of(tokens), total=of(total))


def test_streams_of_a_thread_follow_each_other() -> None:
    ended = StreamEndedEvent(seq=9, status="interrupted")
    waiting = InterruptEvent(seq=0, interrupt_id="i", value="?")
    transcript = Transcript([used(3, 3), used(4, 7), waiting, ended])
    assert transcript.is_ended
    assert transcript.interrupts
    transcript.apply(TaskStartedEvent(seq=0, input=None))
    assert not transcript.is_ended
    assert not transcript.interrupts
    transcript.apply(TaskFinishedEvent(seq=1, result=None))
    for event in (used(5, 5), used(1, 6)):
        transcript.apply(event)
    assert transcript.usage is not None
    assert transcript.usage["total_tokens"] == 13


def test_errors_and_gaps_are_kept() -> None:
    error = StreamErrorEvent(seq=0, error_type="ValueError", message="no")
    gap = GapPossibleEvent(seq=0, reason="cut")
    transcript = Transcript([gap, error])
    assert (transcript.errors, transcript.gaps) == ([error], [gap])
    assert not transcript.is_ended


def test_a_call_that_goes_on_after_its_message_was_removed_is_there_again() -> None:
    calls = Transcript([*call(), whole(""), removed("m"), call()[1]]).tool_calls()
    assert [c.parsed_args for c in calls] == [{"a": 1}]


def test_nothing_has_ended_that_has_not_begun() -> None:
    assert not Transcript().is_ended


def test_the_repr_of_a_call_quotes_nothing() -> None:
    (record,) = Transcript([*call(), result("secret")]).tool_calls()
    assert "find" in repr(record)
    assert "secret" not in repr(record)
    assert "'a'" not in repr(record)


def test_a_call_goes_on_after_another_message_was_removed() -> None:
    begun = [*call()[:1], *call(message_id="n")[:1]]
    calls = Transcript([*begun, whole(""), removed("m"), call(message_id="n")[1]]).tool_calls()
    assert [(c.message_id, c.parsed_args) for c in calls] == [("n", {"a": 1})]
