"""Run tests on a copy of the package, in a process that has imported what we stand on already."""

from __future__ import annotations

import os
import pickle
import shutil
import signal
import sys
import tempfile
from collections.abc import Sequence
from multiprocessing import get_context
from pathlib import Path
from typing import Final

import pytest

from tests.mutation.changes import Change
from tests.mutation.reach import Reach, Recorder

PLUGIN: Final = Path(__file__).parents[2] / "plugin"
_WARM: Final = ("pytest", "hypothesis", "langgraph.graph", "langgraph.pregel.remote", __name__)
_FORKS: Final = get_context("forkserver")
_FORKS.set_forkserver_preload([*_WARM])


class Chosen:
    """A plugin of pytest that runs these tests alone, in this order."""

    def __init__(self, tests: Sequence[str]) -> None:
        self._places = {test: place for place, test in enumerate(tests)}

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Choose and sort."""
        items[:] = [item for item in items if item.nodeid in self._places]
        items.sort(key=lambda item: self._places[item.nodeid])


def record(tests: Sequence[str]) -> Reach:
    """The reach of these files and folders."""
    with tempfile.TemporaryDirectory() as folder:
        copy, written = Path(folder) / "plugin", Path(folder) / "reach"
        shutil.copytree(PLUGIN, copy)
        _run(copy, tests, Recorder(copy, written), timeout_s=None)
        reach: Reach = pickle.loads(written.read_bytes())
        return reach


def is_noticed(change: Change, reach: Reach) -> bool:
    """Whether a test fails, or does not end, when the package has the change."""
    tests = reach.tests(change.path, change.function)
    files = list(dict.fromkeys(test.partition("::")[0] for test in tests))
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "plugin"
        shutil.copytree(PLUGIN, copy)
        changed = copy / change.path
        changed.write_bytes(change.applied(changed.read_bytes()))
        usual_s = sum(map(reach.seconds.__getitem__, tests))
        code = _run(copy, files, Chosen(tests), timeout_s=60 + 4 * usual_s)
        return code not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)


def _run(
    copy: Path, tests: Sequence[str], plugin: object, *, timeout_s: float | None
) -> int | None:
    process = _FORKS.Process(target=_test, args=(copy, tests, plugin))
    process.start()
    process.join(timeout_s)
    if process.is_alive():
        os.killpg(process.pid or 0, signal.SIGKILL)
        process.join()
    return process.exitcode


def _test(copy: Path, tests: Sequence[str], plugin: object) -> None:
    """Run the tests in this process, whose output, files and children are nobody's concern."""
    os.setpgid(0, 0)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    sys.path.insert(0, str(copy))
    os.environ["PYTHONPATH"] = os.pathsep.join([str(copy), os.environ.get("PYTHONPATH", "")])
    os.environ["HYPOTHESIS_STORAGE_DIRECTORY"] = str(copy.parent / "hypothesis")
    exit_first = [] if isinstance(plugin, Recorder) else ["-x"]
    options = ["-q", "-m", "not slow and not product", "-p", "no:cacheprovider"]
    quiet = ["-W", "ignore::pytest.PytestAssertRewriteWarning"]
    place = [f"--basetemp={copy.parent / 'tmp'}"]
    os._exit(pytest.main([*exit_first, *options, *quiet, *place, *tests], [plugin]))
