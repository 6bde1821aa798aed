"""Types that users teach the codec.

An `Adapter` knows concrete types (`Fraction`, `range`), and its name stands for them in the bytes.
A `SubclassAdapter` knows some types and all that is derived from them: the bytes name the class
beside the data, and trust is asked whether it may be loaded.

`encode` turns an object into data: any value that the codec can write, other objects included.
`decode` gets what may be anybody's data, and checks its shape before it calls any constructor. What
refuses an object says why with an `UnwritableError`, what refuses data with an `UnreadableError`.
Of every other error only the type is shown, since its message may quote the object.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from types import FunctionType
from typing import Any, Final

from langgraph_once.errors import ConfigError
from langgraph_once.serde.format import NATIVE
from langgraph_once.serde.opaque import Opaque, UnavailableError, UnreadableError, UnwritableError
from langgraph_once.serde.plans.base import Form, Maker


@dataclass(frozen=True, slots=True, kw_only=True)
class Adapter:
    """How values of some concrete types are written and rebuilt."""

    name: str
    """Stands for the adapter in the bytes, for ever: short, lower case, never reused."""

    types: tuple[type, ...]
    """The exact types it writes; for their subclasses there is `SubclassAdapter`."""

    encode: Callable[[Any], Any]
    """Object to data. Must not change the object."""

    decode: Callable[[Any], Any]
    """Data, as read from untrusted bytes, to object. Checks the shape of the data before it calls
    any constructor, and raises `ValueError` or `TypeError` for any other shape."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SubclassAdapter:
    """How values of some types, and of all that is derived from them, are written and rebuilt.

    Of several that know a class, the one whose base is nearest to it writes it. A class that two
    bases are equally near to is refused: register an `Adapter` for it, or name it as a base.
    """

    name: str
    """Stands for the adapter in the bytes, for ever, as the name of an `Adapter`."""

    bases: tuple[type, ...]
    """Instances of these and of their subclasses are meant; classes that were registered as
    virtual subclasses are not. Instances of `list`, `dict` and the like themselves never are."""

    encode: Callable[[Any], Any]
    """Object to data, which must hold all that `decode` needs besides the class."""

    decode: Callable[[Any, Any], Any]
    """The class, which the bytes name and trust lets pass, and untrusted data to an instance of
    exactly that class; as `Adapter.decode`. Anything else is refused."""


_CLAIMED_BY_NONE: Final = NATIVE | {
    *(list, dict, tuple, set, frozenset, bytearray, memoryview),
    *(type, FunctionType, Opaque),
}
"""The types that the codec itself writes."""


class _OwnForm(Form):
    """What a user teaches. Where the class is gone, nobody knows what LangGraph would show."""

    upgrades_shown = False

    def __init__(self, adapter: Any) -> None:
        self.name = f"own:{adapter.name}"
        self.adapter = adapter

    def take(self, obj: Any) -> Any:
        return _asked(self.adapter.encode, UnwritableError, obj)


class AdapterForm(_OwnForm):
    """Instances of the types of one `Adapter`."""

    def maker(self, cls: type, extra: list[Any]) -> Maker:
        return lambda data: _asked(self.adapter.decode, UnreadableError, data)


class SubclassForm(_OwnForm):
    """Instances of all that is derived from the bases of one `SubclassAdapter`."""

    def matches(self, cls: type) -> bool:
        return not {*cls.__mro__}.isdisjoint(self.adapter.bases)

    def maker(self, cls: type, extra: list[Any]) -> Maker:
        def make(data: Any) -> Any:
            made = _asked(self.adapter.decode, UnreadableError, cls, data)
            if type(made) is not cls:
                raise UnavailableError(f"its `decode` made a {type(made).__qualname__}")
            return made

        return make


def _asked(function: Callable[..., Any], refusal: type[ValueError], *args: Any) -> Any:
    """Return what a function of the user returns."""
    try:
        return function(*args)
    except (UnwritableError, UnreadableError) as error:
        if refusal is UnwritableError:
            raise
        raise UnavailableError(str(error)) from error
    except Exception as error:
        kind = UnwritableError if refusal is UnwritableError else UnavailableError
        raise kind(f"its adapter raised {type(error).__name__}") from error


class Adapted:
    """The forms of all adapters of one serializer."""

    def __init__(self, adapters: Iterable[Any]) -> None:
        """Check that each name, each type and each base is taken once.

        Raises:
            ConfigError: It is not, or one of them is no adapter.
        """
        self.forms: dict[str, AdapterForm | SubclassForm] = {}
        self._by_type: dict[type, AdapterForm] = {}
        self._by_base: dict[type, SubclassForm] = {}
        for adapter in adapters:
            self._add(adapter)

    def form_for(self, cls: type) -> Form | None:
        """Return the form for a class; None where no adapter knows it.

        Raises:
            UnwritableError: Two bases are equally near to it.
        """
        if cls in self._by_type:
            return self._by_type[cls]
        known = [base for base in cls.__mro__ if base in self._by_base]
        nearest = [base for base in known if not any(base in other.__mro__[1:] for other in known)]
        forms = {self._by_base[base].name: self._by_base[base] for base in nearest}
        if len(forms) > 1:
            names = " and ".join(repr(form.adapter.name) for _, form in sorted(forms.items()))
            raise UnwritableError(
                f"the adapters {names} are equally near; register one for the class itself"
            )
        return next(iter(forms.values()), None)

    def _add(self, adapter: Any) -> None:
        form: Any
        table: dict[type, Any]
        if isinstance(adapter, Adapter):
            form, claimed, table = AdapterForm(adapter), adapter.types, self._by_type
        elif isinstance(adapter, SubclassAdapter):
            form, claimed, table = SubclassForm(adapter), adapter.bases, self._by_base
        else:
            raise ConfigError(
                "adapters",
                f"{type(adapter).__qualname__} is neither an `Adapter` nor a `SubclassAdapter`",
            )
        if form.name in self.forms:
            raise _clash(f"the name {adapter.name!r}", self.forms[form.name], form)
        self.forms[form.name] = form
        for cls in claimed:
            if cls is object or (cls in _CLAIMED_BY_NONE and isinstance(adapter, Adapter)):
                raise ConfigError(
                    "adapters", f"{adapter.name!r} claims {cls.__name__}, which is native"
                )
            if table.setdefault(cls, form) is not form:
                name = f"{cls.__module__}:{cls.__qualname__}"
                kind = "type" if isinstance(adapter, Adapter) else "base"
                raise _clash(f"the {kind} {name}", table[cls], form)


def _clash(what: str, first: Any, second: Any) -> ConfigError:
    return ConfigError(
        "adapters", f"{_shown(first)} and {_shown(second)} both claim {what}; remove one"
    )


def _shown(form: Any) -> str:
    return f"{form.adapter.name!r} (of {getattr(form.adapter.encode, '__module__', '?')})"


def adapted(names: Iterable[str], given: Iterable[Any]) -> Adapted:
    """Return the adapters that were given, and those that the configuration names.

    Raises:
        ConfigError: One cannot be imported, or as `Adapted`.
    """
    return Adapted([*given, *(imported_from(name, "SerdeConfig.adapters") for name in names)])


def imported_from(name: str, key: str) -> Any:
    """Return what stands at `module:Name`; `key` is the setting that says so.

    Raises:
        ConfigError: It cannot be imported.
    """
    module, _, path = name.partition(":")
    try:
        target: Any = importlib.import_module(module)
        for part in path.split("."):
            target = getattr(target, part)
    except Exception as error:
        raise ConfigError(key, f"{name} cannot be imported ({type(error).__name__})") from error
    return target
