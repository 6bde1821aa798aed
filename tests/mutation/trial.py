"""Run tests on a copy of the package, in a process that has imported what we stand on already."""

from __future__ import annotations

import contextlib
import faulthandler
import os
import pickle
import shutil
import signal
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from multiprocessing import get_context
from pathlib import Path
from typing import Final

import hypothesis
import pytest

from tests.mutation.changes import Change
from tests.mutation.reach import Reach, Recorder

PLUGIN: Final = Path(__file__).parents[2] / "plugin"
_WARM: Final = ("pytest", "hypothesis", "langgraph.graph", "langgraph.pregel.remote", __name__)
_PROFILE: Final = "mutation"
_NO_SHRINKING: Final = (hypothesis.Phase.explicit, hypothesis.Phase.generate)
_FORKS: Final = get_context("forkserver")
_FORKS.set_forkserver_preload([*_WARM])


class Chosen:
    """A plugin of pytest that runs these tests alone, in this order, and ends what hangs."""

    def __init__(self, seconds: Mapping[str, float]) -> None:
        self._seconds = seconds
        self._places = {test: place for place, test in enumerate(seconds)}

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Choose and sort."""
        items[:] = [item for item in items if item.nodeid in self._places]
        items.sort(key=lambda item: self._places[item.nodeid])

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Give the test ten times what it takes usually."""
        faulthandler.dump_traceback_later(30 + 10 * self._seconds[nodeid], file=2, exit=True)


@dataclass(frozen=True, slots=True)
class Trial:
    """Whether a test noticed the change, and whether there were more tests than could run."""

    is_noticed: bool
    is_cut: bool


def record(tests: Sequence[str], changes: Sequence[Change]) -> Reach:
    """What these files and folders reach of the changes."""
    with tempfile.TemporaryDirectory() as folder:
        copy, written = Path(folder) / "plugin", Path(folder) / "reach"
        shutil.copytree(PLUGIN, copy)
        _run(copy, tests, Recorder(copy, written, changes))
        reach: Reach = pickle.loads(written.read_bytes())
        return reach


def tried(change: Change, reach: Reach, max_s: float) -> Trial:
    """Whether a test fails, or does not end, when the package has the change.

    As many tests run as usually take `max_s` seconds.
    """
    tests = reach.tests(change)
    spent = accumulate(reach.seconds[test] for test in tests)
    chosen = {
        test: reach.seconds[test]
        for test, so_far in zip(tests, spent, strict=True)
        if so_far - reach.seconds[test] < max_s
    }
    files = list(dict.fromkeys(test.partition("::")[0] for test in chosen))
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "plugin"
        shutil.copytree(PLUGIN, copy)
        changed = copy / change.path
        changed.write_bytes(change.applied(changed.read_bytes()))
        code = _run(copy, files, Chosen(chosen))
    is_noticed = code not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)
    return Trial(is_noticed, is_cut=len(chosen) < len(tests))


def _run(copy: Path, tests: Sequence[str], plugin: object) -> int | None:
    process = _FORKS.Process(target=_test, args=(copy, tests, plugin))
    process.start()
    process.join()
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid or 0, signal.SIGKILL)  # What it started and left.
    return process.exitcode


def _test(copy: Path, tests: Sequence[str], plugin: object) -> None:
    """Run the tests in this process, whose output, files and children are nobody's concern."""
    os.setpgid(0, 0)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    sys.path.insert(0, str(copy))
    sys.dont_write_bytecode = False
    os.environ["PYTHONPATH"] = os.pathsep.join([str(copy), os.environ.get("PYTHONPATH", "")])
    os.environ["HYPOTHESIS_STORAGE_DIRECTORY"] = str(copy.parent / "hypothesis")
    options = ["-q", "-m", "not slow and not product", "-p", "no:cacheprovider"]
    options += ["-p", "no:faulthandler", "-W", "ignore::pytest.PytestAssertRewriteWarning"]
    options += [f"--basetemp={copy.parent / 'tmp'}", f"--hypothesis-profile={_PROFILE}"]
    hypothesis.settings.register_profile(_PROFILE, deadline=None, phases=_NO_SHRINKING)
    if isinstance(plugin, Chosen):
        options += ["-x"]
        faulthandler.dump_traceback_later(120, file=2, exit=True)
    os._exit(pytest.main([*options, *tests], [plugin]))
