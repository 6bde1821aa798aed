"""Models and data classes: pydantic 2 and 1, dataclasses, attrs."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Callable
from datetime import UTC
from decimal import Decimal
from random import Random
from typing import Any, Final

from pydantic import SecretBytes, SecretStr, create_model

from tests.unit_tests.serde.fidelity import kinds as k, model_kinds as m
from tests.unit_tests.serde.law import classes as c
from tests.unit_tests.serde.law.drawn import moment, number, plain, word, words


def _plain(r: Random) -> c.Plain:
    return c.Plain(name=word(r), count=number(r), tags=words(r))


def _private(r: Random) -> c.Private:
    made = c.Private(name=word(r))
    made._token = word(r)
    made._cache[word(r)] = (number(r), plain(r))
    return made


def _ordered(made: Any, *names: str) -> Any:
    """Keep what it has in dictionaries of a subclass, which Python lets any code do."""
    for name in names:
        object.__setattr__(made, name, OrderedDict(getattr(made, name)))
    return made


def _assigned(r: Random) -> c.Plain:
    """A field of a type that validation would not let pass."""
    made = c.Plain(name=word(r))
    made.count = "many"  # type: ignore[assignment]  # that is what is tested
    return made


def _changed(r: Random) -> c.PostInit:
    made = c.PostInit(width=number(r))
    made._area = -1
    return made


def _init_var(r: Random) -> k.WithInitVar:
    made = k.WithInitVar(start=number(r))
    made.total += 1
    return made


def _not_in_init(r: Random) -> c.NotInInit:
    made = c.NotInInit(number(r))
    made.area = 7
    return made


def _seen(r: Random) -> c.NotInInitChanged:
    made = c.NotInInitChanged(word(r))
    made.seen = number(r)
    return made


def _attributed(r: Random) -> c.Attributed:
    made = c.Attributed(word(r))
    made.note = (word(r),)  # type: ignore[attr-defined]  # that is what is tested
    return made


def _old_private(r: Random) -> c.OldPrivate:
    made = c.OldPrivate(name=word(r))
    made._token = word(r)
    return made


def _nested(r: Random) -> c.Nested:
    return c.Nested(first=_plain(r), others=[_plain(r)], by_name={word(r): _plain(r)})


def _converted(r: Random) -> c.Converted:
    return c.Converted(str(number(r)), word(r))


def _owner(r: Random) -> c.Owner:
    pet: Any = r.choice([m.Cat(lives=number(r)), c.Dog(tricks=words(r))])
    return c.Owner(pet=pet, number=r.choice([1, "1", None]))


def _made_at_run_time(r: Random) -> Any:
    return create_model("MadeAtRunTime", name=(str, ...))(name=word(r))


def _json(r: Random) -> c.Jsonned:
    return c.Jsonned(payload=json.dumps(plain(r)))


def _sites(r: Random) -> c.Sites:
    data = {"url": f"https://example.org/{number(r)}", "price": Decimal(number(r)) / 4}
    return c.Sites.model_validate({**data, "when": moment(r)})


def _date_from_json(r: Random) -> c.Dated:
    """Its date has pydantic's own zone."""
    when = moment(r).isoformat() + r.choice(["Z", "+02:00"])
    return c.Dated.model_validate_json(json.dumps({"price": "1.50", "when": when}))


def _collections(r: Random) -> c.Collections:
    return c.Collections(
        pair=(number(r), word(r)), some={number(r)}, frozen=frozenset(words(r)), numbers={1: "a"}
    )


