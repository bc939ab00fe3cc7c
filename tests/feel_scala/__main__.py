"""Compare a number of random expressions: `python -m tests.feel_scala 50000 seed`."""

import secrets
import sys

from rich.console import Console

from tests.feel_scala import collected
from tests.feel_scala.comparing import compared
from tests.feel_scala.engine import ABSENT, feel_scala, is_here


def main(count: str = "50000", seed: str = "") -> int:
    """The exit code: 1 when a difference has no explanation, 2 when there is nothing to compare with."""
    console = Console(width=120)
    if not is_here():
        console.print(ABSENT)
        return 2
    if not collected.is_here():
        console.print(collected.ABSENT)
    with feel_scala() as engine:
        comparison = compared(int(count), seed or secrets.token_hex(4), engine)
    console.print(comparison.table())
    for text in comparison.shown:
        console.print(text, markup=False)
    return 1 if comparison.unexplained else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
