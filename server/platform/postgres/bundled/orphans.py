"""Stops servers of an earlier owner.

On Linux a server stops when its owner ends; on other systems the next owner stops it.
"""

import logging
from pathlib import Path

from server.platform.postgres.bundled import lock, pid_file
from server.platform.postgres.bundled.errors import PostgresError
from server.platform.postgres.bundled.layout import Layout
from server.platform.postgres.bundled.programs import Programs

logger = logging.getLogger(__name__)


def end_orphans(layout: Layout, programs: Programs, *, seconds: float) -> None:
    """Stop all servers of earlier owners and take the server lock; raises PostgresError."""
    if lock.is_taken(programs.server_lock):
        return
    for file in layout.root.glob(f"data-*/{pid_file.NAME}"):
        _tell_to_end(file.parent, programs, seconds=seconds)
    try:
        lock.take(programs.server_lock, seconds=seconds)
    except TimeoutError:
        raise PostgresError(
            f"a server that was started earlier in {layout.root} did not end within {seconds:g} s (database.start_seconds)"
        ) from None


def _tell_to_end(data: Path, programs: Programs, *, seconds: float) -> None:
    try:
        programs.run("pg_ctl", "stop", "-D", data, "-m", "fast", "--no-wait", seconds=seconds)
    except PostgresError as error:
        # The server has already ended or is about to.
        logger.info("a server could not be asked to stop", extra={"data": data.name, "reason": str(error)})
