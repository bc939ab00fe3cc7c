"""Verification of ID tokens from upstream providers: OpenID Connect Core 1.0 §3.1.3.7, RFC 8725 §3."""

import base64
import hashlib
import hmac
from collections.abc import Mapping
from datetime import timedelta

from identity.crypto.signed_jwt import CLIENT_ALGORITHMS, MalformedJwt, SignedJwt, parse
from identity.delivery.http.published_keys import PublishedKeys
from identity.directory.provider import Provider
from identity.foundation.errors import InvalidToken
from server.platform.clock import Clock

_SKEW = timedelta(seconds=5)
_TYPES = frozenset({"", "jwt"})
_MAX_NAME_LENGTH = 255


class UpstreamIdTokens:
    def __init__(self, keys: PublishedKeys, clock: Clock) -> None:
        self._keys = keys
        self._clock = clock

    async def verified(
        self, provider: Provider, id_token: str, *, nonce: str, access_token: str
    ) -> Mapping[str, object]:
        """Return the claims; raises InvalidToken for a token of another issuer, audience, time or nonce."""
        try:
            jwt = parse(id_token)
        except MalformedJwt as error:
            raise _refused() from error
        holds = (
            _is_for_us(jwt, provider)
            and self._is_of_now(jwt)
            and hmac.compare_digest(jwt.text("nonce").encode(), nonce.encode())
            and _is_of(jwt, access_token)
        )
        if not holds or not await self._is_signed(jwt, provider):
            raise _refused()
        return jwt.claims

    def _is_of_now(self, jwt: SignedJwt) -> bool:
        issued, expires, now = jwt.time("iat"), jwt.time("exp"), self._clock.now()
        if issued is None or expires is None:
            return False
        return jwt.has_begun((now + _SKEW).timestamp()) and (now - _SKEW).timestamp() < expires

    async def _is_signed(self, jwt: SignedJwt, provider: Provider) -> bool:
        kid, typ = jwt.header.get("kid", ""), jwt.header.get("typ", "")
        # RFC 8725 §3.11: a logout token has the same keys and another type.
        if not isinstance(kid, str) or not isinstance(typ, str) or typ.lower() not in _TYPES:
            return False
        keys = await self._keys.at(provider.fields.jwks_endpoint, kid=kid)
        return any(jwt.is_signed_by(key, CLIENT_ALGORITHMS) for key in keys)


def is_name(value: object) -> bool:
    """Whether the value can identify a user, a session or a token: OpenID Connect Core 1.0 §2 `sub`."""
    return isinstance(value, str) and 0 < len(value) <= _MAX_NAME_LENGTH and "\0" not in value


def _is_for_us(jwt: SignedJwt, provider: Provider) -> bool:
    audience, client_id = jwt.claims.get("aud"), provider.fields.client_id
    audiences = audience if isinstance(audience, list) else [audience]
    party = jwt.claims.get("azp", client_id if len(audiences) == 1 else None)
    is_about_somebody = is_name(jwt.claims.get("sub"))
    is_ours = client_id in audiences and party == client_id
    return is_ours and is_about_somebody and jwt.text("iss") == provider.fields.issuer


def _is_of(jwt: SignedJwt, access_token: str) -> bool:
    """§3.1.3.8: `at_hash` may be missing, but must match the access token if present."""
    if "at_hash" not in jwt.claims:
        return True
    hashed = hashlib.sha512 if jwt.header.get("alg") == "EdDSA" else hashlib.sha256
    digest = hashed(access_token.encode()).digest()
    expected = base64.urlsafe_b64encode(digest[: len(digest) // 2]).rstrip(b"=")
    return hmac.compare_digest(expected, jwt.text("at_hash").encode())


def _refused() -> InvalidToken:
    return InvalidToken("the ID token is invalid")
