"""Imported by no test: a row has it imported."""

from dataclasses import dataclass


@dataclass
class Further:
    text: str = ""
