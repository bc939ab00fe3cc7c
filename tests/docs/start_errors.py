"""Messages with which a start is refused, as the source has them."""

import ast
from collections.abc import Iterator

from tests.docs.markdown import ROOT

# The modules that run before the server is ready and refuse what the machine or the operator gave them.
_FILES = (
    "server/platform/config.py",
    "server/platform/sockets.py",
    "server/platform/postgres/migrations.py",
    "server/platform/postgres/bundled/*.py",
    "server/cli/process.py",
    "server/bundle.py",
    "server/launcher.py",
    "server/storage.py",
)


def start_errors() -> list[str]:
    """Each message once; `…` stands for what varies."""
    found = {message for pattern in _FILES for message in _messages(pattern)}
    return sorted(found - {"…"})


def _messages(pattern: str) -> Iterator[str]:
    for file in ROOT.glob(pattern):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and node.exc.args:
                yield from filter(None, [_text(node.exc.args[0])])


def _text(node: ast.expr) -> str:
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=parts):
            return "".join(map(_text, parts))
        case _:
            return "…"
