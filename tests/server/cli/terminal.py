"""The screen of a command in a terminal of some width."""

import re

# ECMA-48 §5.4.
_CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def terminal(width: int) -> dict[str, str]:
    """The environment of a command that prints to a terminal."""
    return {"TTY_COMPATIBLE": "1", "COLUMNS": str(width)}


def seen(output: str) -> list[str]:
    return [line.rstrip() for line in _CONTROL.sub("", output).splitlines()]
