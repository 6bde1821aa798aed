"""Print the files with the tests of what we use of upstream's private parts."""

from pathlib import Path

from tests.canary.private_names import PRIVATE

if __name__ == "__main__":
    for test in sorted({name.test for name in PRIVATE}):
        print(*sorted(Path("tests").rglob(f"{test}.py")))
