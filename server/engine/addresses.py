"""Addresses of commands: which partition handles a command, as far as the command itself determines it."""

import msgspec

from server.engine.keys import Key


class OwnersOf(msgspec.Struct, frozen=True, gc=False):
    """The partition that created these keys; it loads the process instances that own them."""

    keys: tuple[Key, ...]


class Hashed(msgspec.Struct, frozen=True, gc=False):
    """A partition chosen by the hash of the texts, always the same for the same texts."""

    texts: tuple[str, ...]


class HomeOf(msgspec.Struct, frozen=True, gc=False):
    """The home partition of a correlation key of a tenant."""

    tenant_id: str
    correlation_key: str


class Anywhere(msgspec.Struct, frozen=True, gc=False):
    """Any partition: the command creates a new entity."""


class Here(msgspec.Struct, frozen=True, gc=False):
    """The receiving partition itself, for internal commands and for commands sent to every partition."""


class First(msgspec.Struct, frozen=True, gc=False):
    """The first partition, which numbers the versions of deployed resources for all partitions."""


Address = OwnersOf | Hashed | HomeOf | Anywhere | Here | First

ANYWHERE = Anywhere()
HERE = Here()
FIRST = First()
