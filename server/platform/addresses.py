"""Addresses of a process that serves, and the line on standard output in which it gives them to other programs."""

import re
from dataclasses import dataclass
from typing import Self

_READY_LINE = re.compile(r"ready http=(\S+) grpc=(\S+)")


@dataclass(frozen=True, slots=True)
class Addresses:
    """Where the process listens: a URL, and host:port."""

    http: str
    grpc: str

    @classmethod
    def read(cls, line: str) -> Self | None:
        """Read the ready line; None for another line."""
        found = _READY_LINE.fullmatch(line.rstrip())
        return cls(*found.groups()) if found else None

    def __str__(self) -> str:
        return f"ready http={self.http} grpc={self.grpc}"
