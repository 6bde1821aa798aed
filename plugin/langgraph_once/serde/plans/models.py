"""Models of pydantic, of both versions: their parts, without validation.

Validation ran when the model was made. Running it again would lose private attributes, excluded
fields and the fields of subclasses, and let validators change values that they have changed
already. So the data are what the instance holds, and never its dump.

Only a row that does not fit its class any more, since a field is gone or is new and has no default,
is read as LangGraph reads: by the constructor, which may know old names of fields, or else by
`model_construct`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, get_args, get_origin

import pydantic.networks
import pydantic_core
from pydantic import BaseModel, RootModel
from pydantic_core import PydanticUndefined

from langgraph_once.serde.format import NATIVE, head_bytes
from langgraph_once.serde.lookup import declared, imported
from langgraph_once.serde.opaque import UnavailableError, UnwritableError
from langgraph_once.serde.plans.base import Form, Maker, Out, Plan, check, parts, version_of
from langgraph_once.serde.plans.records import (
    asks_no_code,
    default_of,
    is_subclass,
    layout,
    set_up,
)

if TYPE_CHECKING:
    from ormsgpack import Ext


_new: Final = object.__new__
_set: Final = object.__setattr__
# One for each set of fields that instances were given: few, but in a program that makes them up.
_MAX_HEADS: Final = 256


class _Class(NamedTuple):
    """What instances of a model class may hold."""

    fields: dict[str, Any]
    defaults: dict[str, Callable[[], Any]]
    """What makes the default of a field or a private attribute that has one."""
    private: frozenset[str]
    expected: frozenset[str]
    """What an instance has as a rule: fields, and private attributes with a default."""
    transient: frozenset[str]
    relations: frozenset[str]
    """Other rows that a row of SQLModel refers to."""
    has_extra: bool
    is_whole: bool
    """Whether its classes declare no slots, and none is made in C."""
    is_root: bool
    manager: Any
    """What SQLAlchemy sets instances up with."""

    @property
    def no_extra(self) -> dict[str, Any] | None:
        """What an instance without extra values has in their place."""
        return {} if self.has_extra else None


def _find_class(cls: type[BaseModel]) -> _Class:
    own = layout(cls, BaseModel)
    fields = check(declared(cls, "__pydantic_fields__"), dict)
    private = check(declared(cls, "__private_attributes__"), dict)
    made = {name: default_of(field) for name, field in fields.items()}
    made |= {name: _private_default(attribute) for name, attribute in private.items()}
    defaults = {name: make for name, make in made.items() if make is not None}
    is_root = RootModel in cls.__mro__
    return _Class(
        fields,
        defaults,
        frozenset(private),
        frozenset(fields if is_root else fields.keys() | defaults.keys()),
        own.transient,
        frozenset(declared(cls, "__sqlmodel_relationships__") or ()),
        declared(cls, "model_config").get("extra") == "allow",
        is_subclass(cls, BaseModel) and not own.slots,
        is_root,
        own.manager,
    )


_class: Final[Callable[[type], _Class]] = functools.lru_cache(4096)(_find_class)


def _private_default(attribute: Any) -> Callable[[], Any] | None:
    factory = attribute.default_factory
    if factory is None:
        return None if attribute.default is PydanticUndefined else attribute.get_default
    return None if getattr(attribute, "default_factory_takes_validated_data", False) else factory


class Blank(BaseModel):
    """Becomes a model of another class once its parts are set.

    `BaseModel` checks each assignment. This class does not, and so takes a tenth of the time.
    """

    __setattr__ = object.__setattr__
    # Python looks for both of them where it looks for one.
    __delattr__ = object.__delattr__


def _becomes(cls: type[BaseModel]) -> bool:
    """Whether a `Blank` can become a `cls`: their instances have one layout in memory."""
    made: Any = _new(Blank)
    try:
        made.__class__ = cls
    except TypeError:
        return False
    return True


class ModelForm(Form):
    """Models of pydantic 2.

    The data are the values by field, where those are all. Else they are a list: of the values, the
    extra values, the private attributes, what else was put into the `__dict__`, and the names of
    fields and of private attributes with a default that are not set. The head holds the names of
    the fields set, None for all fields, and behind it True for a `RootModel`.
    """

    name = "model"

    def matches(self, cls: type) -> bool:
        return BaseModel in cls.__mro__

    def plan(self, cls: Any, name: Any) -> Plan:
        own = _class(cls)
        head_of = _heads(functools.partial(head_bytes, self.name, name, version_of(cls)), own)
        size, no_extra = len(own.fields), own.no_extra

        def plain_head(obj: Any) -> bytes | None:
            state = obj.__dict__
            if (
                obj.__pydantic_extra__ != no_extra
                or obj.__pydantic_private__ is not None
                or type(state) is not dict
                or len(state) != size
            ):
                return None
            return head_of(obj.__pydantic_fields_set__)

        def plain_run(items: list[Any]) -> tuple[bytes, list[Any]] | None:
            middle = len(items) // 2
            if type(items[middle]) is not cls or type(items[middle - 1]) is not cls:
                return None  # as in a thread, where each is of another class than the next
            names = items[0].__pydantic_fields_set__
            states = [  # pydantic sets no private attributes where none are declared
                state
                for obj in items
                if type(obj) is cls
                and type(state := obj.__dict__) is dict
                and len(state) == size
                and obj.__pydantic_fields_set__ == names
                and obj.__pydantic_extra__ is None
            ]
            return (head_of(names), states) if len(states) == len(items) else None

        def write(out: Out, obj: Any) -> Ext:
            data = self.take(obj)
            out.kept.append(data)
            return out.object(obj, head_of(obj.__pydantic_fields_set__), data)

        is_special = own.is_root or own.private or own.manager is not None or not own.is_whole
        if is_special or not asks_no_code(cls):
            return Plan(write, has_identity=True, form=self)
        holding = tuple(name for name in own.fields if _may_hold(own.fields[name].annotation))
        quick = None if own.has_extra or holding else plain_run
        return Plan(write, plain_head, quick, holding, has_identity=True, form=self)

    def take(self, obj: Any) -> Any:
        own = _class(type(obj))
        if not own.is_whole:
            raise UnwritableError("a model that keeps more than models do")
        try:
            extra, private = obj.__pydantic_extra__, obj.__pydantic_private__
        except AttributeError as error:
            raise UnwritableError("a model that was never initialised") from error
        values, strays = object.__getattribute__(obj, "__dict__"), {}
        if type(values) is not dict or values.keys() != own.fields.keys():
            state, values = values, {}
            for name, value in state.items():
                if name in own.fields:
                    values[name] = value
                elif name not in own.transient and name not in own.relations:
                    strays[name] = value
        absent = sorted(own.expected.difference(values, private or ()))
        if strays or absent or private is not None or extra != own.no_extra:
            return [values, *map(_by_name, (extra, private, strays)), absent]
        return values

    def extra(self, obj: Any) -> tuple[Any, ...]:
        own = _class(type(obj))
        return _extra(frozenset(obj.__pydantic_fields_set__), own)

    def blank(self, cls: type) -> Any:
        return _new(cls)

    def fill(self, obj: Any, data: Any, extra: list[Any]) -> None:
        own = _class(type(obj))
        names_set = _names_set(extra)
        values, others, private, strays, absent = _model_parts(data)
        learned = own.fields.keys() - values.keys() - {*absent}
        if not own.fields.keys() >= values.keys() or not own.defaults.keys() >= learned:
            _construct(obj, self.shown(data, extra), own)
            return
        made = {name: own.defaults[name]() for name in own.fields if name in learned}
        _set(obj, "__dict__", {**values, **made, **strays})
        _set(obj, "__pydantic_fields_set__", {*(values if names_set is None else names_set)})
        if not own.is_root:
            _set(obj, "__pydantic_extra__", (others or {}) if own.has_extra else None)
            _set(obj, "__pydantic_private__", _with_defaults(own, private, absent))
        set_up(obj, own.manager)

    def maker(self, cls: Any, extra: list[Any]) -> Maker:
        make, own = super().maker(cls, extra), _class(cls)
        if own.is_root or own.manager is not None or not _becomes(cls):
            return make
        names, names_set, has_extra = own.fields.keys(), _names_set(extra), own.has_extra
        fields_set = frozenset(names if names_set is None else names_set)

        def make_whole(data: Any) -> Any:
            values, private = _whole_parts(data) if own.private else (data, None)
            if type(values) is not dict or values.keys() != names:
                return make(data)
            if own.private and (type(private) is not dict or private.keys() != own.private):
                return make(data)
            obj: Any = _new(Blank)
            obj.__dict__ = values
            obj.__pydantic_fields_set__ = set(fields_set)
            obj.__pydantic_extra__ = {} if has_extra else None
            obj.__pydantic_private__ = private
            obj.__class__ = cls
            return obj

        return make_whole

    def shown(self, data: Any, extra: list[Any]) -> Any:
        values, others, *_ = _model_parts(data)
        is_root = len(extra) > 1
        return values.get("root") if is_root else {**values, **(others or {})}

    def upgraded(self, cls: Any, extra: list[Any], upgrade: Callable[[Any], Any]) -> Maker:
        own, names_set = _class(cls), _names_set(extra)

        def make(data: Any) -> Any:
            values, others, private, strays, _ = _model_parts(data)
            before = {**values, **strays, **(others or {}), **(private or {})}
            was_set = {*(values if names_set is None else names_set)}
            given = check(upgrade(dict(before)), dict)
            now_private = {name: given.pop(name) for name in own.private & given.keys()}
            rest = {name: given[name] for name in given if name not in own.fields}
            if rest and not own.has_extra:
                told = f"it has no field {min(rest)!r:.80}, which its upgrade returned"
                raise UnavailableError(told)
            now_set = {name for name in given if name not in before or name in was_set}
            now = {name: given[name] for name in own.fields if name in given}
            obj = self.blank(cls)
            self.fill(obj, [now, rest, now_private or None, {}, []], [sorted(now_set)])
            return obj

        return make


def _may_hold(annotation: Any) -> bool:
    """Whether a value of a field may be an object, or hold objects."""
    if isinstance(annotation, type) and get_origin(annotation) is None:
        return annotation not in NATIVE and dict not in annotation.__mro__
    inner = get_args(annotation)
    if get_origin(annotation) is Literal or inner[1:] == (Any,):  # `dict[str, Any]` is plain data
        return False
    return any(map(_may_hold, inner)) if inner else True


def _heads(make: Callable[..., bytes], own: _Class) -> Callable[[set[str]], bytes]:
    """Return what returns the head of an instance, by the names of its fields that are set.

    Of each number of names, the names seen last are compared, which is faster than hashing them.
    """
    heads: dict[frozenset[str], bytes] = {}
    most = len(own.fields)
    recent: list[tuple[Any, bytes]] = [(None, b"")] * (most + 1)

    def head_of(fields_set: set[str]) -> bytes:
        size = len(fields_set)
        if size <= most:
            names, head = recent[size]
            if names == fields_set:
                return head
        key = frozenset(fields_set)
        found = heads.get(key)
        if found is None:
            if len(heads) >= _MAX_HEADS:
                heads.clear()
            found = heads[key] = make(*_extra(key, own))
        if size <= most:
            recent[size] = key, found
        return found

    return head_of


def _extra(fields_set: frozenset[Any], own: _Class) -> tuple[Any, ...]:
    if not {*map(type, fields_set)} <= {str}:
        raise UnwritableError("a field whose name is not text")
    names = None if fields_set == own.fields.keys() else sorted(fields_set)
    return (names, True) if own.is_root else (names,)


def _names_set(extra: list[Any]) -> list[str] | None:
    if not extra or len(extra) > 2:
        raise ValueError("not the names of the fields set")
    names = extra[0]
    return None if names is None else _texts(names)


def _texts(names: Any) -> list[str]:
    if not {*map(type, check(names, list))} <= {str}:
        raise ValueError("a name that is not text")
    return names  # type: ignore[no-any-return]  # it is what was checked


_PARTS: Final = 5
_ModelParts = tuple[dict[str, Any], Any, Any, dict[str, Any], list[str]]


def _model_parts(data: Any) -> _ModelParts:
    if type(data) is dict:
        values, others, private, strays, absent = data, None, None, {}, []
    else:
        values, others, private, strays, absent = parts(data, dict, object, object, dict, list)
    for names in (values, others, private, strays):
        if names is not None and not {*map(type, check(names, dict))} <= {str}:
            raise ValueError("a name that is not text")
    return values, others, private, strays, _texts(absent)


def _by_name(values: Any) -> dict[str, Any] | None:
    """Return values by name, or None, in the one form that `_model_parts` takes."""
    if values is None:
        return None
    if not {*map(type, values)} <= {str}:
        raise UnwritableError("an attribute whose name is not text")
    return values if type(values) is dict else dict(values)


def _whole_parts(data: Any) -> tuple[Any, Any]:
    """Return the values and the private attributes of a model that has nothing else, or two None.

    Only where a model has private attributes are there two parts.
    """
    if type(data) is not list or len(data) != _PARTS or data[1] is not None:
        return None, None
    values, _, private, strays, absent = data
    is_all = type(strays) is dict and type(absent) is list and not strays and not absent
    return (values, private) if is_all else (None, None)


def _with_defaults(own: _Class, private: Any, absent: list[str]) -> dict[str, Any] | None:
    """Return private attributes, with the defaults of those that the class has learned since."""
    if not own.private:
        return None
    found = {name: value for name, value in (private or {}).items() if name in own.private}
    if private is None and not own.private.isdisjoint(absent):
        return None
    for name in own.private & own.defaults.keys() - found.keys() - {*absent}:
        found[name] = own.defaults[name]()
    return found


def _construct(obj: Any, values: Any, own: _Class) -> None:
    """Make a model of values that do not fit its class, as LangGraph does."""
    cls: Any = type(obj)
    try:
        cls.__init__(obj, **values)
    except Exception:  # whatever its validators raise
        made = cls.model_construct(**values)
        _set(obj, "__dict__", dict(made.__dict__))
        _set(obj, "__pydantic_fields_set__", made.__pydantic_fields_set__)
        _set(obj, "__pydantic_extra__", made.__pydantic_extra__)
        _set(obj, "__pydantic_private__", made.__pydantic_private__)
        set_up(obj, own.manager)


_URLS: Final = tuple(
    getattr(module, name)
    for module, name in (
        (pydantic.networks, "_BaseUrl"),
        (pydantic.networks, "_BaseMultiHostUrl"),
        (pydantic_core, "Url"),
        (pydantic_core, "MultiHostUrl"),
    )
)


class UrlForm(Form):
    """URLs of pydantic: the text, which must parse to the same URL."""

    name = "url"

    def matches(self, cls: type) -> bool:
        return any(part in _URLS for part in cls.__mro__)

    def take(self, obj: Any) -> str:
        text = str(obj)
        if type(obj)(text) != obj:
            raise UnwritableError("a URL that its own text does not name")
        return text

    def maker(self, cls: Any, extra: list[Any]) -> Maker:
        return lambda data: cls(check(data, str))

    def shown(self, data: Any, extra: list[Any]) -> Any:
        return data


class OldModelForm(Form):
    """Models of `pydantic.v1`: values, names of the fields set, private attributes.

    `pydantic.v1` is never imported here: where there is such a model, it has been.
    """

    name = "model1"

    def matches(self, cls: type) -> bool:
        module = imported("pydantic.v1.main")
        return module is not None and module.BaseModel in cls.__mro__

    def take(self, obj: Any) -> list[Any]:
        cls: Any = type(obj)
        values = dict(object.__getattribute__(obj, "__dict__"))
        if _unknown(cls, values):
            raise UnwritableError("a value for something that is no field")
        slots = layout(cls).slots
        private = {name: slots[name].__get__(obj) for name in _private(cls) if hasattr(obj, name)}
        return [values, sorted(slots[_FIELDS_SET].__get__(obj)), private]

    def blank(self, cls: type) -> Any:
        return _new(cls)

    def fill(self, obj: Any, data: Any, extra: list[Any]) -> None:
        cls: Any = type(obj)
        values, fields_set, private = parts(data, dict, list, dict)
        values = dict(values)
        for name, field in declared(cls, "__fields__").items():
            if name not in values and not field.required:
                values[name] = field.get_default()
        slots = layout(cls).slots
        if _unknown(cls, values) or not declared(cls, "__fields__").keys() <= values.keys():
            values, fields_set = _constructed(cls, data[0])
        _set(obj, "__dict__", values)
        slots[_FIELDS_SET].__set__(obj, {*_texts(fields_set)})  # past a descriptor of that name
        undefined = imported("pydantic.v1.fields").Undefined
        for name, attribute in _private(cls).items():
            value = private[name] if name in private else attribute.get_default()
            if value is not undefined:
                slots[name].__set__(obj, value)

    def shown(self, data: Any, extra: list[Any]) -> Any:
        return parts(data, dict, list, dict)[0]

    def upgraded(self, cls: type, extra: list[Any], upgrade: Callable[[Any], Any]) -> Maker:
        make = self.maker(cls, extra)

        def make_upgraded(data: Any) -> Any:
            values, fields_set, private = parts(data, dict, list, dict)
            given = check(upgrade({**values, **private}), dict)
            now_private = {name: given.pop(name) for name in _private(cls) if name in given}
            now_set = [name for name in given if name in fields_set or name not in values]
            return make([given, now_set, now_private])

        return make_upgraded


_FIELDS_SET: Final = "__fields_set__"


def _private(cls: Any) -> dict[str, Any]:
    return declared(cls, "__private_attributes__")  # type: ignore[no-any-return]  # of pydantic


def _unknown(cls: Any, values: dict[Any, Any]) -> bool:
    """Whether there is a value that is no field's, where a class takes no others."""
    if not {*map(type, values)} <= {str}:
        raise ValueError("a name that is not text")
    is_open = declared(declared(cls, "__config__"), "extra") == "allow"
    return not is_open and not values.keys() <= declared(cls, "__fields__").keys()


def _constructed(cls: Any, values: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Return the values and the fields set of what LangGraph makes of values that do not fit."""
    try:
        made = cls(**values)
    except Exception:  # whatever its validators raise
        made = cls.construct(**values)
    return dict(made.__dict__), [*made.__fields_set__]


FORMS: Final[tuple[Form, ...]] = (ModelForm(), OldModelForm(), UrlForm())
"""No class is of two of them."""
