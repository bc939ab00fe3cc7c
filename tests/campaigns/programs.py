"""Processes of a deployment that a campaign may kill and pause."""

import asyncio
import os
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Self

from tests.server_process import DEMO_ACCESS, Addresses

ROOT = Path(__file__).resolve().parents[2]
READY_SECONDS = 240.0
END_SECONDS = 20.0
LOG_CHARACTERS = 2_000


class NotStarted(Exception):
    """The program ended before it was ready; the message is the end of its log."""


class Program:
    """`gnomon serve`; what it logs goes to a file."""

    def __init__(self, process: Process, addresses: Addresses) -> None:
        self._process = process
        self.addresses = addresses

    @property
    def pid(self) -> int:
        return self._process.pid

    @classmethod
    async def started(
        cls,
        mode: str,
        settings: Mapping[str, str],
        log: Path,
        file: Path | None = None,
        *,
        root: Path = ROOT,
    ) -> Self:
        """Ready; `file` is its configuration, `root` has the sources that it runs. Raises NotStarted."""
        options = ("--config", str(file)) if file is not None else ()
        with log.open("ab") as output:
            process = await asyncio.create_subprocess_exec(
                *(*_program(root), "serve", "--mode", mode, *options),
                cwd=root,
                env={**os.environ, **DEMO_ACCESS, **settings, **sources(root)},
                stdout=PIPE,
                stderr=output,
            )
        assert process.stdout is not None
        try:
            async with asyncio.timeout(READY_SECONDS):
                line = await process.stdout.readline()
            return cls(process, _addresses(line.decode(), log))
        except BaseException:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()
            raise

    def send(self, number: signal.Signals) -> None:
        self._process.send_signal(number)

    async def kill(self) -> None:
        with suppress(ProcessLookupError):
            self._process.kill()
        await self._process.wait()

    async def stop(self) -> None:
        """Tell it to end, and see that it does."""
        with suppress(ProcessLookupError):
            self._process.send_signal(signal.SIGCONT)
            self._process.terminate()
        try:
            async with asyncio.timeout(END_SECONDS):
                await self._process.wait()
        except TimeoutError:
            await self.kill()
            raise


def _addresses(line: str, log: Path) -> Addresses:
    """Raises NotStarted for a line that never came."""
    if not line:
        raise NotStarted(log.read_text(errors="replace")[-LOG_CHARACTERS:])
    return Addresses.read(line)


def _program(root: Path) -> Sequence[str]:
    """The command of the program; an earlier one must not see today's contract, which is installed."""
    if root == ROOT:
        return sys.executable, "-m", "server"
    installed = {str(ROOT), str(ROOT / "gen"), str(ROOT / "client")}
    code = (
        f"import runpy, sys; sys.path = [path for path in sys.path if path not in {installed!r}]; "
        "runpy.run_module('server', run_name='__main__', alter_sys=True)"
    )
    return sys.executable, "-c", code


def sources(root: Path) -> Mapping[str, str]:
    """The environment of a program that runs the sources in a directory, whatever is installed."""
    return {"PYTHONPATH": os.pathsep.join((str(root), str(root / "gen")))}


def is_running(pid: int) -> bool:
    """Whether there is such a process, other than one that has ended and waits for its parent to look."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def children_of(pid: int, word: str = "") -> Sequence[int]:
    """The processes that one has started, those that have this word in their command when it is given."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            # The field before it, the command in parentheses, may hold blanks.
            parent = int((place / "stat").read_text().rpartition(")")[2].split()[1])
            command = (place / "cmdline").read_text().split("\0")
            if parent == pid and (not word or word in command):
                found.append(int(place.name))
    return sorted(found)
