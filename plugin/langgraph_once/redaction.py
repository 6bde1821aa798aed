"""What of a name or a text of others may be shown, in a log or a terminal.

Names that may be keys are not shown: who swaps a key and its id must not find it in a log.
"""

from __future__ import annotations

import re
from typing import Final

_LIKE_A_KEY: Final = re.compile(
    # Base64 of 16 bytes or more, of which next to none has letters of one case only.
    r"(?=[\w+/-]*[a-z])(?=[\w+/-]*[A-Z])[\w+/-]{22}"
    r"|[0-9a-fA-F]{32}"
    # What ends a base64 text or is within a phrase, but not within a name.
    r"|[=+\s]",
    re.ASCII,
)


def shown(name: str) -> str:
    """Return `name`, or how long it is if it may be a key, in base64, hexadecimal or as a phrase.

    Dates, versions, words with dashes, UUIDs and ULIDs are names.
    """
    return f"(not shown: {len(name)} characters)" if _LIKE_A_KEY.search(name) else name


def printable(text: str, most: int | None = None) -> str:
    """Return text of a row, cut to `most` characters, as a terminal may show it."""
    if most is not None and len(text) > most:
        text = f"{text[: most - 1]}…"
    return "".join(char if char.isprintable() else "?" for char in text)
