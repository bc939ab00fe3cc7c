"""The server's process: ready when the block begins, gone when it ends."""

import logging
import os
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from server.platform.postgres.bundled import pid_file
from server.platform.postgres.bundled.errors import PostgresError
from server.platform.postgres.bundled.layout import Layout
from server.platform.postgres.bundled.programs import Programs, last_lines
from server.platform.postgres.config import DatabaseConfig

logger = logging.getLogger(__name__)

POLL_SECONDS = 0.02
HARD_STOP_SECONDS = 5.0
TAIL_BYTES = 8 * 1024


@contextmanager
def running(
    data: Path, options: Sequence[str], *, programs: Programs, layout: Layout, config: DatabaseConfig
) -> Iterator[None]:
    pid_file.forget_dead(data)
    with layout.start_log.open("wb") as output:
        process = programs.start("postgres", "-D", data, *options, output=output)
    with process:
        try:
            _await_ready(process, data, layout=layout, seconds=config.start_seconds)
            yield
        finally:
            _stop(process, config.stop_seconds)


def _await_ready(process: subprocess.Popen[bytes], data: Path, *, layout: Layout, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not pid_file.says_ready(data, process.pid):
        if time.monotonic() > deadline:
            raise PostgresError(
                f"PostgreSQL in {data} was not ready within {seconds:g} s (database.start_seconds): {_log(layout)}"
            )
        try:
            code = process.wait(POLL_SECONDS)
        except subprocess.TimeoutExpired:
            continue
        raise PostgresError(f"PostgreSQL in {data} ended with {code} at its start: {_log(layout)}")


def _stop(process: subprocess.Popen[bytes], seconds: float) -> None:
    """Ask, then demand, then end."""
    for number, patience in (
        (signal.SIGINT, seconds),
        (signal.SIGQUIT, HARD_STOP_SECONDS),
        (signal.SIGKILL, HARD_STOP_SECONDS),
    ):
        process.send_signal(number)
        try:
            process.wait(patience)
        except subprocess.TimeoutExpired:
            logger.warning(
                "PostgreSQL did not end in time", extra={"signal": number.name, "seconds": patience}
            )
        else:
            return


def _log(layout: Layout) -> str:
    """The end of the newest log."""
    files = [layout.start_log, *layout.logs.glob("*.log")]
    newest = max(files, key=lambda file: file.lstat().st_mtime_ns)
    # The account may have put a link there to what only root may read.
    descriptor = os.open(newest, os.O_RDONLY | os.O_NOFOLLOW)
    with os.fdopen(descriptor, "rb") as log:
        log.seek(max(os.fstat(descriptor).st_size - TAIL_BYTES, 0))
        return last_lines(log.read(TAIL_BYTES).decode(errors="replace"))
