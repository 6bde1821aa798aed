"""Teams of agents, and agents that remember: other packages on top of LangGraph."""

from __future__ import annotations

from typing import Any

from langchain.agents import create_agent
from langgraph.checkpoint.memory import InMemorySaver
from langgraph_supervisor import create_supervisor
from langgraph_swarm import create_handoff_tool, create_swarm

from tests.agents.provider import Models
from tests.agents.scripts import calls, lookup, replies, result, turn
from tests.corpus.scenario import ASKED, Run, Scenario, row
from tests.corpus.units import call, heard, said

__all__ = ["deep", "supervisor", "supervisor_full", "swarm"]

PARIS = {"city": "Paris"}
REPORT = "The report says that Paris is sunny."


def supervisor(models: Models) -> Scenario:
    """A supervisor hands a task to a worker and gets its last message."""
    return _supervised(models, "last_message")


def supervisor_full(models: Models) -> Scenario:
    """A supervisor hands a task to a worker and gets all it said.

    No messages are added when it comes back: the supervisor would put them into the list of the
    worker's state that is being streamed, so that what the stream shows is chance.
    """
    return _supervised(models, "full_history", add_handoff_back_messages=False)


def _supervised(models: Models, mode: Any, **how: Any) -> Scenario:
    worker = replies(
        transferred_to_scout=calls("The scout looks.", "lookup", **PARIS),
        report="The scout is back.",
    )
    boss = replies(
        begin=calls("I ask the scout.", "transfer_to_scout"),
        back="The boss is glad.",
    )

    def graph() -> Any:
        scout = create_agent(models(worker), [lookup], name="scout")
        team = create_supervisor([scout], model=models(boss), output_mode=mode, **how)
        return team.compile()

    is_full = mode == "full_history"
    inner = {} if is_full else {"inner": True}
    back = (
        said("Transferring back to supervisor"),
        call("transfer_back_to_supervisor", {}),
        result("Successfully transferred back to supervisor"),
    )
    return row(
        "L1",
        f"supervisor-{mode}",
        "A supervisor hands a task to a worker and answers itself.",
        graph,
        said("I ask the scout."),
        call("transfer_to_scout", {}),
        result("Successfully transferred to scout"),
        said("The scout looks.", **inner),
        call("lookup", PARIS, **inner),
        result(REPORT, **inner),
        said("The scout is back."),
        *(() if is_full else back),
        said("The boss is glad."),
    )


def swarm(models: Models) -> Scenario:
    """One agent hands over to another, who answers the next turn too."""
    more, wish = turn("And one more wish.")

    def graph() -> Any:
        first = replies(begin=calls("Bob knows that.", "transfer_to_bob"))
        second = replies(
            transferred_to_bob=calls("Bob looks.", "lookup", **PARIS),
            report="Bob has found it.",
            more="Bob is still here.",
        )
        hand_over = create_handoff_tool(agent_name="bob")
        alice = create_agent(models(first), [hand_over], name="alice")
        bob = create_agent(models(second), [lookup], name="bob")
        team = create_swarm([alice, bob], default_active_agent="alice")
        return team.compile(checkpointer=InMemorySaver())

    return row(
        "L1",
        "swarm",
        "One agent hands over to another, who answers the next turn too.",
        graph,
        said("Bob knows that."),
        call("transfer_to_bob", {}),
        result("Successfully transferred to bob"),
        said("Bob looks."),
        call("lookup", PARIS),
        result(REPORT),
        said("Bob has found it."),
        wish,
        said("Bob is still here."),
        runs=(Run(ASKED), more),
    )


def deep(models: Models) -> Scenario:
    """A deep agent writes a file and sends a subagent; another turn follows."""
    task = {"description": "Look at Paris.", "subagent_type": "scout"}
    file = {"file_path": "/notes.txt", "content": "Paris"}
    boss = replies(
        begin=calls("I write it down.", "write_file", **file),
        notes=calls("I send the scout.", "task", **task),
        back="The deep agent is done.",
        more="The deep agent is still here.",
    )
    worker = replies(
        Look_at=calls("The scout looks.", "lookup", **PARIS), report="The scout is back."
    )
    more, wish = turn("And one more wish.")

    def graph() -> Any:
        from deepagents import create_deep_agent  # which takes each worker of pytest a while

        scout: Any = {
            "name": "scout",
            "description": "Looks.",
            "system_prompt": "You look.",
            "model": models(worker),
            "tools": [lookup],
        }
        saver = InMemorySaver()
        return create_deep_agent(models(boss), subagents=[scout], checkpointer=saver)

    inner = {"inner": True}
    return row(
        "D2",
        "deepagents",
        "A deep agent writes a file and sends a subagent; another turn follows.",
        graph,
        said("I write it down."),
        call("write_file", file),
        result("Updated file /notes.txt"),
        said("I send the scout."),
        call("task", task),
        heard("Look at Paris.", inner=True),
        said("The scout looks.", **inner),
        call("lookup", PARIS, **inner),
        result(REPORT, **inner),
        result("The scout is back.", inside=1),
        said("The deep agent is done."),
        wish,
        said("The deep agent is still here."),
        runs=(Run(ASKED), more),
    )
