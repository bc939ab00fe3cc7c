"""Compare a number of random processes with Zeebe: `python -m tests.peer 2000 seed`.

A third argument is the number of the only process to compare, and shows its model and its moves; a range such as
`1900-1999` compares these processes, such as those that an earlier run did not compare.
"""

import secrets
import signal
import sys

from rich.console import Console

from tests.peer.broker import ABSENT, is_here
from tests.peer.comparison import compared


def main(count: str = "2000", seed: str = "", only: str = "") -> int:
    """The exit code: 1 when a difference has no explanation or a process was not compared, 2 without a peer."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(2))  # the broker ends with it
    console = Console(width=120)
    if not is_here():
        console.print(ABSENT)
        return 2
    first, _, last = only.partition("-")
    numbers = range(int(first), int(last or first) + 1) if only else range(int(count))
    comparison = compared(numbers, seed or secrets.token_hex(4), console, is_told=len(numbers) == 1)
    console.print(comparison.table())
    for text in comparison.unexplained:
        console.print(text, markup=False, highlight=False, soft_wrap=True)
    return 1 if comparison.unexplained or comparison.lost else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
