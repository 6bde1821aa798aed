"""The tools of a researcher; they work with every model."""

from langchain_core.tools import tool

from graphs.research.bullets import join_bullets
from graphs.research.library import look_up

__all__ = ["find_pitfall", "search_sources"]


@tool
def search_sources(topic: str) -> str:
    """List publications on a topic."""
    sources = look_up(topic).sources
    return f"{len(sources)} sources on {topic}:\n{join_bullets(sources)}"


@tool
def find_pitfall(topic: str) -> str:
    """Name the mistake that is most often made with a technique."""
    return look_up(topic).pitfall
