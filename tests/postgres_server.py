"""A PostgreSQL server for tests: pgserver's, or one that is installed here."""

from __future__ import annotations

import importlib
import importlib.util
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pytest

_SETTINGS = ("fsync=off", "full_page_writes=off", "autovacuum=off")
"""It waits for no disk: what it stores is for this run alone."""


class Server(NamedTuple):
    """A server that runs, and may be stopped and started."""

    address: str
    stop: Callable[[str], object]
    """Takes the mode of `pg_ctl`."""
    start: Callable[[], object]


@contextmanager
def postgres_server() -> Iterator[str]:
    """Start a server, and stop it at the end. Gives its address."""
    with own_server() as server:
        yield server.address


@contextmanager
def own_server() -> Iterator[Server]:
    """Start a server, and stop it at the end."""
    # Not in pytest's folder, which each session that begins closes to other users: the server of
    # root's tests runs as one.
    with tempfile.TemporaryDirectory(prefix="once-", ignore_cleanup_errors=True) as folder:
        if importlib.util.find_spec("pgserver") is not None:
            with pytest.MonkeyPatch.context() as env:  # or it warns that it falls back on this
                env.setenv("XDG_RUNTIME_DIR", folder)
                server = importlib.import_module("pgserver").get_server(Path(folder, "data"))
            server.psql("".join(f"ALTER SYSTEM SET {setting};\n" for setting in _SETTINGS))
            server.psql("SELECT pg_reload_conf()")
            pg_ctl = partial(
                importlib.import_module("pgserver._commands").pg_ctl,
                pgdata=server.pgdata,
                user=server.system_user,
            )
            yield Server(
                server.get_uri(),
                lambda mode: pg_ctl(["-w", "-m", mode, "stop"]),
                server.ensure_postgres_running,
            )
            server.cleanup()
        elif (programs := _programs()) is not None:
            with _started(programs, Path(folder)) as found:
                yield found
        elif "CI" in os.environ:
            pytest.fail("no PostgreSQL: install pgserver, or the package of the system")
        else:
            pytest.skip("no PostgreSQL: install pgserver, or the package of the system")


def has_vectors(address: str) -> bool:
    """Whether a server has pgvector, as pgserver's has."""
    asked = "SELECT 1 FROM pg_available_extensions WHERE name = 'vector'"
    with importlib.import_module("psycopg").connect(address) as conn:
        return conn.execute(asked).fetchone() is not None


def programs() -> Path:
    """Where the programs of the server are that `postgres_server` starts."""
    if (spec := importlib.util.find_spec("pgserver")) is not None and spec.origin:
        return Path(spec.origin).with_name("pginstall") / "bin"
    return _programs() or Path()


def _programs() -> Path | None:
    """Where `initdb` and `pg_ctl` are."""
    if found := shutil.which("initdb"):
        return Path(found).resolve().parent
    return max(Path("/usr/lib/postgresql").glob("*/bin"), default=None)  # Debian's


@contextmanager
def _started(programs: Path, folder: Path) -> Iterator[Server]:
    # As root it refuses to run.
    user = "postgres" if os.geteuid() == 0 else None
    if user is not None:
        os.chown(folder, pwd.getpwnam(user).pw_uid, -1)

    def run(program: str, *arguments: str) -> None:
        command = [str(programs / program), "-D", str(folder / "data"), *arguments]
        with (folder / "log").open("ab") as log:
            subprocess.run(command, stdout=log, stderr=log, check=True, user=user, cwd=folder)

    run("initdb", "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-sync")
    settings = " ".join(f"-c {setting}" for setting in ("listen_addresses=", *_SETTINGS))
    start = partial(run, "pg_ctl", "-w", "-o", f"{settings} -k {folder}", "start")
    start()
    try:
        yield Server(
            f"postgresql://postgres:@/postgres?host={folder}",
            lambda mode: run("pg_ctl", "-w", "-m", mode, "stop"),
            start,
        )
    finally:
        run("pg_ctl", "-m", "immediate", "stop")
