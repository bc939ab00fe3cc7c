"""The public keys of clients: registered with them, or published where they say."""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

import msgspec
from joserfc.errors import JoseError
from joserfc.jwk import ECKey, Key, OKPKey, RSAKey

from identity.clients.client import Client
from server.platform.clock import Clock

_KINDS: dict[str, type[RSAKey] | type[ECKey] | type[OKPKey]] = {"RSA": RSAKey, "EC": ECKey, "OKP": OKPKey}

# Of ES256 and EdDSA: RFC 7518 §3.4, RFC 8037 §3.1.
_CURVES = frozenset({"P-256", "Ed25519"})

_MAX_KEYS = 20
_MIN_RSA_BITS = 2048
_MAX_RSA_BITS = 8192
_BITS_PER_CHARACTER = 6
_LIFETIME = timedelta(minutes=5)
_PAUSE = timedelta(seconds=30)
_MAX_CACHED = 256


class RefusedJwk(ValueError):
    """Not a public key that we take; never repeats it."""


class KeySetFetch(Protocol):
    """Reads a client's `jwks_uri`, bounded in time and size and never in networks of our own; empty when it cannot."""

    async def __call__(self, uri: str, /) -> str: ...


class ClientKeys:
    """Published keys are kept for a while, and asked for again when one is named that is not among them."""

    def __init__(self, fetch: KeySetFetch, clock: Clock) -> None:
        self._fetch = fetch
        self._clock = clock
        self._published: OrderedDict[str, _Published] = OrderedDict()

    async def of(self, client: Client, *, kid: str) -> Sequence[Key]:
        """Return the client's keys that a signature may be from: the named one, or all when none is named."""
        if client.jwks:
            return _named(parse_key_set(client.jwks), kid)
        if not client.jwks_uri:
            return ()
        published = self._published.get(client.jwks_uri)
        if published is None or self._is_stale(published, kid):
            published = await self._read(client.jwks_uri)
        return _named(published.keys, kid)

    def _is_stale(self, published: "_Published", kid: str) -> bool:
        age = self._clock.now() - published.read_at
        return age >= _LIFETIME or (age >= _PAUSE and not _named(published.keys, kid))

    async def _read(self, uri: str) -> "_Published":
        published = _Published(parse_key_set(await self._fetch(uri)), self._clock.now())
        self._published[uri] = published
        self._published.move_to_end(uri)
        if len(self._published) > _MAX_CACHED:
            self._published.popitem(last=False)
        return published


async def fetch_nothing(_uri: str, /) -> str:
    """For deployments that call nobody: clients register their keys."""
    return ""


def public_key(jwk: dict[str, object]) -> Key:
    """Return a public key; raises RefusedJwk for one that is private, symmetric, weak or none."""
    kind = _KINDS.get(str(jwk.get("kty")))
    members: dict[str, str | list[str]] = {
        name: value for name, value in jwk.items() if isinstance(value, str)
    }
    if kind is None:
        raise RefusedJwk("expected an RSA, EC or OKP key")
    if not {"d", "p", "q", "dp", "dq", "qi", "oth", "k"}.isdisjoint(jwk):
        raise RefusedJwk("expected a public key")
    if kind is not RSAKey and members.get("crv") not in _CURVES:
        raise RefusedJwk("expected a curve that signatures are taken from")
    if (
        kind is RSAKey
        and not _MIN_RSA_BITS <= len(members.get("n", "")) * _BITS_PER_CHARACTER <= _MAX_RSA_BITS
    ):
        raise RefusedJwk("expected an RSA key of 2048 bits at least")
    try:
        return kind.import_key(members)
    except (JoseError, ValueError, LookupError) as error:
        raise RefusedJwk("expected a public key") from error


def parse_key_set(document: str) -> tuple[Key, ...]:
    """Return the keys of a JWK Set that we take: RFC 7517 §5 tells to pass over the others."""
    try:
        found = msgspec.json.decode(document, type=_JwkSet).keys if document else []
    except (msgspec.DecodeError, RecursionError):
        return ()
    return tuple(key for key in map(_key_or_none, found[:_MAX_KEYS]) if key is not None)


def _key_or_none(jwk: dict[str, object]) -> Key | None:
    try:
        return public_key(jwk)
    except RefusedJwk:
        return None


def _named(keys: Sequence[Key], kid: str) -> Sequence[Key]:
    return [key for key in keys if not kid or key.kid in (None, kid)]


class _JwkSet(msgspec.Struct):
    keys: list[dict[str, object]]


@dataclass(frozen=True, slots=True)
class _Published:
    keys: tuple[Key, ...]
    read_at: datetime
