"""The command that installs an extra, for whoever lacks a package that only some users need."""

from __future__ import annotations

import json
from importlib.metadata import PackageNotFoundError, distribution
from urllib.parse import urlsplit
from urllib.request import url2pathname

__all__ = ["install_command"]

_NAME = "langgraph-once"


def install_command(extra: str) -> str:
    """Return the command that adds an extra to this package, from where the package came.

    Its bare name would do only for what came from a package index. Of anything else the installer
    noted the origin in `direct_url.json` (PEP 610): a folder, a file or a repository.
    """
    try:
        noted = distribution(_NAME).read_text("direct_url.json")
    except PackageNotFoundError:  # imported from a folder that nobody installed
        noted = None
    origin = json.loads(noted) if noted else {}
    named, url = f"{_NAME}[{extra}]", origin.get("url")
    if url is None:
        return f'pip install "{named}"'
    if origin.get("dir_info", {}).get("editable"):
        return f'pip install -e "{url2pathname(urlsplit(url).path)}[{extra}]"'
    if vcs := origin.get("vcs_info"):
        url = f"{vcs['vcs']}+{url}@{vcs['commit_id']}"
    return f'pip install "{named} @ {url}"'
