"""A real `langgraph dev` in a process of its own, for the demo, the tests and the benchmarks."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, ClassVar, Protocol, Self

import httpx

__all__ = ["DevServer", "ServerFailedError", "ServerProcess", "started"]

QUIET = {
    "LANGGRAPH_CLI_NO_ANALYTICS": "1",
    "LANGGRAPH_NO_VERSION_CHECK": "true",
    "LANGSMITH_TRACING": "false",
    "NO_COLOR": "1",
}


class ServerFailedError(RuntimeError):
    """The server ended, or did not answer in time; the message ends with its last lines."""


class ServerProcess(Protocol):
    """What is needed of a `subprocess.Popen`."""

    @property
    def pid(self) -> int: ...
    @property
    def returncode(self) -> int | None: ...
    def poll(self) -> int | None: ...
    def wait(self, timeout: float | None = None) -> int: ...
    def send_signal(self, sig: int) -> None: ...


def started(
    command: Sequence[str], cwd: Path, env: Mapping[str, str], log: IO[bytes]
) -> ServerProcess:
    """Start a command that writes to `log`."""
    return subprocess.Popen(  # noqa: S603  # our own interpreter
        command,
        cwd=cwd,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=subprocess.STDOUT,
        start_new_session=True,  # Ctrl-C reaches us, and we stop it
    )


class DevServer:
    """`langgraph dev` on a free port; a context manager that stops it however the block ends.

    Args:
        config: The `langgraph.json` to serve.
        cwd: Working directory: relative paths of settings and the server's own files go there.
        env: Variables to add to the environment.
        options: More options of `langgraph dev`.
        python: Interpreter whose environment has the server installed.
        start_timeout_s: How long to wait until it answers.

    Attributes:
        starts: How its process is started. The tests have a quicker way.
    """

    starts: ClassVar[Callable[..., ServerProcess]] = staticmethod(started)

    def __init__(
        self,
        config: Path,
        *,
        cwd: Path,
        env: Mapping[str, str] | None = None,
        options: Sequence[str] = (),
        python: str = sys.executable,
        start_timeout_s: float = 60,
    ) -> None:
        self._config = config
        self.cwd = cwd
        self._env = {**os.environ, **QUIET, **(env or {})}
        self._options = options
        self._python = python
        self._start_timeout_s = start_timeout_s
        self._process: ServerProcess | None = None
        self._log: IO[bytes] | None = None
        self.port = free_port()

    @property
    def url(self) -> str:
        """Where it answers."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def log(self) -> str:
        """What it printed so far."""
        path = self._log_path
        return path.read_text(errors="replace") if path.exists() else ""

    @property
    def _log_path(self) -> Path:
        return self.cwd / f"langgraph-dev-{self.port}.log"

    def start(self) -> Self:
        """Start it and wait until it answers.

        Raises:
            ServerFailedError: It ended or did not answer.
        """
        self._log = self._log_path.open("ab")
        command = [self._python, "-m", "langgraph_cli", "dev", "--no-browser", "--no-reload"]
        options = "--port", str(self.port), "--config", str(self._config), *self._options
        self._process = self.starts([*command, *options], self.cwd, self._env, self._log)
        try:
            self._wait_until_it_answers(self._process)
        except BaseException:
            self.stop()
            raise
        return self

    def cpu_s(self) -> float:
        """CPU time that its process has taken so far, where there is `/proc`."""
        stat = Path(f"/proc/{self._running().pid}/stat").read_text()
        user, system = stat.rpartition(")")[2].split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")

    def send(self, sign: signal.Signals) -> None:
        """Send it a signal, as Ctrl-C in its terminal does."""
        self._running().send_signal(sign)

    def wait(self, timeout_s: float) -> int:
        """Wait for it to end on its own, and return its exit code."""
        return self._running().wait(timeout_s)

    def kill(self) -> None:
        """SIGKILL: as if the machine had lost power."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        """Ask it to stop, and kill it when it does not within ten seconds."""
        if self._process is None:
            return
        try:
            self._end(signal.SIGTERM)
        except subprocess.TimeoutExpired:
            self._end(signal.SIGKILL)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()

    def _running(self) -> ServerProcess:
        if self._process is None:
            message = "the server is not running; call start() first"
            raise ServerFailedError(message)
        return self._process

    def _end(self, sign: signal.Signals) -> None:
        process = self._running()
        if process.poll() is None:
            process.send_signal(sign)
            process.wait(10)
        self._process = None
        if self._log is not None:
            self._log.close()

    def _wait_until_it_answers(self, process: ServerProcess) -> None:
        deadline = time.monotonic() + self._start_timeout_s
        with httpx.Client(timeout=2) as client:  # one for all questions: each reads certificates
            while time.monotonic() < deadline:
                if process.poll() is not None:
                    raise ServerFailedError(
                        f"the server ended with exit code {process.returncode}:\n{self._tail()}"
                    )
                try:
                    if client.get(f"{self.url}/ok").status_code == httpx.codes.OK:
                        return
                except httpx.TransportError:
                    time.sleep(0.1)
        raise ServerFailedError(f"no answer after {self._start_timeout_s:.0f} s:\n{self._tail()}")

    def _tail(self) -> str:
        return "\n".join(self.log.splitlines()[-30:])


def free_port() -> int:
    """A TCP port on which nothing listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
