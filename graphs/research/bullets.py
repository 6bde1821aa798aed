"""Lists in text, as models write and read them: one item per `- ` line."""

from collections.abc import Iterable

__all__ = ["join_bullets", "split_bullets"]

BULLET = "- "


def join_bullets(items: Iterable[str]) -> str:
    """Write `items` as a list."""
    return "\n".join(f"{BULLET}{item}" for item in items)


def split_bullets(text: str) -> list[str]:
    """The items listed in `text`, each once; lines that are no items are passed over."""
    lines = (line.strip() for line in text.splitlines())
    items = (line.removeprefix(BULLET).strip() for line in lines if line.startswith(BULLET))
    return list(dict.fromkeys(item for item in items if item))
