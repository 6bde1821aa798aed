"""Runs a command with a PostgreSQL of its own: `python -m demo.embedded_postgres langgraph dev`.

The server's files are in `.langgraph_once/postgres`. It stops with the command, and both stop when
this process is told to.
"""

from __future__ import annotations

import importlib
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

FOLDER = Path(".langgraph_once/postgres")


def main() -> int:
    """Start the server, run the command with its address, stop the server."""
    try:
        pgserver: Any = importlib.import_module("pgserver")
    except ImportError:
        sys.exit("this needs the package pgserver, which has wheels for Python up to 3.12")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the server is stopped
    FOLDER.parent.mkdir(parents=True, exist_ok=True)
    server = pgserver.get_server(FOLDER.resolve())
    environ = {**os.environ, "ONCE_DATABASE_URL": server.get_uri()}
    try:
        with subprocess.Popen(sys.argv[1:], env=environ) as command:  # noqa: S603  # what its user asks for
            try:
                return command.wait()
            except KeyboardInterrupt:  # which the terminal sends to the command, too
                return 130
            except SystemExit:
                command.terminate()
                raise
    finally:
        server.cleanup()


if __name__ == "__main__":
    sys.exit(main())
