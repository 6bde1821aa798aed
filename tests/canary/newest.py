"""Is each package of upstream's on its newest version? `make canary` runs it before the tests.

A resolver that cannot meet some package's floor takes an older version and says nothing.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Mapping
from importlib.metadata import distributions

UPSTREAM = re.compile(r"(langgraph|langchain|langsmith|langmem|deepagents)(-|$)")
OURS = "langgraph-once"


def installed() -> dict[str, str]:
    """The version of each package of upstream's in this environment, by name."""
    found = {each.name.lower().replace("_", "-"): each.version for each in distributions()}
    return {n: v for n, v in sorted(found.items()) if UPSTREAM.match(n) and n != OURS}


def newest(names: list[str]) -> dict[str, str]:
    """The newest version of each on the package index, whatever anything else requires."""
    pins = _uv("compile", "--no-deps", "--no-header", "--no-annotate", "-", given="\n".join(names))
    pairs = (line.split("==") for line in pins.stdout.splitlines() if "==" in line)
    return {name: version.strip() for name, version in pairs}


def behind(got: Mapping[str, str], wanted: Mapping[str, str]) -> list[str]:
    """The packages that are not on the version wanted, or of which the index says none."""
    return [name for name, version in got.items() if version != wanted.get(name)]


def _uv(*args: str, given: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "uv", "pip", *args, "--python", sys.executable]
    return subprocess.run(command, input=given, capture_output=True, text=True, check=False)


def main() -> int:
    """Print wanted and got; 1 if one is not on the newest, with what the resolver says of it."""
    got = installed()
    wanted = newest(list(got))
    late = behind(got, wanted)
    print(f"{'package':34}{'wanted':12}got")
    for name, version in got.items():
        note = "  NOT THE NEWEST" if name in late else ""
        print(f"{name:34}{wanted.get(name, '?'):12}{version}{note}")
    if not late:
        return 0
    pins = [f"{name}=={wanted[name]}" for name in late if name in wanted]
    asked = ["--editable", ".[dev,postgres]", *pins]
    print(_uv("install", "--dry-run", *asked).stderr, file=sys.stderr)
    print(
        "Widen the bound if it is ours; else put the floor that is in the way into"
        " tests/canary/overrides.txt.",
        file=sys.stderr,
    )
    return 1


if __name__ == "__main__":
    sys.exit(main())
