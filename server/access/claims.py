"""Claims of an access token and their validation (RFC 7519 §4.1, RFC 8725)."""

import re
from datetime import datetime

import msgspec

from server.platform.errors import Unauthenticated

_SLUG = re.compile(r"[a-z0-9-]{1,32}")


class Confirmation(msgspec.Struct, frozen=True):
    """Thumbprints of the certificate and key that a token is bound to, empty if none (RFC 8705 §3.1, RFC 9449 §6.1)."""

    certificate: str = msgspec.field(default="", name="x5t#S256")
    jkt: str = ""


class AccessTokenClaims(msgspec.Struct, frozen=True):
    """The claims that the engine reads; a token that lacks one, or has another type for it, is refused.

    `narrowed` is true if a client requested certain scopes of a token in its own name.
    """

    iss: str
    sub: str
    aud: str | tuple[str, ...]
    exp: int
    nbf: int
    typ: str
    scope: str = ""
    tid: str = ""
    narrowed: bool = False
    cnf: Confirmation = Confirmation()


def decode(payload: bytes) -> AccessTokenClaims:
    try:
        return msgspec.json.decode(payload, type=AccessTokenClaims)
    except msgspec.DecodeError as error:
        raise Unauthenticated("the token lacks a claim of an access token") from error


def tenant_of(claims: AccessTokenClaims, issuer: str) -> str:
    """Return the tenant whose keys must have signed the token, empty for the default tenant.

    For a tenant with its own host, it is the tenant that the token claims to be bound to; the directory must
    confirm that the issuer belongs to it. Raises Unauthenticated for an issuer outside this deployment.
    """
    if claims.iss == issuer:
        return ""
    # The directory would take an empty issuer for the default tenant's.
    if not claims.iss:
        raise Unauthenticated("the token names no issuer")
    is_below = claims.iss.startswith(issuer)
    slug = claims.iss.removeprefix(issuer).removesuffix("/") if is_below else claims.tid
    if (is_below and claims.iss != f"{issuer}{slug}/") or _SLUG.fullmatch(slug) is None:
        raise Unauthenticated("the token comes from another issuer")
    return slug


def check(
    claims: AccessTokenClaims, *, typ: str, tenant_id: str, now: datetime, leeway_seconds: float
) -> None:
    """Raise Unauthenticated for a token of another type or outside its validity period."""
    if claims.typ != typ:
        raise Unauthenticated("the token is not an access token")
    if not claims.aud or not claims.sub:
        raise Unauthenticated("the token lacks an audience or a subject")
    # A tenant's provider may only issue tokens for its own tenant.
    if tenant_id and claims.tid != tenant_id:
        raise Unauthenticated("the token's tenant is not its issuer's")
    seconds = now.timestamp()
    if seconds >= claims.exp + leeway_seconds:
        raise Unauthenticated("the token is expired")
    if seconds < claims.nbf - leeway_seconds:
        raise Unauthenticated("the token is not valid yet")
