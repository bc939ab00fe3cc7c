"""CPU time of PostgreSQL's processes on this machine, as proc(5) has it."""

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Process:
    """In seconds: its own, and that of its children that are gone."""

    parent: int
    own: float
    gone: float


def process(number: int) -> Process:
    fields = Path(f"/proc/{number}/stat").read_text("ascii").rpartition(")")[2].split()
    own, system, gone, gone_system = (int(ticks) / os.sysconf("SC_CLK_TCK") for ticks in fields[11:15])
    return Process(int(fields[1]), own + system, gone + gone_system)


def server_seconds(connected: int) -> float:
    """Of the whole server that the process of a connection belongs to."""
    number = process(connected).parent
    server = process(number)
    return server.own + server.gone + sum(child.own for child in _all() if child.parent == number)


def children_seconds() -> float:
    """Of all processes that this one has begun, at any depth, as far as they run."""
    running = dict(_numbered())
    below = {os.getpid()}
    for _ in running:
        more = {number for number, each in running.items() if each.parent in below} - below
        if not more:
            break
        below |= more
    return sum(running[number].own + running[number].gone for number in below if number != os.getpid())


def _all() -> Iterator[Process]:
    return (each for _, each in _numbered())


def _numbered() -> Iterator[tuple[int, Process]]:
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            with suppress(FileNotFoundError, ProcessLookupError):
                yield int(entry.name), process(int(entry.name))
