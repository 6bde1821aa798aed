"""Python in processes of their own, forked by one that has imported this package already.

What a test starts so is as far from the test as with `subprocess`, and begins a second sooner.
"""

from __future__ import annotations

import multiprocessing
import os
import runpy
import socket
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any, Self

from demo.dev_server import ServerProcess, started
from tests.thread_pools import work_around_the_fault

_FORKS = multiprocessing.get_context("forkserver")
# No package that a user may not have: some tests are about those who do not. What a server reads
# from its environment as it is imported, as all of `langgraph_api`, is not here either.
_FORKS.set_forkserver_preload(
    [
        *(__name__, "langgraph_once.__main__", "langgraph_once.settings"),
        "langgraph_once.checkpoint.sqlite",
        *("langgraph_cli.cli", "uvicorn", "uvicorn.protocols.http.h11_impl", "structlog"),
        *("starlette.applications", "starlette.routing", "jsonschema_rs", "orjson"),
        *("langgraph.graph", "langgraph.pregel.main", "langgraph.pregel.remote", "langgraph_sdk"),
        *("langchain_core.language_models", "langsmith.run_trees"),
        "cryptography.hazmat.primitives.ciphers.aead",
    ]
)

_TIMEOUT_S = 300


class Forked:
    """A process that does what `python -c TEXT …` or `python -m MODULE …` would do.

    Attributes:
        stdin: What it reads.
        stdout: What it writes. Reading it fails after five minutes of silence.
    """

    def __init__(
        self, *arguments: str, cwd: Path | None = None, env: Mapping[str, str] | None = None
    ) -> None:
        self._arguments = arguments
        self._folder = tempfile.TemporaryDirectory()
        self._stderr = Path(self._folder.name, "stderr")
        env = dict(os.environ if env is None else env)
        mine, its = socket.socketpair()
        with its:
            self._process = _FORKS.Process(
                target=_run, args=(arguments, cwd or Path.cwd(), env, its, self._stderr)
            )
            self._process.start()
        with mine:
            mine.settimeout(_TIMEOUT_S)
            self.stdin = mine.makefile("w")
            self.stdout = mine.makefile("r")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
        self.wait()
        self._process.close()
        self.stdin.close()
        self.stdout.close()
        self._folder.cleanup()

    @property
    def returncode(self) -> int | None:
        """Its exit code, minus the number of the signal that ended it, or None while it runs."""
        return self._process.exitcode

    def kill(self) -> None:
        """End it at once, if it has not ended."""
        self._process.kill()

    def wait(self) -> subprocess.CompletedProcess[str]:
        """Wait until it has ended.

        Returns:
            Its exit code, the rest of what it wrote, and all that it said of errors.

        Raises:
            subprocess.TimeoutExpired: It has not, in five minutes.
        """
        stdout = self.stdout.read()
        self._process.join(_TIMEOUT_S)
        code = self.returncode
        if code is None:
            raise subprocess.TimeoutExpired([*self._arguments], _TIMEOUT_S)
        stderr = self._stderr.read_text() if self._stderr.exists() else ""
        return subprocess.CompletedProcess(self._arguments, code, stdout, stderr)


