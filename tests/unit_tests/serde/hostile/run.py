"""Reads hostile rows, each in a fork with a bound on time and memory, and says what they did.

    python -m tests.unit_tests.serde.hostile.run [NAMES]

A row is harmful if it kills the process, takes longer or more memory than is allowed, raises what
is no `SerdeError`, imports what may not be imported, or has something called. Python's own audit
events tell of files, processes, sockets and imports.
"""

from __future__ import annotations

import gc
import json
import logging
import os
import resource
import sys
import time
import traceback
import warnings
from typing import Any

from langgraph_once.config import SerdeConfig
from langgraph_once.errors import EncodeError, SerdeError
from langgraph_once.serde import OnceSerializer
from tests.unit_tests.serde.hostile import classes
from tests.unit_tests.serde.hostile.table import HOSTILE, Hostile

_MOST_BYTES = 3 << 30
_MOST_SECONDS = 20
_TOLD = ("os.", "subprocess.", "socket.", "shutil.", "ctypes.", "pty.", "sys.set")
_HARMLESS = ("os.listdir", "os.scandir", "os.walk", "os.putenv", "os.stat")


def _harm_of(event: str, args: tuple[Any, ...], known: frozenset[str]) -> str | None:
    if event == "import":
        package = args[0].partition(".")[0]
        return None if package in known or package[:1] == "_" else f"import {package}"
    if event == "open":
        is_written = type(args[1]) is str and not {*args[1]}.isdisjoint("wax+")
        return f"open {args[0]!r}" if is_written else None
    if event.startswith(_TOLD) and not event.startswith(_HARMLESS):
        return f"{event} {args!r:.100}"
    return None


def _warm(serde: OnceSerializer) -> None:
    """Have imported and made what is when it is needed first."""
    from tests.unit_tests.serde.hostile.ordinary import ORDINARY

    for value in ORDINARY:
        serde.loads_typed(serde.dumps_typed(value))
    for row in (("msgpack", b"\xc7\x03\x00\x91\xa1a"), ("json", b'{"lc": 2}')):
        try:
            serde.loads_typed(row)
        except SerdeError:
            continue


def _measured(serde: OnceSerializer, hostile: Hostile, row: bytes) -> dict[str, Any]:
    """Return what reading a row does. Ends the process's innocence: it is a fork."""
    resource.setrlimit(resource.RLIMIT_AS, (_MOST_BYTES, _MOST_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (_MOST_SECONDS, _MOST_SECONDS + 5))
    known = frozenset(name.partition(".")[0] for name in [*sys.modules])
    modules = {*sys.modules}
    harms: list[str] = []

    def hear(event: str, args: tuple[Any, ...]) -> None:
        harm = _harm_of(event, args, known)
        if harm is not None and len(harms) < 5:
            harms.append(harm)

    sys.addaudithook(hear)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started = time.process_time()
    value = None
    try:
        value = serde.loads_typed((hostile.tag, row))
        outcome = type(value).__name__
    except (SerdeError, MemoryError) as error:
        outcome = type(error).__name__
    except BaseException as error:
        outcome = f"not ours: {traceback.format_exception_only(error)[0]:.100}"
    seconds = time.process_time() - started
    megabytes = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    started = time.process_time()
    written = "nothing"
    if outcome[-5:] != "Error" and ":" not in outcome:
        try:
            serde.dumps_typed(value)
            written = "written"
        except (EncodeError, MemoryError) as error:
            written = type(error).__name__
        except BaseException as error:
            written = f"not ours: {traceback.format_exception_only(error)[0]:.100}"
    value = None
    gc.collect()
    return {
        "outcome": outcome, "seconds": seconds, "mb": megabytes, "harms": harms + classes.RAN,
        "written": written, "writing": time.process_time() - started,
        "modules": len({*sys.modules} - modules),
    }  # fmt: skip


def main(names: list[str]) -> None:
    """Write one line of JSON for each row, or each of these."""
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    serdes: dict[str, OnceSerializer] = {}
    for name in names or HOSTILE:
        hostile = HOSTILE[name]
        key = repr(hostile.settings)
        if key not in serdes:
            config = SerdeConfig(**{"compression": "none", **(hostile.settings or {})})
            serdes[key] = OnceSerializer(config)
            _warm(serdes[key])
        row = hostile.row()
        facts: dict[str, Any] = {"name": name, "bytes": len(row)}
        sys.stdout.flush()
        gc.freeze()  # else each fork copies all that there is
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reading)
            os.write(writing, json.dumps(_measured(serdes[key], hostile, row)).encode())
            os._exit(0)
        os.close(writing)
        with os.fdopen(reading, "rb") as pipe:
            told = pipe.read()
        status = os.waitpid(child, 0)[1]
        facts |= json.loads(told) if told else {"outcome": "nothing said"}
        if status:
            facts["outcome"] = f"killed: {status}"
        sys.stdout.write(json.dumps(facts) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
