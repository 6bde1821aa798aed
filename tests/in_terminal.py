"""A command in a terminal of its own."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import termios
from collections.abc import Sequence
from contextlib import suppress
from subprocess import Popen

__all__ = ["in_terminal"]


def in_terminal(command: Sequence[str], *, columns: int, lines: int = 40) -> str:
    """Run a command in a terminal of this size; return all that it wrote there."""
    mine, its = pty.openpty()
    try:
        fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        env = {**os.environ, "TERM": "xterm-256color"}
        for name in ("COLUMNS", "LINES", "NO_COLOR"):
            env.pop(name, None)
        with Popen(command, stdin=its, stdout=its, stderr=its, env=env) as process:
            os.close(its)
            told = bytearray()
            with suppress(OSError):  # so Linux says that nobody writes any more
                while data := os.read(mine, 65536):
                    told += data
        assert process.returncode == 0, told.decode()[-2000:]
    finally:
        os.close(mine)
    return told.decode().replace("\r\n", "\n")
