"""Commands between partitions, committed together with their cause."""

from typing import Final

from server.engine.commands import Command
from server.engine.events import Event

EVERY_OTHER: Final = 0
"""Stands for a partition number: every partition except the sender."""


class CommandSent(Event, frozen=True):
    """A command was sent to the partition with this number."""

    partition_id: int
    command: Command
