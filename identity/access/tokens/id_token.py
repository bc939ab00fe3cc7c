"""ID tokens: OpenID Connect Core 1.0 §2."""

import base64
import hashlib
from datetime import timedelta

import msgspec

from identity.access.tokens.access_token import AccessToken, Grantee, of_bounded_length
from identity.access.tokens.claims import PERSON_CLAIMS, ClaimRule, Document, person_claims, requested_claims
from identity.access.tokens.signatures import Signatures
from identity.crypto.jose.algorithms import SigningAlgorithm
from identity.crypto.jose.signing_key import SigningKey
from server.platform.clock import Clock

_HASHES = {"256": hashlib.sha256, "384": hashlib.sha384, "512": hashlib.sha512}


class IdTokens:
    def __init__(
        self, clock: Clock, signatures: Signatures, *, rules: tuple[ClaimRule, ...] = PERSON_CLAIMS
    ) -> None:
        self._clock = clock
        self._signatures = signatures
        self._rules = rules

    async def issue(
        self, grantee: Grantee, signing_key: SigningKey, *, beside: AccessToken | None, nonce: str
    ) -> str:
        """Sign an ID token, with the hash of the access token `beside`, if any; empty without a user.

        Raises InvalidRequest when its claims make it too long.
        """
        if grantee.user is None or grantee.token_set is None:
            return ""
        claims = {
            **grantee.custom.get(Document.ID_TOKEN, {}),
            **self._person(grantee),
            **self._registered(grantee, beside.lifetime if beside else grantee.client.access_token_lifetime),
        }
        if beside is not None:
            claims["at_hash"] = at_hash(beside.token, signing_key.algorithm)
        if nonce:
            claims["nonce"] = nonce
        return of_bounded_length(await self._signatures.sign(signing_key, msgspec.json.encode(claims)))

    def _person(self, grantee: Grantee) -> dict[str, object]:
        if grantee.user is None or grantee.token_set is None:
            return {}
        return person_claims(
            grantee.user,
            Document.ID_TOKEN,
            issuer=grantee.tenant.issuer,
            subject=grantee.subject,
            oauth_scopes=grantee.oauth_scopes,
            requested=requested_claims(grantee.token_set.claims, Document.ID_TOKEN),
            rules=self._rules,
        )

    def _registered(self, grantee: Grantee, lifetime: timedelta) -> dict[str, object]:
        issued_at = int(self._clock.now().timestamp())
        return {
            "iss": grantee.tenant.issuer,
            "sub": grantee.subject,
            "aud": grantee.client.client_id,
            "azp": grantee.client.client_id,
            "iat": issued_at,
            "nbf": issued_at,
            "exp": issued_at + int(lifetime.total_seconds()),
            "typ": "Id",
            **_authentication(grantee),
        }


def at_hash(access_token: str, algorithm: SigningAlgorithm) -> str:
    """Return the hash of the access token for the ID token: §3.1.3.6; Ed25519 uses SHA-512."""
    digest = _HASHES.get(algorithm.value[-3:], hashlib.sha512)(access_token.encode()).digest()
    return base64.urlsafe_b64encode(digest[: len(digest) // 2]).rstrip(b"=").decode()


def _authentication(grantee: Grantee) -> dict[str, object]:
    if grantee.token_set is None:
        return {}
    authentication = grantee.token_set.authentication
    claims = {
        "auth_time": int(authentication.at.timestamp()),
        "amr": authentication.amr,
        "acr": authentication.acr,
        "sid": grantee.sid,
        "did": grantee.token_set.device_id,
        "act": grantee.actor,
    }
    return {name: value for name, value in claims.items() if value}
