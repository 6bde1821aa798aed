"""A PostgreSQL server for tests: pgserver's, or one that is installed here."""

from __future__ import annotations

import importlib
import importlib.util
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

__all__ = ["postgres_server", "programs"]

_SETTINGS = "-c listen_addresses= -c fsync=off -k"


@contextmanager
def postgres_server() -> Iterator[str]:
    """Start a server, and stop it at the end. Gives its address."""
    # Not in pytest's folder, which each session that begins closes to other users: the server of
    # root's tests runs as one.
    with tempfile.TemporaryDirectory(prefix="once-", ignore_cleanup_errors=True) as folder:
        if importlib.util.find_spec("pgserver") is not None:
            with pytest.MonkeyPatch.context() as env:  # or it warns that it falls back on this
                env.setenv("XDG_RUNTIME_DIR", folder)
                server = importlib.import_module("pgserver").get_server(Path(folder, "data"))
            yield server.get_uri()
            server.cleanup()
        elif (programs := _programs()) is not None:
            with _started(programs, Path(folder)) as address:
                yield address
        elif "CI" in os.environ:
            pytest.fail("no PostgreSQL: install pgserver, or the package of the system")
        else:
            pytest.skip("no PostgreSQL: install pgserver, or the package of the system")


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
def _started(programs: Path, folder: Path) -> Iterator[str]:
    # As root it refuses to run.
    user = "postgres" if os.geteuid() == 0 else None
    if user is not None:
        os.chown(folder, pwd.getpwnam(user).pw_uid, -1)

    def run(program: str, *arguments: str) -> None:
        command = [str(programs / program), "-D", str(folder / "data"), *arguments]
        with (folder / "log").open("ab") as log:
            subprocess.run(command, stdout=log, stderr=log, check=True, user=user, cwd=folder)

    run("initdb", "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-sync")
    run("pg_ctl", "-w", "-o", f"{_SETTINGS} {folder}", "start")
    try:
        yield f"postgresql://postgres@/postgres?host={folder}"
    finally:
        run("pg_ctl", "-m", "immediate", "stop")
