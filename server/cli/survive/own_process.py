"""A server in bundled mode with its own process and data directory, which can be killed."""

import asyncio
import os
import secrets
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from pathlib import Path

from server.cli.failures import give_up
from server.cli.options import ClientOptions
from server.platform.addresses import Addresses

CLIENT_ID = "survive"
SECRET_OCTETS = 32
READY_SECONDS = 60.0
END_SECONDS = 20.0


class OwnProcess:
    """A server process; `start` and `kill` may alternate, and the data remain."""

    def __init__(self, data_directory: Path) -> None:
        self._secret = secrets.token_hex(SECRET_OCTETS)
        self._environment = {
            **os.environ,
            "GNOMON_BOOTSTRAP__CLIENT_ID": CLIENT_ID,
            "GNOMON_BOOTSTRAP__CLIENT_SECRET": self._secret,
            "GNOMON_DATA_DIR": str(data_directory),
            "GNOMON_EDGE__PORT": "0",
            "GNOMON_GRPC__PORT": "0",
        }
        self._process: Process | None = None

    async def start(self) -> ClientOptions:
        """Start the server, and return options to connect to it."""
        arguments = (sys.executable, "-m", "server", "serve", "--mode", "bundled")
        self._process = await asyncio.create_subprocess_exec(
            *arguments, env=self._environment, stdout=PIPE, stderr=DEVNULL
        )
        try:
            async with asyncio.timeout(READY_SECONDS):
                address = await _grpc_address(self._process)
        except TimeoutError:
            give_up(f"the server was not ready within {READY_SECONDS:g} s")
        return ClientOptions(address=address, client_id=CLIENT_ID, client_secret=self._secret)

    async def kill(self) -> None:
        """Kill the server with SIGKILL, like a power failure."""
        if self._process is not None:
            self._process.kill()
            await self._process.wait()

    async def stop(self) -> None:
        if self._process is not None and self._process.returncode is None:
            self._process.terminate()
            async with asyncio.timeout(END_SECONDS):
                await self._process.wait()


async def _grpc_address(process: Process) -> str:
    assert process.stdout is not None  # noqa: S101  # it is a pipe
    async for line in process.stdout:
        addresses = Addresses.read(line.decode())
        if addresses is not None:
            return addresses.grpc
    return give_up(f"the server ended with {await process.wait()} at its start")
