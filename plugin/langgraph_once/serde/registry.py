"""Which plan a class has, and what makes the objects of a head. Both are worked out once."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable
from types import BuiltinFunctionType, FunctionType
from typing import TYPE_CHECKING, Any, Final

from ormsgpack import Ext

from langgraph_once.errors import ConfigError, EncodeError, TypeNotAllowedError
from langgraph_once.serde.format import (
    NATIVE,
    Code,
    Head,
    Holding,
    head_bytes,
    head_parts,
    holder_bytes,
    object_of,
)
from langgraph_once.serde.names import classes_in, found, is_alias, name_of
from langgraph_once.serde.opaque import (
    STAND_INS,
    UnavailableError,
    UnwritableError,
    bare,
    source_of,
)
from langgraph_once.serde.plans import arrays, arrow, builtin, exceptions, frames, models, records
from langgraph_once.serde.plans.adapted import AdapterForm, adapted, imported_from
from langgraph_once.serde.plans.base import Form, Maker, Makers, Out, Plan, check, version_of
from langgraph_once.serde.plans.values import BY_TYPE
from langgraph_once.serde.stock import StockForm

if TYPE_CHECKING:
    from langgraph_once.config import SerdeConfig
    from langgraph_once.serde.limits import Budget
    from langgraph_once.serde.trust import Trust

_MAX_KNOWN: Final = 4096
"""Bounds the memory of a process that meets ever new classes."""
_FUNCTIONS: Final = (FunctionType, BuiltinFunctionType)
_MAX_PARAMETRISED: Final = 128
"""Of types with parameters, which exist only as long as somebody holds them."""
_LONG_HEAD: Final = 2048
"""Longer heads are worked out for each row, since they would fill the memory."""
_OF_HASHED: Final = "hashed"

FORMS: Final[tuple[Form, ...]] = (
    *builtin.FORMS[:1],
    *models.FORMS,
    *exceptions.FORMS,
    *arrays.FORMS,
    *frames.FORMS,
    *arrow.FORMS,
    *builtin.FORMS[1:],
    *records.FORMS,
)
"""Asked in this order."""


class Plans(dict[type, Plan]):
    """Plans by class, and makers by head, under one configuration and one trust. Thread-safe."""

    def __init__(self, trust: Trust, config: SerdeConfig, adapters: Iterable[Any] = ()) -> None:
        """Take what may be loaded, and what the user teaches.

        Raises:
            ConfigError: An adapter or an upgrade function is wrong, or cannot be imported.
        """
        super().__init__()
        self.trust = trust
        self.stock_makers = Makers()
        """What makes objects of LangGraph's rows, by code, module and name."""
        self._adapted = adapted(config.adapters, adapters)
        self._upgrades = {name: _upgrade(name, at) for name, at in config.upgrades.items()}
        self._forms: dict[str, Form] = {form.name: form for form in FORMS}
        self._forms |= {**self._adapted.forms, StockForm.name: StockForm(self)}
        self.makers = Makers()
        self._holders: dict[Any, bytes] = {}
        self._parametrised = 0

    def under(self, trust: Trust) -> Plans:
        """Return the same plans under another trust."""
        other = Plans.__new__(Plans)
        other.__dict__.update(self.__dict__)
        other.trust, other.stock_makers, other.makers = trust, Makers(), Makers()
        other._forms = {**self._forms, StockForm.name: StockForm(other)}  # noqa: SLF001
        return other

    def __missing__(self, cls: type) -> Plan:
        if len(self) >= _MAX_KNOWN:
            self.clear()
        try:
            plan = self._plan(cls)
        except (UnwritableError, EncodeError) as error:  # where an instance is to be written
            # The exception of a task is stored in any case, as text: that is how a run ends.
            kind = UnwritableError if issubclass(cls, BaseException) else type(error)
            plan = Plan(_refusing(kind, str(error)))
        return self.setdefault(cls, plan)

    def _plan(self, cls: type) -> Plan:
        if cls in _BUILTIN:
            return Plan(_BUILTIN[cls], has_identity=cls is set or cls in STAND_INS)
        form = self._adapted.form_for(cls)
        if form is not None:
            if isinstance(form, AdapterForm):
                return form.plan(cls, None)
            return self._of_form(form, cls)
        if cls is re.Pattern:
            return Plan(_pattern)
        if cls in BY_TYPE:
            return Plan(_value_writer(cls))
        if issubclass(cls, (type, *_FUNCTIONS)) or is_alias(cls):
            return Plan(self._named)
        form = _form_of(cls)
        if form is None:
            return Plan(_refused)
        return self._of_form(form, cls)

    def _of_form(self, form: Form, cls: type) -> Plan:
        name = name_of(cls)
        for part in classes_in(cls):
            self.trust.check_written(part, calls=form.calls and part is cls)
        return form.plan(cls, name)

    def _named(self, _out: Out, target: Any) -> Ext:
        """Return what stands for a class, a function, or a type with parameters."""
        name = name_of(target)
        if self.trust.enforcement == "strict":
            try:
                found(name, self.trust.find_named)
            except (UnavailableError, TypeNotAllowedError) as error:
                raise EncodeError(f"strict reading would refuse it: {error}") from error
        return object_of(head_bytes("named", name), None)

    def taken(self, obj: Any) -> tuple[bytes, Any]:
        """Return head and data of an object that a form writes.

        Raises:
            UnwritableError: It cannot be written exactly.
        """
        cls = type(obj)
        form: Any = self[cls].form
        name = None if isinstance(form, AdapterForm) else name_of(cls)
        extra = form.extra(obj)  # noqa: S610  # it is no Django's
        return head_bytes(form.name, name, version_of(cls), *extra), form.take(obj)

    def holder(self, head: bytes, holdings: list[Holding]) -> bytes:
        """Return the head of an object that holds the data of others."""
        key = (head, *holdings)
        found = self._holders.get(key)
        if found is None:  # another thread may clear them now
            if len(self._holders) >= _MAX_KNOWN:
                self._holders.clear()
            found = self._holders[key] = holder_bytes(head, holdings)
        return found

    def maker(self, head: bytes, budget: Budget) -> Maker:
        """Work out what makes objects of the data behind a head. `makers` has those that are known.

        Args:
            head: The head.
            budget: Of the row that is read.

        Raises:
            UnavailableError: The class is gone, or is another one today.
            TypeNotAllowedError: It may not be loaded.
        """
        parts = head_parts(head)
        if parts.form == _OF_HASHED:
            return functools.partial(_HASHED[parts.name], budget)
        form = self._forms.get(parts.form)
        if isinstance(form, StockForm):
            return form.making(parts.extra, budget)
        make = self._maker(parts)
        if len(head) > _LONG_HEAD:
            return make
        self._parametrised += type(parts.name) is list
        if self._parametrised > _MAX_PARAMETRISED:
            self.makers.clear()
            self._parametrised = 0
        name = self.trust.current_name(parts.name) if type(parts.name) is str else None
        return self.makers.note(head, make, name)

    def _maker(self, head: Head) -> Maker:
        if head.form == "named":
            target = found(head.name, self.trust.find_named)
            return lambda _: target
        form = self._forms.get(head.form)
        if form is None:
            raise UnavailableError(
                f"this version knows no form {head.form!r:.80}; was it an adapter?"
            )
        if isinstance(form, AdapterForm):
            return form.maker(object, head.extra)
        cls = self._loaded(form, head.name)
        if head.version > version_of(cls):
            raise UnavailableError(
                f"version {head.version} of its class wrote it, and `__once_version__` is "
                f"{version_of(cls)} here"
            )
        upgrade = self._upgrade_of(cls, head) if head.version < version_of(cls) else None
        if upgrade is None:
            return form.maker(cls, head.extra)
        return form.upgraded(cls, head.extra, upgrade)

    def _loaded(self, form: Form, name: Any) -> type:
        cls = found(name, self.trust.find)
        if not isinstance(cls, type) or not form.matches(cls):
            raise UnavailableError("it is another kind of class today")
        if form.calls and (cls in BY_TYPE or _form_of(cls) is not form):
            raise UnavailableError("its objects are made without a call")  # one may take any range
        for part in classes_in(cls):
            self.trust.check(part, calls=form.calls and part is cls)
        return cls

    def _upgrade_of(self, cls: type, head: Head) -> Callable[[Any], Any] | None:
        """Return the function of a class, or of the base that it has its version from."""
        for part in cls.__mro__:
            upgrade = self._upgrades.get(f"{part.__module__}:{part.__qualname__}")
            if upgrade is not None:
                return lambda data: _upgraded(upgrade, data, head.version)
            if "__once_version__" in vars(part):
                return None
        return None

    def showing(self, head: bytes) -> Callable[[Any], Any]:
        """Return what returns, of data, what LangGraph would hand on for an object of a head."""
        form_name, name, _, extra = head_parts(head)
        if form_name == _OF_HASHED:
            return lambda data: data if name != "dict" else None
        form = self._forms.get(form_name)

        def show(data: Any) -> Any:
            try:
                return None if form is None else form.shown(data, extra)
            except Exception:  # the data may be anybody's
                return None

        return show

    def blank(self, head: bytes) -> Any:
        """Return an object without content, which `fill` gives it.

        Raises:
            UnavailableError: There is no such class.
            TypeNotAllowedError: It may not be loaded.
        """
        form, cls, _ = self._described(head)
        if not form.is_fillable(cls):
            raise ValueError("such an object cannot contain itself")
        return form.blank(cls)

    def fill(self, head: bytes, obj: Any, data: Any) -> None:
        """Give an object that `blank` made its content."""
        form, _, extra = self._described(head)
        form.fill(obj, data, extra)

    def _described(self, head: bytes) -> tuple[Form, type, list[Any]]:
        form_name, name, _, extra = head_parts(head)
        form = self._forms[form_name]
        return form, self._loaded(form, name), extra


