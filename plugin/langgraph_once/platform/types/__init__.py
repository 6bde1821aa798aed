"""Which types a project stores, and which of them need a setting."""

from langgraph_once.platform.types.graph_types import types_of_code
from langgraph_once.platform.types.report import Finding, Report, report_types
from langgraph_once.platform.types.show import as_json, as_text, summary

__all__ = [
    "Finding",
    "Report",
    "as_json",
    "as_text",
    "report_types",
    "summary",
    "types_of_code",
]
