"""Run a whole campaign and print what it found: `python -m tests.campaigns crash 50`."""

import asyncio
import secrets
import sys
from collections.abc import Awaitable, Callable, Mapping

from rich.console import Console

from tests.campaigns import cluster, crash, failover, neighbour, removal, storm, upgrade
from tests.campaigns.report import Report

CAMPAIGNS: Mapping[str, Callable[[int, str], Awaitable[Report]]] = {
    "crash": crash.run,
    "cluster": cluster.run,
    "failover": failover.run,
    "neighbour": neighbour.run,
    "removal": removal.run,
    "storm": storm.run,
    "upgrade": upgrade.run,
}


def main(name: str, rounds: str, seed: str = "") -> int:
    """The exit code: 1 when something was lost, doubled or out of place."""
    report = asyncio.run(_run(name, int(rounds), seed or secrets.token_hex(4)))
    console = Console(width=120)
    console.print(report.table())
    for violation in report.violations:
        console.print(violation)
    return 1 if report.violations else 0


async def _run(name: str, rounds: int, seed: str) -> Report:
    return await CAMPAIGNS[name](rounds, seed)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