def _form_of(cls: type) -> Form | None:
    return next((form for form in FORMS if form.matches(cls)), None)


def _upgrade(name: str, at: str) -> Callable[[Any, int], Any]:
    key = f"SerdeConfig.upgrades[{name!r}]"
    function = imported_from(at, key)
    if not callable(function):
        raise ConfigError(key, "is not a function (data, from_version)")
    return function  # type: ignore[no-any-return]


def _upgraded(upgrade: Callable[[Any, int], Any], data: Any, version: int) -> Any:
    try:
        changed = upgrade(data, version)
    except Exception as error:
        raise UnavailableError(
            f"its upgrade function raised {type(error).__name__} for version {version}"
        ) from error
    if type(data) is dict and (type(changed) is not dict or {*map(type, changed)} - {str}):
        raise UnavailableError(
            f"its upgrade function returned a {type(changed).__name__} for version {version}, and "
            "must return a dictionary of attributes by name"
        )
    return changed


def _hashed(budget: Budget, items: list[Any], make: Callable[[], Any]) -> Any:
    """Make a set of these items, or a dictionary of which they are the keys."""
    try:
        budget.take_hashes(items)
        made = make()
    except TypeError as error:
        raise UnavailableError("one of its items or keys cannot be hashed here") from error
    if len(made) != len(items):
        raise ValueError("an item or key twice")
    return made


