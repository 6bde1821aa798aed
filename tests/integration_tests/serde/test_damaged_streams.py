"""No damaged stream of Arrow ends the process that reads it."""

import os

import pytest

from tests.forked import run_python


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(n, marks=pytest.mark.slow) for n in range(1, 5))]
)
def test_no_damaged_stream_ends_the_process(seed: int) -> None:
    env = os.environ | {"RUST_BACKTRACE": "0"}
    fuzz = "tests.integration_tests.serde.stream_fuzz"
    done = run_python("-m", fuzz, "1000", str(seed), env=env)
    assert done.returncode == 0, done.stderr[-2000:]
    assert "refused" in done.stdout
