"""Scopes and resources of a token: RFC 6749 §3.3, RFC 8707 §2."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from identity.clients.absolute_uris import absolute_uri
from identity.clients.client import Client
from identity.errors import InvalidScope, InvalidTarget
from identity.vocabulary import Permission


@dataclass(frozen=True, slots=True)
class Extent:
    """What is given to whoever asks for nothing in particular, the most that may be asked for, and what is added to it.

    With `widest` None it was settled before, and what is asked for now does not matter.
    """

    given: tuple[str, ...] = ()
    widest: tuple[str, ...] | None = None
    added: tuple[str, ...] = ()

    def admits(self, asked: tuple[str, ...]) -> bool:
        return self.widest is None or set(asked) <= set(self.widest)

    def of(self, asked: tuple[str, ...]) -> tuple[str, ...]:
        """Return what is granted of what was asked for and is admitted."""
        return _once((*asked, *self.added)) if asked and self.widest is not None else self.given


def extent_of(client: Client, *, without_defaults: tuple[str, ...]) -> Extent:
    """Return how far the scopes of a client go; `without_defaults` is what it is given that has no defaults.

    Defaults are added to whatever it asks for. Permissions are not: by asking for some it narrows a token to them.
    """
    added = tuple(scope for scope in client.default_scopes if scope not in tuple(Permission))
    return Extent(client.default_scopes or without_defaults, client.oauth_scopes, added)


def own_extent_of(client: Client, permissions: Collection[Permission]) -> Extent:
    """Return how far the scopes of a client go in its own name; `permissions` are all that it has now.

    Its roles and groups need no scope: it may ask for what they give, and is given that when it asks for nothing. So it is
    its own permissions, unless its defaults choose among them.
    """
    extent = extent_of(client, without_defaults=client.oauth_scopes)
    labelled = tuple(
        permission
        for permission in Permission
        if permission in permissions and permission not in client.permissions
    )
    own = () if set(Permission).intersection(extent.given) else client.permissions
    return Extent(
        _once((*extent.given, *own, *labelled)), _once((*client.oauth_scopes, *labelled)), extent.added
    )


def parse(scope: str) -> tuple[str, ...]:
    """Split at spaces; the order is kept, a repetition is not."""
    return _once(filter(None, scope.split(" ")))


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


def _once(scopes: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(scopes))
