"""Sentences that people read: documents, fragments of the changelog, docstrings."""

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.docs.markdown import ROOT

DOCUMENTS = ("*.md", "docs/*.md", "deploy/*.md", "examples/*.md", ".changes/*.md")
PACKAGES = ("server", "identity", "edge")

_CODE_BLOCK = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_END = re.compile(r"(?<=[.!?:])\s+|\n\s*\n|\n\s*[-*] |\|")


@dataclass(frozen=True)
class Sentence:
    file: str
    text: str

    def __str__(self) -> str:
        return f"{self.file}: {self.text}"


@cache
def sentences() -> Sequence[Sentence]:
    """Return all sentences; read once for all checks."""
    return tuple(_sentences())


def _sentences() -> Iterator[Sentence]:
    for file in (file for pattern in DOCUMENTS for file in ROOT.glob(pattern)):
        yield from _split(file, _CODE_BLOCK.sub("", file.read_text()))
    for file in (file for package in PACKAGES for file in ROOT.glob(f"{package}/**/*.py")):
        for docstring in _docstrings(file):
            yield from _split(file, docstring)


def _docstrings(file: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield from filter(None, [ast.get_docstring(node)])


def _split(file: Path, text: str) -> Iterator[Sentence]:
    for part in _END.split(text):
        words = " ".join(part.split()).lstrip("#-> ")
        if words:
            yield Sentence(str(file.relative_to(ROOT)), words)
