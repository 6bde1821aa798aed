"""The tools of a researcher; they work with every model."""

from langchain_core.tools import tool
from langgraph.prebuilt import ToolRuntime

from graphs.research.bullets import join_bullets
from graphs.research.library import look_up
from graphs.research.reading_room import enter

__all__ = ["find_pitfall", "search_sources"]


@tool(response_format="content_and_artifact")
def search_sources(topic: str, runtime: ToolRuntime) -> tuple[str, list[dict[str, str]]]:
    """List publications on a topic."""
    enter(topic, str(runtime.config["configurable"]["checkpoint_ns"]))
    sources = look_up(topic).sources
    cards = [dict(zip(("title", "year"), s.rsplit(", ", 1), strict=True)) for s in sources]
    return f"{len(sources)} sources on {topic}:\n{join_bullets(sources)}", cards


@tool
def find_pitfall(topic: str) -> str:
    """Name the mistake that is most often made with a technique."""
    return look_up(topic).pitfall
