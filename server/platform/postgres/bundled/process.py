"""The server process: ready when the block begins, stopped at its end, restarted if it dies in between."""

import asyncio
import logging
import os
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from server.platform.postgres.bundled import pid_file
from server.platform.postgres.bundled.errors import PostgresError
from server.platform.postgres.bundled.layout import Layout
from server.platform.postgres.bundled.programs import Programs, last_lines
from server.platform.postgres.config import DatabaseConfig

logger = logging.getLogger(__name__)

POLL_SECONDS = 0.02
WATCH_SECONDS = 0.2
HARD_STOP_SECONDS = 5.0
TAIL_BYTES = 8 * 1024


@contextmanager
def running(
    data: Path, options: Sequence[str], *, programs: Programs, layout: Layout, config: DatabaseConfig
) -> Iterator["Server"]:
    pid_file.forget_dead(data)
    server = Server(data, options, programs=programs, layout=layout, config=config)
    try:
        server.await_ready()
        yield server
    finally:
        server.stop()


class Server:
    """The server process, which can be restarted; only the thread that created it may use it."""

    def __init__(
        self,
        data: Path,
        options: Sequence[str],
        *,
        programs: Programs,
        layout: Layout,
        config: DatabaseConfig,
    ) -> None:
        self._data = data
        self._options = options
        self._programs = programs
        self._layout = layout
        self._config = config
        self._process = self._started()

    def await_ready(self) -> None:
        deadline = time.monotonic() + self._config.start_seconds
        while not self._is_ready(deadline):
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(POLL_SECONDS)

    async def keep_running(self) -> None:
        """Restart the server whenever it dies, until cancelled."""
        while True:
            await asyncio.sleep(WATCH_SECONDS)
            code = self._process.poll()
            if code is not None:
                logger.error("PostgreSQL died and is started again", extra={"code": code})
                await self._restart()

    def stop(self) -> None:
        """Stop the server: SIGINT first, then SIGQUIT, then SIGKILL."""
        for number, patience in (
            (signal.SIGINT, self._config.stop_seconds),
            (signal.SIGQUIT, HARD_STOP_SECONDS),
            (signal.SIGKILL, HARD_STOP_SECONDS),
        ):
            self._process.send_signal(number)
            try:
                self._process.wait(patience)
            except subprocess.TimeoutExpired:
                logger.warning(
                    "PostgreSQL did not end in time", extra={"signal": number.name, "seconds": patience}
                )
            else:
                return

    async def _restart(self) -> None:
        """Restart the server; a failed attempt is logged, and the caller tries again.

        Remaining processes and files of the dead server can make a start fail.
        """
        self._process = self._started()
        deadline = time.monotonic() + self._config.start_seconds
        try:
            while not self._is_ready(deadline):  # noqa: ASYNC110  # a file says it
                await asyncio.sleep(POLL_SECONDS)
        except PostgresError as error:
            logger.warning("PostgreSQL did not start", extra={"reason": str(error)})
            self.stop()

    def _started(self) -> subprocess.Popen[bytes]:
        with self._layout.start_log.open("wb") as output:
            return self._programs.start("postgres", "-D", self._data, *self._options, output=output)

    def _is_ready(self, deadline: float) -> bool:
        if pid_file.says_ready(self._data, self._process.pid):
            return True
        code = self._process.poll()
        if code is not None:
            raise PostgresError(
                f"PostgreSQL in {self._data} ended with {code} at its start: {_log(self._layout)}"
            )
        if time.monotonic() > deadline:
            raise PostgresError(
                f"PostgreSQL in {self._data} was not ready within {self._config.start_seconds:g} s "
                f"(database.start_seconds): {_log(self._layout)}"
            )
        return False


def _log(layout: Layout) -> str:
    """Return the end of the newest log."""
    files = [layout.start_log, *layout.logs.glob("*.log")]
    newest = max(files, key=lambda file: file.lstat().st_mtime_ns)
    # The server's account could have linked a file here that only root may read.
    descriptor = os.open(newest, os.O_RDONLY | os.O_NOFOLLOW)
    with os.fdopen(descriptor, "rb") as log:
        log.seek(max(os.fstat(descriptor).st_size - TAIL_BYTES, 0))
        return last_lines(log.read(TAIL_BYTES).decode(errors="replace"))
