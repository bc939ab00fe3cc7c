"""Scopes of a token: RFC 6749 §3.3."""

from identity.errors import InvalidScope


def parse(scope: str) -> tuple[str, ...]:
    """Split at spaces; the order is kept, a repetition is not."""
    return tuple(dict.fromkeys(filter(None, scope.split(" "))))


def narrow(asked: tuple[str, ...], widest: tuple[str, ...]) -> tuple[str, ...]:
    """Return what is granted: all when nothing in particular was asked for, never more than the widest."""
    if not asked:
        return widest
    if not set(asked) <= set(widest):
        raise InvalidScope("a scope is malformed, unknown or not granted to this client")
    return asked
