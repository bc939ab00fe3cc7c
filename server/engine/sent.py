"""Commands from one partition to another, committed together with their cause."""

from typing import Final

from server.engine.commands import Command
from server.engine.events import Event

EVERY_OTHER: Final = 0
"""In place of the number of a partition: all but the one that sends."""


class CommandSent(Event, frozen=True):
    """A command for the partition with this number."""

    partition_id: int
    command: Command
