"""A `langgraph.json` goes in; a report of the types that the project stores comes out.

graph_types.py   the types in the states of the graphs
types_report.py  the types in the database as well, and which of them need a setting
types_shown.py   the report as text and as JSON
"""

from langgraph_once.platform.types.graph_types import types_of_code
from langgraph_once.platform.types.types_report import TypeFinding, TypesReport, report_types
from langgraph_once.platform.types.types_shown import as_json, as_text, summary

__all__ = [
    "TypeFinding",
    "TypesReport",
    "as_json",
    "as_text",
    "report_types",
    "summary",
    "types_of_code",
]
