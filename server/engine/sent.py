"""What one partition sends to another, with the commit of what made it do so."""

from server.engine.commands import Command
from server.engine.events import Event


class CommandSent(Event, frozen=True):
    """A command for the partition with this number."""

    partition_id: int
    command: Command
