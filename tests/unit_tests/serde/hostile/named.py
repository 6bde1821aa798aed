"""Rows that name what may not be imported, found, made or called."""

# ruff: noqa: E501  # a row is a line
from __future__ import annotations

from typing import Any, Final

from langgraph_once.serde.format import Code, head_bytes
from tests.unit_tests.serde.hostile.build import (
    HERE,
    array,
    graph,
    many,
    mapping,
    node,
    nothing,
    obj,
    pack,
    raw,
    tupled,
    value,
)

UNIMPORTED: Final = (
    *("this:d", "antigravity:geohash", "idlelib.run:main", "turtle:Turtle", "turtledemo:x"),
    *(
        "tkinter:Tk",
        "webbrowser:open",
        "pty:spawn",
        "smtplib:SMTP",
        "ftplib:FTP",
        "telnetlib:Telnet",
    ),
    *("xmlrpc.client:ServerProxy", "wsgiref.simple_server:make_server", "ensurepip:bootstrap"),
    *("venv:EnvBuilder", "lib2to3.main:main", "cProfile:run", "pdb:run", "trace:Trace"),
    *("timeit:timeit", "code:InteractiveConsole", "crypt:crypt", "nis:cat", "imaplib:IMAP4"),
    *("poplib:POP3", "nntplib:NNTP", "mailcap:findmatch", "pipes:Template", "sched:scheduler"),
    *("shelve:open", "dbm:open", "curses:initscr", "msilib:x", "winreg:x", "no_such_module:A"),
    *("conftest:A", "setup:main", "manage:main", "no such module:A", "a/b:C", "..a:B", ".a:B"),
)
"""What is not imported here, and nothing that the tests import."""

FORBIDDEN: Final = (
    *("os:system", "posix:system", "os:popen", "os:execv", "os:remove", "os:_exit", "os:fork"),
    *(
        "subprocess:Popen",
        "subprocess:run",
        "subprocess:getoutput",
        "builtins:eval",
        "builtins:exec",
    ),
    *("builtins:compile", "builtins:__import__", "builtins:open", "builtins:input", "io:open"),
    *(
        "builtins:breakpoint",
        "builtins:getattr",
        "builtins:setattr",
        "builtins:globals",
        "_io:FileIO",
    ),
    *(
        "importlib:import_module",
        "runpy:run_path",
        "shutil:rmtree",
        "sys:exit",
        "sys:setrecursionlimit",
    ),
    *(
        "ctypes:CDLL",
        "ctypes:string_at",
        "socket:socket",
        "socket:create_connection",
        "pickle:loads",
    ),
    *("pickle:Unpickler", "marshal:loads", "threading:Thread", "multiprocessing:Process"),
    *(
        "tempfile:mkdtemp",
        "tempfile:NamedTemporaryFile",
        "urllib.request:urlopen",
        "gc:get_objects",
    ),
    *(
        "logging:FileHandler",
        "logging.handlers:SocketHandler",
        "types:FunctionType",
        "types:CodeType",
    ),
    *(
        "operator:attrgetter",
        "functools:reduce",
        "codecs:open",
        "zipfile:ZipFile",
        "sqlite3:connect",
    ),
    *("sqlite3:Connection", "asyncio:run", "signal:signal", "atexit:register", "time:sleep"),
)
"""What does something when it is called."""

_ALL: Final = (*UNIMPORTED, *FORBIDDEN)
_FORMS: Final[dict[str, tuple[bytes, tuple[Any, ...]]]] = {
    "record": (pack({"name": 1}), ()),
    "struct": (pack({"name": 1}), ()),
    "object": (pack({"name": 1}), ()),
    "reduced": (pack([False, ["true"], None]), ()),
    "model": (pack({"name": 1}), (None,)),
    "model1": (pack([{"name": 1}, ["name"], {}]), ()),
    "url": (pack("http://a.b"), ()),
    "exception": (pack([["a"], {}, {}, [None, None, False]]), ("A",)),
    "group": (pack(["m", [], [], {}, [None, None, False]]), ("A",)),
    "enum": (pack("RED"), ()),
    "namedtuple": (pack(["true"]), (["first"],)),
    "derived": (pack("true"), ("str", 0)),
    "partial": (pack([None, None, {}, {}]), ()),
    "numpy": (pack(["<i8", [1], "C", bytes(8)]), ()),
    "pandas": (pack([None, 1]), ()),
    "polars": (pack(bytes(8)), ()),
    "arrow": (pack(bytes(8)), ()),
    "named": (nothing, ()),
}
"""Data that each form might take."""


def _all_named(form: str) -> bytes:
    data, extra = _FORMS[form]
    return array(*(obj(form, name, data, *extra) for name in _ALL))


def _stocked(code: int) -> bytes:
    calls = (pack([*name.split(":", 1), ["true"]]) for name in _ALL)
    return array(*(obj("stock", "a:B", pack(call), code) for call in calls))


_GADGETS: Final = ("Gadget", "Shown", "Zone", "Restored", "Reduced", "Cleaning", "WithMeta", "note")
_TRAP: Final = f"{HERE}:Trapped"


def _gadgets(form: str) -> bytes:
    data, extra = _FORMS[form]
    return array(*(obj(form, f"{HERE}:{name}", data, *extra) for name in _GADGETS))


def _gadget_calls(code: int, argument: Any) -> bytes:
    calls = (pack([HERE, name, argument]) for name in (*_GADGETS, "CleaningRecord"))
    return array(*(obj("stock", "a:B", pack(call), code) for call in calls))


