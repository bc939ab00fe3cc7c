"""Network addresses of a process, and the line on standard output that announces them to other programs."""

import re
from dataclasses import dataclass
from typing import Self

_READY_LINE = re.compile(r"ready http=(\S+) grpc=(\S+)")


@dataclass(frozen=True, slots=True)
class Addresses:
    """The addresses at which a process listens: `http` is a URL, `grpc` is host:port."""

    http: str
    grpc: str

    @classmethod
    def read(cls, line: str) -> Self | None:
        """Read the ready line; None for another line."""
        found = _READY_LINE.fullmatch(line.rstrip())
        return cls(*found.groups()) if found else None

    def __str__(self) -> str:
        return f"ready http={self.http} grpc={self.grpc}"
