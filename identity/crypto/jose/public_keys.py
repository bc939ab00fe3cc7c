"""Public keys of other parties: single JWKs and JWK Sets; only keys of supported types are accepted."""

from collections.abc import Collection, Sequence

import msgspec
from joserfc.errors import JoseError
from joserfc.jwk import ECKey, Key, OKPKey, RSAKey

from server.platform.json_members import expect_unique_members

_KINDS: dict[str, type[RSAKey] | type[ECKey] | type[OKPKey]] = {"RSA": RSAKey, "EC": ECKey, "OKP": OKPKey}

# Curves of ES256 and EdDSA: RFC 7518 §3.4, RFC 8037 §3.1.
_CURVES = frozenset({"P-256", "Ed25519"})

# Curves of ECDH-ES: RFC 7518 §4.6, RFC 8037 §3.2.
_ENCRYPTION_CURVES = frozenset({"P-256", "P-384", "P-521", "X25519"})

_MAX_KEYS = 20
_MIN_RSA_BITS = 2048
_MAX_RSA_BITS = 8192
_BITS_PER_CHARACTER = 6


class RefusedJwk(ValueError):
    """The JWK is not a supported public key; the message does not repeat it."""


def public_key(jwk: dict[str, object]) -> Key:
    """Return a public key for signatures; raises RefusedJwk for a private, symmetric, weak or malformed one."""
    return _public_key(jwk, _CURVES)


def _public_key(jwk: dict[str, object], curves: Collection[str]) -> Key:
    kind = _KINDS.get(str(jwk.get("kty")))
    members: dict[str, str | list[str]] = {
        name: value for name, value in jwk.items() if isinstance(value, str)
    }
    if kind is None:
        raise RefusedJwk("expected an RSA, EC or OKP key")
    if not {"d", "p", "q", "dp", "dq", "qi", "oth", "k"}.isdisjoint(jwk):
        raise RefusedJwk("expected a public key")
    if kind is not RSAKey and members.get("crv") not in curves:
        raise RefusedJwk(f"expected one of the curves {', '.join(sorted(curves))}")
    if (
        kind is RSAKey
        and not _MIN_RSA_BITS <= len(members.get("n", "")) * _BITS_PER_CHARACTER <= _MAX_RSA_BITS
    ):
        raise RefusedJwk("expected an RSA key of 2048 bits at least")
    try:
        return kind.import_key(members)
    except (JoseError, ValueError, LookupError) as error:
        raise RefusedJwk("expected a public key") from error


def expect_key_set(document: str) -> None:
    """Expect a JWK Set of supported keys only; raises RefusedJwk."""
    try:
        found = msgspec.json.decode(document, type=_JwkSet).keys
        expect_unique_members(document.encode())
    except (msgspec.DecodeError, RecursionError, ValueError) as error:
        raise RefusedJwk("expected a JWK Set") from error
    if not 0 < len(found) <= _MAX_KEYS:
        raise RefusedJwk(f"expected 1 to {_MAX_KEYS} keys")
    for jwk in found:
        _public_key(jwk, _curves_of(jwk))


def parse_key_set(document: str) -> tuple[Key, ...]:
    """Return the supported keys of a JWK Set; others are ignored as RFC 7517 §5 requires."""
    try:
        found = msgspec.json.decode(document, type=_JwkSet).keys if document else []
        expect_unique_members(document.encode() or b"{}")
    except (msgspec.DecodeError, RecursionError, ValueError):
        return ()
    return tuple(key for key in map(_key_or_none, found[:_MAX_KEYS]) if key is not None)


def named(keys: Sequence[Key], kid: str) -> Sequence[Key]:
    """Return the key for signatures with this `kid`, or all of them when it is empty."""
    return [key for key in keys if key.get("use") != "enc" and (not kid or key.kid in (None, kid))]


def _curves_of(jwk: dict[str, object]) -> Collection[str]:
    return _ENCRYPTION_CURVES if jwk.get("use") == "enc" else _CURVES


def _key_or_none(jwk: dict[str, object]) -> Key | None:
    try:
        return _public_key(jwk, _curves_of(jwk))
    except RefusedJwk:
        return None


class _JwkSet(msgspec.Struct):
    keys: list[dict[str, object]]
