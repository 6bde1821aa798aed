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
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Final

import hypothesis
import pytest

from tests.examples import examples
from tests.mutation.changes import Change
from tests.mutation.reach import Reach, Recorder

PLUGIN: Final = Path(__file__).parents[2] / "plugin"
_WARM: Final = ("pytest", "hypothesis", "langgraph.graph", "langgraph.pregel.remote", __name__)
_TIME_IS_OVER: Final = 77
_PROFILE: Final = "mutation"
_NO_SHRINKING: Final = (hypothesis.Phase.explicit, hypothesis.Phase.generate)
_FORKS: Final = get_context("forkserver")
_FORKS.set_forkserver_preload([*_WARM])


class Chosen:
    """A plugin of pytest that runs these tests alone, in this order, for so many seconds."""

    def __init__(self, tests: Sequence[str], usual_s: Mapping[str, float], max_s: float) -> None:
        self._places = {test: place for place, test in enumerate(tests)}
        self._usual_s, self._max_s = usual_s, max_s
        self._end = float("inf")

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Choose and sort."""
        items[:] = [item for item in items if item.nodeid in self._places]
        items.sort(key=lambda item: self._places[item.nodeid])
        self._end = time.monotonic() + self._max_s

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Stop if the time is over; a test that hangs fails."""
        if time.monotonic() > self._end:
            pytest.exit("the time is over", _TIME_IS_OVER)
        faulthandler.dump_traceback_later(30 + 10 * self._usual_s[nodeid], file=2, exit=True)


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
    """How the tests that reach the change take it, or as many of them as `max_s` is enough for."""
    tests = reach.tests(change)
    files = list(dict.fromkeys(test.partition("::")[0] for test in tests))
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "plugin"
        shutil.copytree(PLUGIN, copy)
        changed = copy / change.path
        changed.write_bytes(change.applied(changed.read_bytes()))
        code = _run(copy, files, Chosen(tests, reach.seconds, max_s))
    unnoticed = (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED, _TIME_IS_OVER)
    return Trial(code not in unnoticed, code == _TIME_IS_OVER)


def _run(copy: Path, tests: Sequence[str], plugin: Recorder | Chosen) -> int | None:
    process = _FORKS.Process(target=_test, args=(copy, tests, plugin))
    process.start()
    process.join()
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid or 0, signal.SIGKILL)  # What it started and left.
    return process.exitcode


def _test(copy: Path, tests: Sequence[str], plugin: Recorder | Chosen) -> None:
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
    random_ones = examples(50, deadline=None, phases=_NO_SHRINKING)
    hypothesis.settings.register_profile(_PROFILE, random_ones)
    if isinstance(plugin, Recorder):
        plugin.begin()
    else:
        options += ["-x"]
        faulthandler.dump_traceback_later(120, file=2, exit=True)
    os._exit(pytest.main([*options, *tests], [plugin]))
