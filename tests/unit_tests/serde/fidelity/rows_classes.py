"""The fidelity table, second part: instances of an application's own classes."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from pydantic import AnyUrl, SecretBytes, SecretStr

from tests.unit_tests.serde.fidelity import kinds as k, model_kinds as m


def _with_attributes(value: Any, **attributes: Any) -> Any:
    for name, attribute in attributes.items():
        object.__setattr__(value, name, attribute)
    return value


def _cycle_of_dataclasses() -> Any:
    root = k.Node("root")
    root.children.append(k.Node("leaf", parent=root))
    return root


def _cycle_of_models() -> Any:
    root = m.Tree(name="root")
    root.children.append(m.Tree.model_construct(name="leaf", children=[], parent=root))
    return root


def _private() -> Any:
    model = m.Private(name="x")
    model._token = "changed"
    return model


def _cached(value: Any, name: str) -> Any:
    getattr(value, name)
    return value


def _raised(error: BaseException, cause: BaseException | None = None) -> BaseException:
    try:
        try:
            raise KeyError("first")
        except KeyError:
            raise error from cause
    except BaseException as caught:
        return caught.with_traceback(None)


def _without_tracebacks(error: BaseException | None) -> Any:
    seen = error
    while seen is not None:
        seen.__traceback__ = None
        seen = seen.__context__
    return error


def _noted(error: BaseException, *notes: str) -> BaseException:
    for note in notes:
        error.add_note(note)
    return error


def _old_private() -> Any:
    model = m.OldPerson(name="x")
    model._token = "changed"
    return model


def _caught(make: Callable[[], Any]) -> Any:
    try:
        make()
    except Exception as error:
        return error.with_traceback(None)


def _invalid() -> Any:
    return _caught(lambda: m.Person(name=3, tags=[1, "a"]))  # type: ignore[arg-type, list-item]  # refused is what it shall be


def _picky() -> Any:
    return _caught(lambda: m.Picky(number=1, text="a"))


def _function_generic() -> Any:
    return m.Page[str](items=["a"])


ROWS: dict[str, dict[str, Any]] = {
    "Enums": {
        "Enum": k.Colour.RED,
        "Enum with a tuple as value": k.Colour.GREEN,
        "alias of a member": k.Colour.CRIMSON,
        "IntEnum": k.Level.HIGH,
        "StrEnum": k.Mode.FAST,
        "str and Enum": k.OldMode.FAST,
        "nested Enum": k.Outer.Inner.ONE,
        "Flag": k.Access.READ,
        "composite Flag with a name": k.Access.BOTH,
        "composite Flag without a name": ~k.Access.READ & k.Access.WRITE,
        "empty Flag": k.Access(0),
        "IntFlag": k.Bits.FOUR,
        "composite IntFlag": k.Bits.ONE | k.Bits.FOUR,
        "IntFlag with unknown bits": k.Bits(128) | k.Bits.ONE,
    },
    "Named tuples": {
        "typing.NamedTuple": k.Point(1, [2]),
        "collections.namedtuple": k.Pair((1,), None),
        "nested": k.Point(1, k.Point(2, k.Colour.RED)),
        "subclass with attributes": _with_attributes(k.LongPoint(1, 2), note="n"),
        "TypedDict": k.Movie(title="t", year=1999),
    },
    "Dataclasses": {
        "plain": k.Plain("x"),
        "nested": k.Plain("x", k.Plain("y", (k.Colour.RED, {1}))),
        "nested class": k.Outer.Part("x"),
        "frozen": k.Frozen("x", ("a", "b")),
        "slots": k.Slotted("x", 3),
        "frozen, slots, kw_only": k.Strict(name="x", limit=2),
        "init=False, one of them unset": k.Computed(3),
        "changed by __post_init__": k.Drifting(1),
        "InitVar": k.WithInitVar(start=4),
        "inheritance": k.Child("x", extra=[1]),
        "subclass in a field of its base": k.Plain("x", k.Child("y")),
        "generic": k.Box(content=(1, 2)),
        "generic with parameter": k.Box[int](1),
        "with an attribute that is no field": _with_attributes(k.Plain("x"), later=[1]),
        "with a cached property": _cached(k.Cached(2), "double"),
        "parent and child in a cycle": _cycle_of_dataclasses(),
        "pydantic dataclass": m.PydanticRecord(count=1, tags=["a"]),
    },
    "Pydantic": {
        "model": m.Person(name="x"),
        "nested": m.Person(name="x", address=m.Address(city="c"), tags=["a"]),
        "nested class": k.Outer.Model(name="x"),
        "subclass in a field of its base": m.Person(
            name="x", address=m.FullAddress(city="c", street="s")
        ),
        "generic": m.IntPage(items=[1, 2]),
        "generic without parameter": m.Page(items=[(1,), "a"]),
        "generic with a parameter given in a function": _function_generic(),
        "alias and nested model": m.Aliased(fullName="x", addr=m.Address(city="c")),  # type: ignore[call-arg]  # aliases, or any extra values
        "RootModel": m.Words(["a", "b"]),
        "private attributes": _private(),
        "excluded field": m.Excluding(name="x", secret="s"),
        "extra=allow": m.Open(name="x", colour=k.Colour.RED),  # type: ignore[call-arg]  # aliases, or any extra values
        "fields set": m.Person.model_construct({"name"}, name="x", tags=[]),
        "SecretStr in a field": m.Account(user="u", password=SecretStr("p")),
        "computed field": m.Rectangle(width=2),
        "cached property": _cached(m.Rectangle(width=2), "perimeter"),
        "discriminated union": m.Zoo(pets=[m.Cat(lives=7), m.Dog()]),
        "frozen": m.FrozenModel(name="x"),
        "changed by a validator": m.Growing(count=1),
        "changed by a serializer": m.Masked(number="1234"),
        "not valid": m.Person.model_construct(name=1, address=(2,)),
        "any value": m.Anything(value={(1, 2): {k.Colour.RED}}),
        "parent and child in a cycle": _cycle_of_models(),
        "SecretStr": SecretStr("s"),
        "SecretBytes": SecretBytes(b"s"),
        "AnyUrl": AnyUrl("https://example.org/a?b=c#d"),
    },
    "Pydantic v1": {
        "model": m.OldPerson(name="x"),
        "nested": m.OldPerson(name="x", address=m.OldAddress(city="c")),
        "fields set": m.OldPerson.construct({"name"}, name="x", address=None),
        "private attributes": _old_private(),
        "extra=allow": m.OldOpen(name="x", tags=("a",)),  # type: ignore[call-arg]  # aliases, or any extra values
    },
    "attrs": {
        "define": m.Ship("x", crew=["a"]),
        "frozen": m.Coin(3),
        "without slots, with a converter": m.Raft("x", 1),
        "with a cached hash": _cached(m.Hashed("x"), "__hash__"),
    },
    "Subclasses of built-in types": {
        "str": k.Slug("a"),
        "str with attributes": _with_attributes(k.Text("a"), lang="de"),
        "int with attributes": _with_attributes(k.Number(3), unit="m"),
        "int beyond 64 bits": k.Number(2**80),
        "float": k.Ratio(0.5),
        "bytes": k.Blob(b"a"),
        "list with attributes": _with_attributes(k.Rows([1, (2,)]), source="s"),
        "dict with attributes": _with_attributes(k.Table({1: "a"}), source="s"),
        "tuple with attributes": _with_attributes(k.Triple((1, 2)), note="n"),
        "set": k.Names({1, 2}),
        "frozenset": k.FrozenNames({1}),
        "deque": k.Log([1], maxlen=2),
        "dict with its own __setitem__": k.Shouting(low=1),
        "as a dict key": {k.Slug("a"): 1},
    },
    "Exceptions": {
        "ValueError": ValueError("no", 3),
        "without arguments": KeyError(),
        "with notes": _noted(ValueError("no"), "first", "second"),
        "with a cause": _without_tracebacks(_raised(ValueError("no"), TypeError("because"))),
        "with a context": _without_tracebacks(_raised(ValueError("no"))),
        "own __init__ and attributes": k.AppError(3, hint="try again"),
        "subclass of a subclass": k.QuietError(4),
        "with slots": _with_attributes(k.SlottedError(5), size=2),
        "dataclass": k.DeclaredError(7),
        "pydantic.ValidationError": _invalid(),
        "pydantic.ValidationError with own messages": _picky(),
        "OSError": FileNotFoundError(2, "missing", "/tmp/x"),
        "subclass of OSError": k.DiskError(28, "full"),
        "UnicodeDecodeError": UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid"),
        "ImportError": ImportError("no", name="n", path="p"),
        "SyntaxError": SyntaxError("bad", ("f.py", 1, 2, "x y")),
        "StopIteration": StopIteration(3),
        "SystemExit": SystemExit(2),
        "ExceptionGroup": ExceptionGroup("several", [ValueError(1), k.AppError(2)]),
        "subclass of ExceptionGroup": k.AppGroup("several", [ValueError(1)]),
    },
    "Refused": {
        "a lambda": lambda: None,
        "a generator": (n for n in [1]),
        "a lock": threading.Lock(),
    },
}
