"""The partition that a command goes to, as far as the command itself says so."""

import msgspec

from server.engine.keys import Key


class OwnersOf(msgspec.Struct, frozen=True, gc=False):
    """The one partition that made these keys, with the process instances that have what they name."""

    keys: tuple[Key, ...]


class Hashed(msgspec.Struct, frozen=True, gc=False):
    """The same partition for the same texts."""

    texts: tuple[str, ...]


class HomeOf(msgspec.Struct, frozen=True, gc=False):
    """The home partition of a correlation key of a tenant."""

    tenant_id: str
    correlation_key: str


class Anywhere(msgspec.Struct, frozen=True, gc=False):
    """Any partition: the command begins something new."""


class Here(msgspec.Struct, frozen=True, gc=False):
    """The partition that the command is given to: it is a partition's own, or is sent to each."""


class First(msgspec.Struct, frozen=True, gc=False):
    """The first partition, which counts the versions of what is deployed: what it does there concerns all partitions."""


Address = OwnersOf | Hashed | HomeOf | Anywhere | Here | First

ANYWHERE = Anywhere()
HERE = Here()
FIRST = First()
