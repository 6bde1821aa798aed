"""What other packages add to this one, named by their entry points.

An entry point of the group `langgraph_once.extensions` is named for the socket that it fits:

| name | what it is |
|---|---|
| `command.NAME` | the `click.Command` of `langgraph-once NAME` |
| `routes.NAME` | `(Settings) -> Iterable[Route]`, called when the server's app is made |
| `serving.NAME` | `(OnceSaver, Settings) -> AbstractAsyncContextManager[None]`, around a server |

The package of operations is one; nothing here knows its name. What cannot be imported is absent.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Final, Literal, TypeAlias

Socket: TypeAlias = Literal["command", "routes", "serving"]

GROUP: Final = "langgraph_once.extensions"


def names(socket: Socket) -> list[str]:
    """Return the names of what fits a socket, whether it can be imported or not, sorted."""
    return sorted(_named(socket))


def load(socket: Socket, name: str) -> Any:
    """Return what an entry point stands for.

    Args:
        socket: Where it fits.
        name: Of the entry point.

    Raises:
        ImportError: Its package, or one that it needs, is not installed.
    """
    return _named(socket)[name].load()


def present(socket: Socket) -> list[Any]:
    """Return all that fits a socket and can be imported, by name."""
    return [each for _, each in _tried(socket) if not isinstance(each, ImportError)]


def absent(socket: Socket) -> dict[str, str]:
    """Return why something that fits a socket cannot be imported, by its name."""
    return {name: str(each) for name, each in _tried(socket) if isinstance(each, ImportError)}


def _tried(socket: Socket) -> Iterator[tuple[str, Any]]:
    for name, entry in sorted(_named(socket).items()):  # which asks every package once
        try:
            yield name, entry.load()
        except ImportError as error:
            yield name, error


def _named(socket: Socket) -> dict[str, EntryPoint]:
    found = entry_points(group=GROUP)
    fitting = (each for each in found if each.name.startswith(f"{socket}."))
    return {each.name.removeprefix(f"{socket}."): each for each in fitting}
