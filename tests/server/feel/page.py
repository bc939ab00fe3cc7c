"""docs/feel.md, as tables for tests."""

import re
from pathlib import Path

_PAGE = Path(__file__).parents[3] / "docs/feel.md"


def section(heading: str) -> str:
    return _PAGE.read_text(encoding="utf-8").split(f"## {heading}\n")[1].split("\n## ")[0]


def rows(heading: str) -> list[list[str]]:
    """The cells of each row of the section's tables that begins with code."""
    lines = [line for line in section(heading).splitlines() if line.startswith("| `")]
    return [re.split(r" \| ", line.strip("| ")) for line in lines]
