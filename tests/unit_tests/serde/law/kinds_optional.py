"""Values of packages that applications use and the project's environment may lack.

Nothing here is imported before a value is made: the classes that need a package stand in
`optional_classes`, one module for each package.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from importlib import import_module
from random import Random
from typing import Any, Final, NamedTuple

from tests.unit_tests.serde.law.drawn import moment, number, word, words

_CLASSES = "tests.unit_tests.serde.law.optional_classes"


class Optional(NamedTuple):
    """How a value is made, and the package that it needs."""

    package: str
    make: Callable[[Random], Any]


def _soup(r: Random) -> Any:
    html = f"<html><title>{word(r)}</title><p class='x'>Green</p></html>"
    return import_module("bs4").BeautifulSoup(html, "html.parser")


def _pendulum(r: Random) -> Any:
    return import_module("pendulum").instance(moment(r), tz="Europe/Berlin")


def _bson_binary(r: Random) -> Any:
    return import_module("bson").Binary(word(r).encode())


def _bson_date(r: Random) -> datetime:
    return moment(r).replace(tzinfo=import_module("bson.tz_util").utc)


def _object_id(r: Random) -> Any:
    return import_module("bson").ObjectId(f"{number(r):024x}")


def _localized(r: Random) -> Any:
    return import_module("pytz").timezone("Europe/Berlin").localize(moment(r))


def _pytz_utc(r: Random) -> datetime:
    return moment(r).replace(tzinfo=import_module("pytz").utc)


def _element(r: Random) -> Any:
    etree = import_module("lxml.etree")
    made = etree.Element("p")
    made.text = "Green"
    return made


def _lxml_text(r: Random) -> Any:
    return import_module("lxml.etree").fromstring("<p>Green</p>").xpath("//text()")[0]


def _toml(r: Random) -> Any:
    return import_module("tomlkit").parse(f"title = 'Tea'\nn = {number(r)}\n[part]\nx = [1, 2]\n")


def _hero(r: Random) -> Any:
    return import_module(f"{_CLASSES}.of_sqlmodel").Hero(id=number(r), name=word(r))


def _struct(r: Random) -> Any:
    return import_module(f"{_CLASSES}.of_msgspec").Struct(word(r), number(r), words(r))


def _frozen_struct(r: Random) -> Any:
    return import_module(f"{_CLASSES}.of_msgspec").FrozenStruct(word(r))


KINDS: Final[dict[str, Optional]] = {
    "bs4, tag": Optional("bs4", lambda r: _soup(r).p),
    "bs4, text": Optional("bs4", lambda r: _soup(r).title.string),
    "bs4, value of an attribute": Optional("bs4", lambda r: _soup(r).p["class"]),
    "bson, Binary": Optional("bson", _bson_binary),
    "bson, date": Optional("bson", _bson_date),
    "bson, ObjectId": Optional("bson", _object_id),
    "lxml, element": Optional("lxml", _element),
    "lxml, text": Optional("lxml", _lxml_text),
    "msgspec": Optional("msgspec", _struct),
    "msgspec, frozen": Optional("msgspec", _frozen_struct),
    "pendulum, date": Optional("pendulum", lambda r: _pendulum(r).date()),
    "pendulum, datetime": Optional("pendulum", _pendulum),
    "pendulum, duration": Optional(
        "pendulum", lambda r: import_module("pendulum").duration(days=number(r))
    ),
    "pytz, date": Optional("pytz", _localized),
    "pytz, date in UTC": Optional("pytz", _pytz_utc),
    "pytz, zone": Optional("pytz", lambda r: import_module("pytz").timezone("Europe/Berlin")),
    "sqlmodel, row": Optional("sqlmodel", _hero),
    "tomlkit, array": Optional("tomlkit", lambda r: _toml(r)["part"]["x"]),
    "tomlkit, document": Optional("tomlkit", _toml),
    "tomlkit, number": Optional("tomlkit", lambda r: _toml(r)["n"]),
    "tomlkit, text": Optional("tomlkit", lambda r: _toml(r)["title"]),
}
