"""What `langgraph.json` points at, by dotted path.

graphs.<id>.path    langgraph_once.platform.graphs:<id>
checkpointer.path   langgraph_once.platform.checkpointer.saver
store.path          langgraph_once.platform.store.store
http.app            langgraph_once.platform.app:app

startup.py         settings checked when the server starts; a user's mistake in one line
targets.py         the user's graphs, wrapped; the types in the states of these graphs
types_report.py    `langgraph-once types`: which types a project stores
check.py           `langgraph-once check`: all that is wrong with a project
components.py      what is wrong with what it names by path; what a finding is
wiring.py          `langgraph-once init`: how a project is wired
health.py, access.py  what the app tells, and to whom
sse.py             event streams on their way out, compressed

A server imports each of the four by its path. What commands and operations ask is imported when it
is first asked for.
"""

from typing import TYPE_CHECKING

from langgraph_once.lazy import lazily

if TYPE_CHECKING:
    from langgraph_once.platform.access import is_from_another_site, may_see
    from langgraph_once.platform.check import check_project
    from langgraph_once.platform.components import CheckFinding
    from langgraph_once.platform.startup import serializer_for, store_database
    from langgraph_once.platform.targets import (
        graph_types,
        load_file,
        load_name,
        load_object,
        types_of_code,
    )
    from langgraph_once.platform.types_report import as_json, as_text, report_types, summary
    from langgraph_once.platform.wiring import Plan, find_graphs, tried_plan
else:
    __getattr__, __dir__ = lazily(
        __name__,
        {
            "langgraph_once.platform.access": ("is_from_another_site", "may_see"),
            "langgraph_once.platform.check": ("check_project",),
            "langgraph_once.platform.components": ("CheckFinding",),
            "langgraph_once.platform.startup": ("serializer_for", "store_database"),
            "langgraph_once.platform.targets": (
                *("graph_types", "load_file", "load_name", "load_object", "types_of_code"),
            ),
            "langgraph_once.platform.types_report": (
                *("as_json", "as_text", "report_types", "summary"),
            ),
            "langgraph_once.platform.wiring": ("Plan", "find_graphs", "tried_plan"),
        },
    )

__all__ = [
    "CheckFinding",
    "Plan",
    "as_json",
    "as_text",
    "check_project",
    "find_graphs",
    "graph_types",
    "is_from_another_site",
    "load_file",
    "load_name",
    "load_object",
    "may_see",
    "report_types",
    "serializer_for",
    "store_database",
    "summary",
    "tried_plan",
    "types_of_code",
]
