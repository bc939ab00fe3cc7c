"""A bundled deployment whose parts can be killed."""

import os
import signal
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from urllib.parse import quote, urlencode

from server.bundle import free_port
from tests.campaigns.programs import Program, children_of
from tests.postgres import open_directory

HOST = "127.0.0.1"
PARTITIONS = (1, 2)


class Bundled:
    """One program with a database and a process for each partition; its addresses stay the same."""

    def __init__(self, directory: Path, log: Path) -> None:
        self._directory = directory
        self._log = log
        self._settings = {
            "GNOMON_DATA_DIR": str(directory),
            "GNOMON_EDGE__PORT": str(free_port(HOST)),
            "GNOMON_GRPC__PORT": str(free_port(HOST)),
            "GNOMON_CLUSTER__PARTITIONS": str(len(PARTITIONS)),
        }
        self.http = f"http://{HOST}:{self._settings['GNOMON_EDGE__PORT']}"
        self.grpc = f"{HOST}:{self._settings['GNOMON_GRPC__PORT']}"
        self._program: Program | None = None

    @property
    def dsn(self) -> str:
        root = self._directory / "postgres"
        password = quote((root / "password").read_text().strip(), safe="")
        return f"postgresql://gnomon:{password}@/gnomon?{urlencode({'host': root / 'socket'})}"

    async def start(self) -> None:
        self._program = await Program.started("bundled", self._settings, self._log)

    async def stop(self) -> None:
        if self._program is not None:
            await self._program.stop()

    def engines(self) -> Sequence[int]:
        return children_of(self._running.pid, "--owned")

    def postgres(self) -> Sequence[int]:
        """The server's first process; the others end when it is gone."""
        return children_of(self._running.pid, "-D")

    async def kill_program(self) -> None:
        """What it has started ends by itself."""
        await self._running.kill()

    @property
    def _running(self) -> Program:
        assert self._program is not None
        return self._program


@asynccontextmanager
async def bundled(logs: Path) -> AsyncIterator[Bundled]:
    with open_directory() as directory:
        deployment = Bundled(directory, logs / "gnomon.log")
        await deployment.start()
        try:
            yield deployment
        finally:
            await deployment.stop()


def kill(pids: Sequence[int]) -> None:
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
