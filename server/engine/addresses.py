"""The partition that a command goes to, as far as the command itself says so."""

from dataclasses import dataclass

from server.engine.keys import Key


@dataclass(frozen=True, slots=True)
class OwnersOf:
    """The one partition that made these keys, with the process instances that have what they name."""

    keys: tuple[Key, ...]


@dataclass(frozen=True, slots=True)
class Hashed:
    """The same partition for the same texts."""

    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class HomeOf:
    """The home partition of a correlation key of a tenant."""

    tenant_id: str
    correlation_key: str


@dataclass(frozen=True, slots=True)
class Anywhere:
    """Any partition: the command begins something new."""


@dataclass(frozen=True, slots=True)
class Here:
    """The partition that the command is given to: it is a partition's own, or is sent to each."""


@dataclass(frozen=True, slots=True)
class First:
    """The first partition, which counts the versions of what is deployed."""


Address = OwnersOf | Hashed | HomeOf | Anywhere | Here | First

ANYWHERE = Anywhere()
HERE = Here()
FIRST = First()