def _items(kind: Any) -> Callable[[Budget, Any], Any]:
    # A range has 2**62 items: it is no list.
    return lambda budget, items: _hashed(budget, check(items, list), lambda: kind(items))


def _pairs(budget: Budget, items: Any) -> Any:
    keys = check(items, list)[::2]
    return _hashed(budget, keys, lambda: dict(zip(keys, items[1::2], strict=True)))


_HASHED: Final[dict[str, Callable[[Budget, Any], Any]]] = {
    "set": _items(set),
    "frozenset": _items(frozenset),
    "dict": _pairs,
}


def _value_writer(cls: type) -> Callable[[Out, Any], Ext]:
    number, take, _ = BY_TYPE[cls]
    code, first = int(Code.VALUE), bytes((number,))  # members of enums cost more to look up
    return lambda out, value: Ext(code, first + out.nested(take(value)))


_PATTERN: Final = _value_writer(re.Pattern)


def _pattern(out: Out, value: re.Pattern[Any]) -> Ext:
    out.note_pattern(value)
    return _PATTERN(out, value)


def _array(kind: Code) -> Callable[[Out, Any], Ext]:
    code = int(kind)
    return lambda out, value: Ext(code, out.array(value))


def _set(out: Out, value: set[Any]) -> Ext:
    out.met.append(id(value))
    return Ext(Code.SET, out.nested([*value]))


def _integer(_out: Out, value: int) -> Ext:
    return Ext(Code.INT, value.to_bytes(value.bit_length() // 8 + 1, "big", signed=True))


def _stand_in(out: Out, value: Any) -> Any:
    """Return what is written for a stand-in."""
    source = source_of(value)
    if source is None:
        return bare(value)
    out.kept.append(source)
    return out.object(value, *source)


def _refusing(kind: type[Exception], reason: str) -> Callable[[Out, Any], Ext]:
    def refuse(_out: Out, _value: Any) -> Ext:
        raise kind(reason)

    return refuse


def _refused(_out: Out, value: Any) -> Ext:
    name = f"{type(value).__module__}:{type(value).__qualname__}"
    raise UnwritableError(
        f"nobody knows how to write a {name}; teach the codec with an adapter in `adapters`", value
    )


_BUILTIN: Final[dict[type, Callable[[Any, Any], Any]]] = {
    **dict.fromkeys((*NATIVE, list, dict), _refused),
    int: _integer,
    tuple: _array(Code.TUPLE),
    set: _set,
    frozenset: _array(Code.FROZENSET),
    **dict.fromkeys(STAND_INS, _stand_in),
}
"""How the codec's own types are written."""