def run_python(
    *arguments: str, cwd: Path | None = None, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Return what `python *arguments` ends with, in this folder and environment."""
    with Forked(*arguments, cwd=cwd, env=env) as process:
        return process.wait()


SCRIPT = (
    "import sys; sys.argv[0] = 'langgraph-once'; from langgraph_once.__main__ import main; main()"
)


def clean_environ(**more: str) -> dict[str, str]:
    """The environment of this process, of our settings only with those that are given."""
    return {name: it for name, it in os.environ.items() if not name.startswith("ONCE_")} | more


def run_once(*arguments: str, cwd: Path, **env: str) -> subprocess.CompletedProcess[str]:
    """Run `langgraph-once` with these arguments and settings, in this folder."""
    return run_python("-c", SCRIPT, *arguments, cwd=cwd, env=clean_environ(**env))


def run_once_in_terminal(*arguments: str, cwd: Path, terminal: str, **env: str) -> int | None:
    """Run `langgraph-once` in the terminal of this name; return its exit code."""
    command = ("-c", SCRIPT, *arguments)
    process = _FORKS.Process(
        target=_run_in_terminal, args=(command, cwd, clean_environ(**env), terminal)
    )
    process.start()
    process.join(_TIMEOUT_S)
    return process.exitcode


class _ForkedServer:
    """A forked process, as `subprocess.Popen` has it."""

    def __init__(self, *of: object) -> None:
        self._process = _FORKS.Process(target=_serve, args=of)
        self._process.start()

    @property
    def pid(self) -> int:
        return self._process.pid or 0

    @property
    def returncode(self) -> int | None:
        return self._process.exitcode

    def poll(self) -> int | None:
        return self._process.exitcode

    def wait(self, timeout: float | None = None) -> int:
        self._process.join(timeout)
        if (code := self._process.exitcode) is None:
            raise subprocess.TimeoutExpired("a server", timeout or 0)
        return code

    def send_signal(self, sig: int) -> None:
        os.kill(self.pid, sig)


def fork_server(
    command: Sequence[str], cwd: Path, env: Mapping[str, str], log: IO[bytes]
) -> ServerProcess:
    """Start a server in half of the time; for another Python as always."""
    python, *arguments = command
    if python != sys.executable:
        return started(command, cwd, env, log)
    plain = {key: value for key, value in env.items() if key != "SSL_CERT_FILE"}  # see conftest.py
    return _ForkedServer(tuple(arguments), cwd, plain, log.name)


def _serve(arguments: tuple[str, ...], cwd: Path, env: Mapping[str, str], log: str) -> None:
    os.setsid()
    work_around_the_fault()
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    out = os.open(log, os.O_WRONLY | os.O_APPEND)
    os.dup2(out, 1)
    os.dup2(out, 2)
    # A server may have another release of this package.
    for name in [each for each in sys.modules if each.partition(".")[0] == "langgraph_once"]:
        del sys.modules[name]
    _run_there(arguments, cwd, env)


def _run(
    arguments: tuple[str, ...],
    cwd: Path,
    env: Mapping[str, str],
    pipe: socket.socket,
    stderr: Path,
) -> None:
    os.dup2(pipe.fileno(), 0)
    os.dup2(pipe.fileno(), 1)
    pipe.close()
    os.dup2(os.open(stderr, os.O_WRONLY | os.O_CREAT), 2)
    sys.stdin = os.fdopen(0, closefd=False)
    if {"init", "rehearse"} & {*arguments}:
        _fork_ourselves()
    _run_there(arguments, cwd, env)


def _run_in_terminal(
    arguments: tuple[str, ...], cwd: Path, env: Mapping[str, str], terminal: str
) -> None:
    opened = os.open(terminal, os.O_RDWR)
    for number in range(3):
        os.dup2(opened, number)
    os.close(opened)
    sys.stdin = os.fdopen(0, closefd=False)
    _fork_ourselves()
    _run_there(arguments, cwd, env)


def _fork_ourselves() -> None:
    """Have a command of ours that this process runs forked, too, of what this process is now."""
    mine, its = multiprocessing.Pipe()
    if not os.fork():
        mine.close()
        for number in range(3):  # who reads what this process writes waits for its end
            os.dup2(os.open(os.devnull, os.O_RDWR), number)
        while its.poll(None):
            try:
                its.send(_forked_run(*its.recv()))
            except EOFError:
                os._exit(0)
    its.close()
    usual = subprocess.run

    def run(command: Sequence[str], *, env: Any = None, text: bool = False, **options: Any) -> Any:
        python, *arguments = command
        if python != sys.executable or "langgraph_once" not in arguments:
            return usual(command, env=env, text=text, **options)
        mine.send((arguments, Path.cwd(), dict(os.environ if env is None else env)))
        code, *told = mine.recv()
        return subprocess.CompletedProcess(
            command, code, *(each.decode() if text else each for each in told)
        )

    vars(subprocess)["run"] = run


def _forked_run(
    arguments: Sequence[str], cwd: Path, env: Mapping[str, str]
) -> tuple[int, bytes, bytes]:
    """The exit code of a command, and what it wrote."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        if not (pid := os.fork()):
            os.dup2(out.fileno(), 1)
            os.dup2(err.fileno(), 2)
            code: Any = 0
            try:
                kept = tuple(each for each in arguments if each != "-P")
                _run_there(kept, cwd, env, in_path="-P" not in arguments)
            except SystemExit as ended:
                code = ended.code
                if isinstance(code, str):
                    sys.stderr.write(f"{code}\n")
            except BaseException:
                code = 1
                traceback.print_exc()
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code if isinstance(code, int) else bool(code))
        _, status = os.waitpid(pid, 0)
        out.seek(0)
        err.seek(0)
        return os.waitstatus_to_exitcode(status), out.read(), err.read()


def _run_there(
    arguments: tuple[str, ...], cwd: Path, env: Mapping[str, str], *, in_path: bool = True
) -> None:
    os.environ.clear()
    os.environ.update(env)
    os.chdir(cwd)
    sys.path[:0] = [str(cwd)] * in_path + env.get("PYTHONPATH", "").split(os.pathsep)
    kind, what, *rest = arguments
    sys.argv = [kind, *rest]
    if kind == "-m":
        runpy.run_module(what, run_name="__main__", alter_sys=True)
    else:
        names: dict[str, Any] = {"__name__": "__main__"}
        exec(compile(what, "<string>", "exec"), names)
