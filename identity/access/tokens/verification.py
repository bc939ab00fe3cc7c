"""Verification of the provider's own tokens: RFC 7519 §7.2."""

from collections.abc import Mapping
from datetime import timedelta

from identity.access.tokens.access_token import MAX_TOKEN_LENGTH
from identity.access.tokens.keys import KeyRing
from identity.crypto.signed_jwt import MalformedJwt, parse
from identity.foundation.errors import InvalidToken
from identity.foundation.tenants import Tenant

# Tolerated difference of two clocks.
SKEW = timedelta(seconds=5)


async def verified(token: str, tenant: Tenant, keys: KeyRing) -> Mapping[str, object]:
    """Return the claims of a token that this provider signed; raises InvalidToken.

    The caller checks the expiry and the type of token.
    """
    if len(token) > MAX_TOKEN_LENGTH:
        raise InvalidToken("the token is not one of this provider")
    try:
        jwt = parse(token)
    except MalformedJwt as error:
        raise InvalidToken("the token is not one of this provider") from error
    key = (await keys.key_set(tenant.tenant_id)).find(str(jwt.header.get("kid", "")))
    # RFC 8725 §3.1: the key determines the algorithm, the token does not.
    if key is None or not jwt.is_signed_by(key.public_key, (key.algorithm.value,)):
        raise InvalidToken("the token is not one of this provider")
    if jwt.text("iss") != tenant.issuer:
        raise InvalidToken("the token is not one of this provider")
    return jwt.claims
