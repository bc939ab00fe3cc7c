"""Code blocks of our Markdown files."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

_BLOCK = re.compile(r"^```(?P<language>\w+)\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(file: str, language: str) -> list[str]:
    found = _BLOCK.finditer((ROOT / file).read_text())
    return [block["code"] for block in found if block["language"] == language]
