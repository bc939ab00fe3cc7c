"""A bundled deployment whose parts can be killed."""

import os
import signal
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from urllib.parse import quote, urlencode

from tests.campaigns.ports import kept_port
from tests.campaigns.programs import Program, children_of, is_running
from tests.postgres import open_directory
from tests.waits import until

HOST = "localhost"
PARTITIONS = (1, 2)


class Bundled:
    """One program with a database and a process for each partition; its addresses stay the same."""

    def __init__(self, directory: Path, log: Path, configuration: str = "") -> None:
        self._directory = directory
        self._log = log
        self._settings = {
            "GNOMON_DATA_DIR": str(directory),
            "GNOMON_EDGE__PORT": str(kept_port(HOST)),
            "GNOMON_GRPC__PORT": str(kept_port(HOST)),
            "GNOMON_CLUSTER__PARTITIONS": str(len(PARTITIONS)),
        }
        self.http = f"http://{HOST}:{self._settings['GNOMON_EDGE__PORT']}"
        self.grpc = f"{HOST}:{self._settings['GNOMON_GRPC__PORT']}"
        self._program: Program | None = None
        self._file = directory / "gnomon.toml"
        self._file.write_text(configuration)

    @property
    def dsn(self) -> str:
        root = self._directory / "postgres"
        password = quote((root / "password").read_text().strip(), safe="")
        return f"postgresql://gnomon:{password}@/gnomon?{urlencode({'host': root / 'socket'})}"

    @property
    def pid(self) -> int:
        """Of the program, which started the others."""
        return self._running.pid

    async def start(self) -> None:
        self._program = await Program.started("bundled", self._settings, self._log, file=self._file)

    async def stop(self) -> None:
        if self._program is not None:
            await self._program.stop()

    def engines(self) -> Sequence[int]:
        return children_of(self._running.pid, "--owned")

    def postgres(self) -> Sequence[int]:
        """The server's first process; the others end when it is gone."""
        return children_of(self._running.pid, "-D")

    async def keep_running(self) -> None:
        """Start the program anew if it was killed."""
        if not is_running(self._running.pid):
            await self.start()

    async def kill_program(self) -> None:
        """Kill the process; its children end by themselves."""
        await self._running.kill()

    @property
    def _running(self) -> Program:
        assert self._program is not None
        return self._program


@asynccontextmanager
async def bundled(logs: Path, configuration: str = "") -> AsyncIterator[Bundled]:
    """With settings of its own, in TOML."""
    with open_directory() as directory:
        deployment = Bundled(directory, logs / "gnomon.log", configuration)
        await deployment.start()
        try:
            yield deployment
        finally:
            await deployment.stop()


async def killed(pids: Sequence[int]) -> None:
    """Kill these, and return when they and the processes that they had started are gone."""
    dying = {*pids, *(child for pid in pids for child in children_of(pid))}
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    await until(lambda: not any(map(is_running, dying)))