NAMED: Final[dict[str, Any]] = {
    **{f"all that is forbidden as {form}": (lambda form=form: _all_named(form)) for form in _FORMS},
    **{f"all that is forbidden, called with {code}": (lambda code=code: _stocked(code)) for code in range(6)},
    **{f"gadgets as {form}": (lambda form=form: _gadgets(form)) for form in _FORMS},
    "a name without a colon": obj("record", "builtins", nothing),
    "a name of two colons": obj("record", "a:b:c", nothing),
    "a name without a module": obj("record", ":A", nothing),
    "a name without a class": obj("record", "builtins:", nothing),
    "a name of 500,000 characters": obj("record", "a:" + "b." * 250_000 + "c", nothing),
    "a name with a null": obj("record", "os\0:A", nothing),
    "a name that is the program": obj("record", "__main__:main", nothing),
    "a name that runs a package": obj("record", "unittest.__main__:A", nothing),
    "a name in the dictionary of a function": obj("named", f"{HERE}:note.__globals__", nothing),
    "a name through a module": obj("named", "logging:os.system", nothing),
    "a name through an attribute": obj("record", f"{HERE}:Record.__class__", nothing),
    "a name through the bases": obj("record", f"{HERE}:Record.__mro__", nothing),
    "a name in brackets": obj("record", f"{HERE}:Wide[int]", nothing),
    "the name of what is no class": obj("record", f"{HERE}:RAN", nothing),
    "the name of a type variable": obj("model", [f"{HERE}:Wide", f"{HERE}:T"], nothing, None),
    "parameters of os.system": obj("named", ["os:system", "builtins:int"], nothing),
    "parameters that are forbidden": obj("model", [f"{HERE}:Wide", "subprocess:Popen"], pack({}), None),
    "parameters that are not imported": obj("model", [f"{HERE}:Wide", "this:d"], pack({}), None),
    "parameters of parameters": obj("named", [["builtins:list", "builtins:int"], "builtins:int"], nothing),
    "no parameters": obj("named", ["builtins:list"], nothing),
    "an empty list of parameters": obj("named", [], nothing),
    "a literal of a class that is no enum": obj("named", ["typing:Literal", "", {"os:system": "x"}], nothing),
    "a literal of no member": obj("named", ["typing:Literal", "", {f"{HERE}:Colour": "mro"}], nothing),
    "a literal of lists": obj("named", ["typing:Literal", "", [1], {}], nothing),
    "a union of nothing": obj("named", ["types:UnionType", "builtins:None"], nothing),
    "a factory that is a function": obj("derived", "collections:defaultdict",
        pack([{}, raw(obj("named", "builtins:input", nothing))]), "defaultdict", 0),
    "a factory that cannot be called": obj("derived", "collections:defaultdict", pack([{}, 7]),
        "defaultdict", 0),
    "a partial of os.system": obj("partial", "functools:partial",
        pack([raw(obj("named", "os:system", nothing)), raw(tupled(pack("true"))), {}, {}])),
    "a partial of a gadget": obj("partial", "functools:partial",
        pack([raw(obj("named", f"{HERE}:Gadget", nothing)), raw(tupled(pack("true"))), {}, {}])),
    "a forbidden name in a thread": pack([raw(many([head_bytes("record", "os:system")], b"\x01")), {}]),
    "a forbidden name in a graph": graph(pack([raw(node(1))]),
        obj("record", "subprocess:Popen", pack({"a": raw(node(0))}))),
    "a forbidden name in a set": tupled(obj("record", "os:system", pack({})), code=Code.SET),
    "a forbidden name as a key": mapping(obj("record", "os:system", pack({})), nothing),
    "a forbidden name as a zone": value(1, pack([2025, 1, 1, 0, 0, 0, 0, 0, raw(obj("object", "os:system", pack({}))), 0])),
    "a forbidden name as a mapping": value(17, obj("object", "os:system", pack({}))),
}  # fmt: skip

CALLS: Final[dict[str, Any]] = {
    **{f"gadgets called with {code}": (lambda code=code: _gadget_calls(code, ["true"])) for code in range(6)},
    "gadgets called with keywords": lambda: _gadget_calls(2, {"name": 1}),
    "methods called": array(*(obj("stock", "a:B", pack(pack([*call])), 3) for call in (
        ("pathlib", "Path", "/etc/passwd", "read_text"),
        ("pathlib", "Path", "/tmp/x", "write_text"),
        ("datetime", "date", "2025-01-01", "fromisoformat"),
        ("os", "environ", "x", "get"),
    ))),
    "a model none of whose methods may run": obj("model", _TRAP, pack({"name": 1}), None),
    "a record none of whose methods may run": obj("record", f"{HERE}:TrappedRecord", pack({"name": 1})),
    "a record that cleans up": obj("record", f"{HERE}:CleaningRecord", pack({"name": 1})),
    "a state for what has none": obj("reduced", f"{HERE}:Record", pack([False, [], {"name": 1}])),
    "arguments for a deque": obj("reduced", "collections:deque", pack([False, [raw(value(11, [0, 2**40, 1]))], None])),
    "arguments for a UUID": obj("reduced", "uuid:UUID", pack([True, [], {"int": 1, "x": 2}])),
    "arguments for a datetime": obj("reduced", "datetime:datetime", pack([False, [b"\xff" * 10], None])),
    "arguments for a path": obj("reduced", "pathlib:PosixPath", pack([False, ["a", "b"], None])),
}  # fmt: skip