KINDS: Final[dict[str, Callable[[Random], Any]]] = {
    "attrs": lambda r: c.Point(number(r), plain(r)),
    "attrs, frozen": lambda r: c.FrozenPoint(number(r), (1, number(r))),
    "attrs, with a converter and a private field": _converted,
    "class with dict()": lambda r: c.DictLike(word(r)),
    "class with model_dump()": lambda r: c.DumpLike(word(r)),
    "dataclass": lambda r: c.Simple(word(r), plain(r)),
    "dataclass, computing in __post_init__": lambda r: c.NotInInit(number(r)),
    "dataclass, computed and changed": _not_in_init,
    "dataclass, drifting in __post_init__": lambda r: k.Drifting(number(r)),
    "dataclass, field not in __init__": _seen,
    "dataclass, frozen": lambda r: k.Frozen(word(r), (*words(r),)),
    "dataclass, frozen with slots, by keyword": lambda r: k.Strict(name=word(r), limit=r.random()),
    "dataclass, generic": lambda r: k.Box((number(r),)),
    "dataclass, inherited": lambda r: c.SimpleChild(word(r), plain(r), [number(r)]),
    "dataclass, InitVar": _init_var,
    "dataclass, its attributes in an OrderedDict": lambda r: _ordered(
        c.Simple(word(r), plain(r)), "__dict__"
    ),
    "dataclass, nested class": lambda r: c.Outer.Part(word(r)),
    "dataclass, nested": lambda r: c.Simple(word(r), c.SimpleChild(word(r), k.Frozen(word(r)))),
    "dataclass, normalising": lambda r: c.Normalising(word(r)),
    "dataclass, of pydantic": lambda r: c.Checked(word(r), (*words(r),)),
    "dataclass, slots": lambda r: c.Slotted(word(r), plain(r)),
    "dataclass, with an attribute": _attributed,
    "namedtuple": lambda r: k.Point(number(r), plain(r)),
    "pydantic": _plain,
    "pydantic, alias": lambda r: c.Aliased.model_validate({"fullName": word(r), "x": number(r)}),
    "pydantic, alias in the dump": lambda r: c.AliasedByName(fullName=word(r)),
    "pydantic, AfterValidator": lambda r: c.AfterValidated(name=word(r)),
    "pydantic, any object": lambda r: c.Arbitrary(error=ValueError(word(r))),
    "pydantic, any type": lambda r: c.Arbitrary(kind=int),
    "pydantic, Base64Bytes": lambda r: c.Based64.of(word(r).encode()),
    "pydantic, BeforeValidator": lambda r: c.BeforeValidated(words="a b c"),  # type: ignore[arg-type]  # text is split
    "pydantic, child in a field of its base": lambda r: c.FieldOfBase(
        item=c.Child(name=word(r), extra=word(r))
    ),
    "pydantic, collections": _collections,
    "pydantic, computed_field": lambda r: c.Computing(width=number(r)),
    "pydantic, computed_field and extra forbidden": lambda r: c.ForbiddingComputed(width=number(r)),
    "pydantic, created at run time": _made_at_run_time,
    "pydantic, date from JSON": _date_from_json,
    "pydantic, Decimal and date": lambda r: c.Dated(price=Decimal("1.50"), when=moment(r)),
    "pydantic, discriminated union": _owner,
    "pydantic, drifting in model_post_init": lambda r: c.Counting(runs=number(r)),
    "pydantic, excluded field": lambda r: c.Excluding(name=word(r), hidden=word(r)),
    "pydantic, excluded field without default": lambda r: c.ExcludingRequired(
        name=word(r), hidden=word(r)
    ),
    "pydantic, extra fields": lambda r: m.Open.model_validate(
        {"name": word(r), "more": plain(r), "when": number(r)}
    ),
    "pydantic, field of an invalid type": _assigned,
    "pydantic, field_serializer": lambda r: c.Percent(share=number(r) / 1000),
    "pydantic, frozen": lambda r: m.FrozenModel(name=word(r)),
    "pydantic, generic": lambda r: m.Page[int](items=[number(r)]),
    "pydantic, generic by another name": lambda r: c.PageOfInt(items=[number(r)]),
    "pydantic, generic of a model": lambda r: m.Page[c.Plain](items=[_plain(r)]),
    "pydantic, generic without argument": lambda r: m.Page(items=[plain(r)]),
    "pydantic, inherited": lambda r: c.Child(name=word(r), extra=word(r)),
    "pydantic, its extra fields in an OrderedDict": lambda r: _ordered(
        m.Open.model_validate({"name": word(r), "more": plain(r)}), "__pydantic_extra__"
    ),
    "pydantic, its fields in an OrderedDict": lambda r: _ordered(_plain(r), "__dict__"),
    "pydantic, its private attributes in an OrderedDict": lambda r: _ordered(
        _private(r), "__dict__", "__pydantic_private__"
    ),
    "pydantic, Json": _json,
    "pydantic, model_construct": lambda r: c.Plain.model_construct(name=number(r)),
    "pydantic, model_copy(update=)": lambda r: _plain(r).model_copy(update={"count": word(r)}),
    "pydantic, model_copy(update=) with a new name": lambda r: _plain(r).model_copy(
        update={"more": number(r)}
    ),
    "pydantic, model_post_init": lambda r: c.PostInit(width=number(r)),
    "pydantic, model_post_init and changed": _changed,
    "pydantic, model_serializer": lambda r: c.ModelSerialized(a=number(r), b=number(r)),
    "pydantic, model_validator after": lambda r: c.ModelValidated(low=1, high=2 + number(r)),
    "pydantic, model_validator before": lambda r: c.BeforeModelValidated.model_validate(
        {"payload": word(r)}
    ),
    "pydantic, nested": _nested,
    "pydantic, nested class": lambda r: c.Outer.Inner(name=word(r)),
    "pydantic, own __init__": lambda r: c.OwnInit(word(r)),
    "pydantic, PlainSerializer": lambda r: c.AnnotatedSerializer(when=moment(r).date()),
    "pydantic, private attributes": _private,
    "pydantic, RootModel": lambda r: m.Words(words(r)),
    "pydantic, RootModel of models": lambda r: c.Table({word(r): _plain(r)}),
    "pydantic, SecretBytes alone": lambda r: SecretBytes(word(r).encode()),
    "pydantic, SecretStr": lambda r: c.Secrets(key=SecretStr(word(r))),
    "pydantic, SecretStr alone": lambda r: SecretStr(word(r)),
    "pydantic, strict": lambda r: c.StrictModel(
        pair=(1, number(r)), when=moment(r).replace(tzinfo=UTC)
    ),
    "pydantic, URL and Decimal": _sites,
    "pydantic, URL alone": lambda r: _sites(r).url,
    "pydantic, validator that doubles": lambda r: c.Scaling(amount=number(r)),
    "pydantic, WrapValidator": lambda r: c.WrapValidated(count=number(r)),
    "pydantic 1": lambda r: c.OldPlain(name=word(r), count=number(r)),
    "pydantic 1, alias": lambda r: c.OldAliased(fullName=word(r)),
    "pydantic 1, construct": lambda r: c.OldPlain.construct(name=number(r)),
    "pydantic 1, copy(update=)": lambda r: c.OldPlain(name="x").copy(update={"count": word(r)}),
    "pydantic 1, extra fields": lambda r: c.OldOpen.parse_obj({"name": word(r), "more": plain(r)}),
    "pydantic 1, nested": lambda r: c.OldNested(first=c.OldPlain(name=word(r)), pair=(1, "a")),
    "pydantic 1, private attributes": _old_private,
    "pydantic 1, SecretStr": lambda r: c.OldSecret.parse_obj({"key": word(r)}),
    "pydantic 1, validator": lambda r: c.OldValidated.parse_obj({"words": "a b"}),
    "pydantic 1, validator that doubles": lambda r: c.OldScaling(amount=number(r)),
    "TypedDict": lambda r: c.Movie(title=word(r), value=plain(r)),
}
