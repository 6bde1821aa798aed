"""IP networks that nothing can walk through while a value is being rebuilt.

`IPv6Network("::/64")` takes nine characters and yields 2**64 addresses: `set` or a pydantic
list field that is handed one never comes back. No rule on arguments can tell such a blob from
a model with a network in its fields. So a rebuilt network refuses iteration until the whole
value stands, and then becomes an ordinary one.
"""

from __future__ import annotations

from ipaddress import IPv4Network, IPv6Network
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["hold", "is_network", "release"]

_WALKED: Final = "_langgraph_once_walked"


class _HeldIPv4Network(IPv4Network):
    def __iter__(self) -> Iterator[Any]:
        raise _refusal(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return IPv4Network, (str(self),)


class _HeldIPv6Network(IPv6Network):
    def __iter__(self) -> Iterator[Any]:
        raise _refusal(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return IPv6Network, (str(self),)


def _refusal(network: IPv4Network | IPv6Network) -> TypeError:
    # Constructors may swallow the exception, hence the mark.
    setattr(network, _WALKED, True)
    return TypeError("a network stands where a collection was expected")


def is_network(value: object) -> bool:
    """Whether `value` is a network of the standard library (subclasses excepted)."""
    return type(value) in (IPv4Network, IPv6Network)


def hold(network: IPv4Network | IPv6Network) -> None:
    """Make `network` refuse iteration."""
    held = _HeldIPv4Network if isinstance(network, IPv4Network) else _HeldIPv6Network
    network.__class__ = held


def release(network: IPv4Network | IPv6Network) -> bool:
    """Undo `hold`; return whether something tried to iterate meanwhile."""
    network.__class__ = IPv4Network if isinstance(network, IPv4Network) else IPv6Network
    return _WALKED in vars(network)
