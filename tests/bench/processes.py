"""CPU time and memory of processes on this machine, as proc(5) has them."""

import os
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
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
    return tree_seconds(children(os.getpid()))


def ended_seconds() -> float:
    """Of all processes that this one has begun and that have ended."""
    return process(os.getpid()).gone


def children(number: int) -> set[int]:
    """The numbers of the processes that a process has begun itself."""
    return {child for child, each in _numbered() if each.parent == number}


def tree_seconds(roots: AbstractSet[int]) -> float:
    """Of processes with all that they have begun, at any depth, as far as they run."""
    running = dict(_numbered())
    return sum(running[number].own + running[number].gone for number in _tree(roots, running))


def tree_mebibytes(roots: AbstractSet[int]) -> float:
    """Memory of processes with all that they have begun; what several share counts once, in parts."""
    return sum(map(_proportional_kibibytes, _tree(roots, dict(_numbered())))) / 1024


def _tree(roots: AbstractSet[int], running: Mapping[int, Process]) -> AbstractSet[int]:
    tree = set(roots & running.keys())
    for _ in running:
        more = {number for number, each in running.items() if each.parent in tree} - tree
        if not more:
            break
        tree |= more
    return tree


def _proportional_kibibytes(number: int) -> int:
    for line in Path(f"/proc/{number}/smaps_rollup").read_text("ascii").splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1])
    return 0


def _all() -> Iterator[Process]:
    return (each for _, each in _numbered())


def _numbered() -> Iterator[tuple[int, Process]]:
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            with suppress(FileNotFoundError, ProcessLookupError):
                yield int(entry.name), process(int(entry.name))
