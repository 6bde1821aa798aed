"""The hooks: what a class may define that Python, or a library, calls unasked.

Each notes in `RAN` that it ran, and then does what would have been done without it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

import pydantic
import pydantic.v1

__all__ = ["HOOKS", "RAN", "SPECIALS", "Hook", "Planted", "note"]

RAN: Final[list[str]] = []
"""The hooks that ran."""


def note(name: str) -> None:
    """Note that a hook ran."""
    RAN.append(name)


@dataclass
class Hook:
    """One hook.

    Attributes:
        name: As the documentation calls it.
        group: What it is a part of.
        namespace: What the class body holds.
        meta: What the body of its metaclass holds.
        planted: What is set on the class once it is there, past whatever looks at class bodies.
        late: What the field `late` has for a default: "value", "factory" or "copied".
        owner: The class, and the metaclass, once they are there.
    """

    name: str
    group: str
    namespace: dict[str, Any] = field(default_factory=dict)
    meta: dict[str, Any] = field(default_factory=dict)
    planted: dict[str, Any] = field(default_factory=dict)
    late: str = "value"
    owner: dict[str, Any] = field(default_factory=dict)


_CLASS_METHODS: Final = frozenset(
    {
        *("__init_subclass__", "__pydantic_init_subclass__", "__class_getitem__", "_missing_"),
        *("__get_pydantic_core_schema__", "__get_pydantic_json_schema__", "__subclasshook__"),
        *("__prepare__", "_iter_member_", "_iter_member_by_value_", "_generate_next_value_"),
    }
)
_METHODS: Final = (
    *("__new__", "__init__", "__post_init__", "__attrs_post_init__", "__attrs_pre_init__"),
    *("model_post_init", "__getattribute__", "__getattr__", "__setattr__", "__delattr__"),
    *("__setstate__", "__getstate__", "__reduce__", "__reduce_ex__", "__copy__", "__deepcopy__"),
    *("__getnewargs__", "__getnewargs_ex__", "__replace__", "__del__", "__hash__", "__eq__"),
    *("__ne__", "__lt__", "__bool__", "__len__", "__iter__", "__reversed__", "__contains__"),
    *("__getitem__", "__setitem__", "__delitem__", "__missing__", "update", "setdefault", "keys"),
    *("items", "values", "get", "pop", "append", "extend", "add", "insert", "copy", "__or__"),
    *("__ior__", "__iadd__", "__index__", "__int__", "__float__", "__complex__", "__bytes__"),
    *("__str__", "__repr__", "__format__", "__sizeof__", "__dir__", "__call__", "__length_hint__"),
    *("__array_finalize__", "__array_ufunc__", "__array__", "__buffer__", "__fspath__", "__get__"),
    *("__set__", "__set_name__", "__instancecheck__", "__subclasscheck__", "__enter__", "derive"),
    *("split", "add_note", "with_traceback", "new_child", "construct", "model_construct", "_make"),
    *("_replace", "_asdict", "dict", "model_dump", "_iter", "_init_private_attributes"),
    *("validate", "model_validate", "__get_validators__", "__rich_repr__", "_repr_html_"),
    *_CLASS_METHODS,
)
_DESCRIPTORS: Final = (
    *("value", "late", "__dict__", "__class__", "__doc__", "__slots__", "__weakref__", "__hash__"),
    *("__eq__", "__new__", "__init__", "__setattr__", "__getattribute__", "__del__", "__reduce__"),
    *("__iter__", "__len__", "__call__", "__deepcopy__", "__setstate__", "__annotations__"),
    *("__once_version__", "__once_storable__", "__orig_class__", "__match_args__", "__wrapped__"),
    *("model_config", "model_fields", "__pydantic_fields__", "__pydantic_fields_set__"),
    *("__pydantic_extra__", "__pydantic_private__", "__private_attributes__"),
    *("__pydantic_core_schema__", "__pydantic_generic_metadata__", "__pydantic_validator__"),
    *("__pydantic_root_model__", "__pydantic_custom_init__", "__pydantic_post_init__"),
    *("__dataclass_fields__", "__dataclass_params__", "__attrs_attrs__", "__attrs_props__"),
    *("__fields__", "__config__", "__fields_set__", "__private_attributes__", "_fields"),
    *("_field_defaults", "maps", "_member_map_", "_value2member_map_", "_value_", "_name_"),
    *("_member_type_", "_flag_mask_", "_boundary_", "__members__", "name", "__abstractmethods__"),
    *("args", "errno", "message", "exceptions", "__cause__", "__context__", "__notes__"),
    *("__suppress_context__", "__traceback__", "default_factory", "maxlen", "n_sequence_fields"),
    *("n_fields", "shape", "dtype", "__array_interface__", "__array_struct__", "_url", "real"),
    *("__objclass__", "__isabstractmethod__", "__origin__", "__args__", "__parameters__"),
)
_META_METHODS: Final = (
    *("__call__", "__getattribute__", "__getattr__", "__setattr__", "__delattr__", "__hash__"),
    *("__eq__", "__instancecheck__", "__subclasscheck__", "__bool__", "__len__", "__iter__"),
    *("__contains__", "__getitem__", "__dir__", "__repr__", "__str__", "__or__", "__lt__", "mro"),
    *("__new__", "__init__", "__subclasses__", "__del__", "__reduce_ex__", "model_fields_set"),
    *("__instancecheck__", "__prepare__", "register", "__format__"),
)
_META_DESCRIPTORS: Final = (
    *("__dict__", "__class__", "__mro__", "__bases__", "__name__", "__qualname__", "__module__"),
    *("__doc__", "__basicsize__", "__dictoffset__", "__flags__", "__base__", "__hash__", "__eq__"),
    *("__abstractmethods__", "__annotations__", "__call__", "__getattribute__", "__itemsize__"),
    *("model_config", "model_fields", "__pydantic_fields__", "__pydantic_core_schema__"),
    *("__private_attributes__", "__dataclass_fields__", "__attrs_attrs__", "__fields__"),
    *("_fields", "_member_map_", "_value2member_map_", "__members__", "maps", "value", "late"),
    *("__once_version__", "__once_storable__", "__origin__", "__args__", "__parameters__"),
    *("__pydantic_generic_metadata__", "__config__", "__slots__", "__post_init__", "__code__"),
)


_TYPE_NEW: Final[Any] = type.__new__


def _delegating(name: str, owner: dict[str, Any], kind: str) -> Any:
    """Return a method that notes its name, and does what the base of the class does."""

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        note(name)
        inherited = getattr(super(owner[kind], self), name) if kind in owner else None
        if name == "__new__":
            inherited = inherited or _TYPE_NEW
            is_plain = getattr(inherited, "__self__", None) is object
            return inherited(self) if is_plain else inherited(self, *args, **kwargs)
        if name == "__init__" and inherited == object.__init__.__get__(self):
            return None
        return inherited(*args, **kwargs) if inherited is not None else None

    if name == "__new__":
        return staticmethod(method)
    return classmethod(method) if name in _CLASS_METHODS else method


class Planted:
    """A descriptor that notes that it was asked."""

    def __init__(self, name: str, found: Any = None) -> None:
        self.name = name
        self.found = found

    def __get__(self, obj: Any, cls: Any = None) -> Any:
        note(self.name)
        if hasattr(self.found, "__get__"):
            return self.found.__get__(obj, cls)
        return self.found

    def __set__(self, obj: Any, value: Any) -> None:
        note(self.name)
        if hasattr(self.found, "__set__"):
            self.found.__set__(obj, value)

    def __delete__(self, obj: Any) -> None:
        note(self.name)


def _hook(name: str, group: str) -> Hook:
    hook = Hook(name, group)
    if group == "method":
        hook.namespace[name] = _delegating(name, hook.owner, "cls")
        if name == "__eq__":
            hook.planted["__hash__"] = None  # `build` puts that of the base there
    elif group == "descriptor":
        hook.planted[name] = Planted(name)
    elif group == "metaclass":
        hook.meta[name] = _delegating(name, hook.owner, "meta")
        if name == "__eq__":
            hook.meta["__hash__"] = type.__hash__
    else:
        hook.meta[name] = Planted(name, vars(type).get(name))
    return hook


_GROUPS: Final = {
    "method": _METHODS,
    "descriptor": _DESCRIPTORS,
    "metaclass": _META_METHODS,
    "metaclass descriptor": _META_DESCRIPTORS,
}


def _general() -> dict[str, Callable[[], Hook]]:
    made: dict[str, Callable[[], Hook]] = {}
    for group, names in _GROUPS.items():
        for name in names:
            made[f"{group} {name}"] = functools.partial(_hook, name, group)
    return made


def _default(late: str) -> Callable[[], Hook]:
    return lambda: Hook(f"default {late}", "default", late=late)


HOOKS: Final[dict[str, Callable[[], Hook]]] = {
    **_general(),
    "default made by a factory": _default("factory"),
    "default that is copied": _default("copied"),
}
"""What makes each hook, anew for each class."""


def _passing(name: str) -> Any:
    def passing(_cls: Any, value: Any) -> Any:
        note(name)
        return value

    return passing


def _after(name: str) -> Any:
    def after(self: Any) -> Any:
        note(name)
        return self

    return after


def _computed(self: Any) -> int:
    note("computed_field")
    return 1


def _field_validator(mode: Any) -> Callable[[], Hook]:
    def made() -> Hook:
        decorate: Any = pydantic.field_validator("value", mode=mode)
        method = decorate(classmethod(_passing(f"field_validator, {mode}")))
        return Hook(f"field_validator, {mode}", "validator", {"checked": method})

    return made


def _before() -> Hook:
    method: Any = classmethod(_passing("model_validator, before"))
    decorated = pydantic.model_validator(mode="before")(method)
    return Hook("model_validator, before", "validator", {"checked": decorated})


def _model_after() -> Hook:
    decorated = pydantic.model_validator(mode="after")(_after("model_validator, after"))
    return Hook("model_validator, after", "validator", {"checked": decorated})


def _computed_field() -> Hook:
    return Hook(
        "computed_field", "property", {"made": pydantic.computed_field(property(_computed))}
    )


def _v1_validator() -> Hook:
    method = pydantic.v1.validator("value", pre=True, allow_reuse=True)(_passing("validator"))
    return Hook("validator", "validator", {"checked": method})


_MODELS: Final = ("pydantic model", "RootModel", "pydantic dataclass")

SPECIALS: Final[dict[str, tuple[tuple[str, ...], Callable[[], Hook]]]] = {
    "field_validator, before": (_MODELS, _field_validator("before")),
    "field_validator, after": (_MODELS, _field_validator("after")),
    "field_validator, plain": (_MODELS, _field_validator("plain")),
    "model_validator, before": (_MODELS, _before),
    "model_validator, after": (_MODELS, _model_after),
    "computed_field": (_MODELS, _computed_field),
    "v1 validator": (("pydantic v1 model",), _v1_validator),
}
"""The families whose name begins so, and what makes the hook."""
