"""Scopes and resources of a token: RFC 6749 §3.3, RFC 8707 §2."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from identity.directory.client import Client
from identity.foundation.absolute_uris import absolute_uri
from identity.foundation.errors import InvalidScope, InvalidTarget
from identity.foundation.vocabulary import Permission

_PERMISSIONS = tuple(Permission)
_NAMES_OF_PERMISSIONS = frozenset(Permission)


@dataclass(frozen=True, slots=True)
class Extent:
    """Bounds of scopes or resources: `given` is the default, `widest` the maximum, `added` is always added.

    With `widest` None the extent is fixed, and the requested values are ignored.
    """

    given: tuple[str, ...] = ()
    widest: tuple[str, ...] | None = None
    added: tuple[str, ...] = ()

    def admits(self, asked: tuple[str, ...]) -> bool:
        return self.widest is None or set(asked) <= set(self.widest)

    def of(self, asked: tuple[str, ...]) -> tuple[str, ...]:
        """Return the granted values for admitted requested ones."""
        return _once((*asked, *self.added)) if asked and self.widest is not None else self.given


def extent_of(client: Client, *, without_defaults: tuple[str, ...]) -> Extent:
    """Return the scope bounds of a client; `without_defaults` applies to a client without default scopes.

    Default scopes are added to the requested ones. Permissions are not added: a request for some of them narrows the
    token to these.
    """
    added = tuple(scope for scope in client.default_scopes if scope not in _NAMES_OF_PERMISSIONS)
    return Extent(client.default_scopes or without_defaults, client.oauth_scopes, added)


def own_extent_of(client: Client, permissions: Collection[Permission]) -> Extent:
    """Return the scope bounds of a client in its own name; `permissions` are all permissions it has now.

    Permissions from roles and groups need no scope: the client may request them, and gets all of them if it requests
    nothing. The same applies to the client's own permissions, unless its default scopes select some of them.
    """
    extent = extent_of(client, without_defaults=client.oauth_scopes)
    labelled = tuple(
        permission
        for permission in _PERMISSIONS
        if permission in permissions and permission not in client.permissions
    )
    own = client.permissions if _NAMES_OF_PERMISSIONS.isdisjoint(extent.given) else ()
    return Extent(
        _once((*extent.given, *own, *labelled)), _once((*client.oauth_scopes, *labelled)), extent.added
    )


def parse(scope: str) -> tuple[str, ...]:
    """Split at spaces; keeps the order and drops repetitions."""
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
