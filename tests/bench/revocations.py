"""Time until two nodes refuse what was revoked: the cells of the matrix of revocations, each by the clock.

Times are since the answer of the revocation. Requests follow each other without pauses at all interfaces of both nodes,
so on a busy machine most of the time until a refusal arrives is that of the request itself. The limit is for requests
that were still admitted, by the time at which they were sent, and for open calls.
"""

import asyncio
import tempfile
from collections.abc import Mapping
from pathlib import Path

from rich.table import Table

from tests.end_to_end.revocations import REVOCATIONS, Cell, deployed, expected, refusals_of
from tests.postgres import postgres_server

LIMIT_SECONDS = 1.0


def table() -> Table:
    table = Table(
        title="Requests admitted and refused after revocations, ms, and the interface that was last"
    )
    table.add_column("revocation")
    for column in (
        "admitted last at the same node",
        "at the other",
        "limit",
        "refused first at the same node",
        "at the other",
        "cells",
        "refused",
    ):
        table.add_column(column, justify="right")
    with (
        postgres_server() as dsn,
        tempfile.TemporaryDirectory() as folder,
        deployed(dsn, Path(folder)) as deployment,
    ):
        for revocation in REVOCATIONS:
            refusals = asyncio.run(refusals_of(deployment, revocation))
            cells = expected(revocation)
            refused = sum(refusals.after[cell] is outcome for cell, outcome in cells.items())
            table.add_row(
                revocation,
                *(_longest(refusals.admitted, node) for node in (1, 2)),
                f"{LIMIT_SECONDS * 1000:.0f}",
                *(_longest(refusals.refused, node) for node in (1, 2)),
                str(len(cells)),
                str(refused),
            )
    return table


def _longest(seconds: Mapping[Cell, float], node: int) -> str:
    found, interface = max((each, cell[0]) for cell, each in seconds.items() if cell[1] == node)
    return f"{found * 1000:.0f} {interface}"
