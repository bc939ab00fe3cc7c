"""Scopes and resources of a token: RFC 6749 §3.3, RFC 8707 §2."""

from dataclasses import dataclass

from identity.clients.absolute_uris import absolute_uri
from identity.errors import InvalidScope, InvalidTarget


@dataclass(frozen=True, slots=True)
class Extent:
    """What is given to whoever asks for nothing in particular, and the most that may be asked for.

    With `widest` None it was settled before, and what is asked for now does not matter.
    """

    given: tuple[str, ...] = ()
    widest: tuple[str, ...] | None = None

    def admits(self, asked: tuple[str, ...]) -> bool:
        return self.widest is None or set(asked) <= set(self.widest)

    def of(self, asked: tuple[str, ...]) -> tuple[str, ...]:
        """Return what is granted of what was asked for and is admitted."""
        return asked if asked and self.widest is not None else self.given


def parse(scope: str) -> tuple[str, ...]:
    """Split at spaces; the order is kept, a repetition is not."""
    return tuple(dict.fromkeys(filter(None, scope.split(" "))))


def granted_scopes(asked: tuple[str, ...], extent: Extent) -> tuple[str, ...]:
    """Return the scopes of a token; raises InvalidScope."""
    if not extent.admits(asked):
        raise InvalidScope("a scope is malformed, unknown or not granted to this client")
    return extent.of(asked)


def granted_resources(asked: tuple[str, ...], extent: Extent) -> tuple[str, ...]:
    """Return the resources of a token; raises InvalidTarget."""
    if not all(map(absolute_uri, asked)) or not extent.admits(asked):
        raise InvalidTarget("the resource is not granted to this client")
    return extent.of(asked)
