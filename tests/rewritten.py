"""`python -m tests.rewritten` compiles the tests as pytest does, with its own `assert`.

In a fresh clone each of pytest's workers would do that for all of them, at the same time: four
seconds each. What pytest does not find compiled as it wants, it compiles itself.
"""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from _pytest.assertion import rewrite

_TESTS = Path(__file__).parent


def compiled(path: Path) -> None:
    """Put a file of tests, compiled, where pytest looks for it."""
    folder = rewrite.get_cache_dir(path)
    folder.mkdir(parents=True, exist_ok=True)
    config: Any = None  # of which only an option is asked that nobody sets
    stat, code = rewrite._rewrite_test(path, config)
    state: Any = SimpleNamespace(trace=print)
    rewrite._write_pyc(state, code, stat, folder / (path.stem + rewrite.PYC_TAIL))


def main() -> None:
    """Compile all of them, on all processors."""
    with ProcessPoolExecutor() as pool:
        list(pool.map(compiled, sorted(_TESTS.rglob("test_*.py")), chunksize=20))


if __name__ == "__main__":
    main()
