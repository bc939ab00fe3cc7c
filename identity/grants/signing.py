"""The tokens of an order, signed."""

from dataclasses import dataclass, field

from identity.grants.continuation import Order
from identity.jose.signing_key import SigningKey
from identity.tokens.access_token import AccessToken, AccessTokens, Grantee
from identity.tokens.families import Family
from identity.tokens.id_token import IdTokens
from identity.tokens.keys import KeyRing
from identity.vocabulary import Scope, TokenType


@dataclass(frozen=True, slots=True)
class SignedTokens:
    access_token: AccessToken
    token_type: TokenType
    id_token: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class SigningKeys:
    """Those of the algorithms that a client registered for."""

    access_token: SigningKey
    id_token: SigningKey


class Signing:
    def __init__(self, keys: KeyRing, access_tokens: AccessTokens, id_tokens: IdTokens) -> None:
        self._keys = keys
        self._access_tokens = access_tokens
        self._id_tokens = id_tokens

    async def keys(self, order: Order) -> SigningKeys:
        """Return the keys for an order; raises Unavailable while one is being made."""
        key_set = await self._keys.key_set(order.tenant.tenant_id)
        return SigningKeys(
            key_set.signing_key(order.client.access_token_signed_response_alg),
            key_set.signing_key(order.client.id_token_signed_response_alg),
        )

    def sign(self, order: Order, family: Family | None, *, keys: SigningKeys) -> SignedTokens:
        """Sign an access token, and an ID token for a person; raises InvalidRequest when one would be too long."""
        grantee = Grantee(
            tenant=order.tenant,
            client=order.client,
            subject=order.authorization.subject,
            oauth_scopes=order.oauth_scopes,
            audiences=(order.audience, *order.resources),
            user=order.user,
            token_set=family.token_set if family else None,
            dpop_jkt=order.dpop_jkt,
        )
        access_token = self._access_tokens.issue(grantee, keys.access_token)
        id_token = ""
        if Scope.OPENID in order.oauth_scopes:
            nonce = order.authorization.nonce
            id_token = self._id_tokens.issue(grantee, keys.id_token, beside=access_token, nonce=nonce)
        return SignedTokens(access_token, grantee.token_type, id_token)
