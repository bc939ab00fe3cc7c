"""Signs the tokens of a validated token request."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from identity.access.tokens.access_token import AccessToken, AccessTokens, Grantee
from identity.access.tokens.actor import Actor
from identity.access.tokens.claims import Document
from identity.access.tokens.custom_claims import Asked, Claims, CustomClaims
from identity.access.tokens.encryptions import ResponseEncryptions
from identity.access.tokens.families import Family
from identity.access.tokens.id_token import IdTokens
from identity.access.tokens.keys import KeyRing
from identity.crypto.jose.encryption import Encryption
from identity.crypto.jose.signing_key import SigningKey
from identity.directory.subjects import Subjects
from identity.foundation.vocabulary import Scope, TokenType
from identity.protocol.grants.continuation import Order


@dataclass(frozen=True, slots=True)
class SignedTokens:
    access_token: AccessToken
    token_type: TokenType
    id_token: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class SigningMaterial:
    """Signing keys of the algorithms that the client registered, the encryption of its ID tokens, and custom claims."""

    access_token_key: SigningKey
    id_token_key: SigningKey
    id_token_encryption: Encryption | None
    custom: Mapping[Document, Claims]


class TokenSigner:
    def __init__(
        self,
        keys: KeyRing,
        access_tokens: AccessTokens,
        id_tokens: IdTokens,
        *,
        encryptions: ResponseEncryptions,
        custom: CustomClaims,
        subjects: Subjects,
    ) -> None:
        self._keys = keys
        self._access_tokens = access_tokens
        self._id_tokens = id_tokens
        self._encryptions = encryptions
        self._custom = custom
        self._subjects = subjects

    async def material(self, order: Order) -> SigningMaterial:
        """Load keys and claims; raises Unavailable while a key is being made, or without a key of the client."""
        key_set = await self._keys.key_set(order.tenant.tenant_id)
        has_id_token = order.user is not None and Scope.OPENID in order.oauth_scopes
        asked = Asked(
            tenant=order.tenant,
            client=order.client,
            user=order.user,
            oauth_scopes=order.oauth_scopes,
            parameter=order.authorization.claims,
        )
        return SigningMaterial(
            key_set.signing_key(order.client.access_token_signed_response_alg),
            key_set.signing_key(order.client.id_token_signed_response_alg),
            await self._encryptions.of_id_token(order.client) if has_id_token else None,
            await self._custom.of(asked),
        )

    async def sign(self, order: Order, family: Family | None, *, material: SigningMaterial) -> SignedTokens:
        """Sign an access token, and an ID token for a user; raises InvalidRequest when one would be too long."""
        grantee = Grantee(
            tenant=order.tenant,
            client=order.client,
            subject=self._subject(order),
            oauth_scopes=order.oauth_scopes,
            audiences=(order.audience, *order.resources),
            user=order.user,
            token_set=family.token_set if family else None,
            dpop_jkt=order.dpop_jkt,
            certificate=order.certificate,
            custom=material.custom,
            is_narrowed=order.is_narrowed,
            actor=order.authorization.actor or self._impersonator(order),
            ends_at=order.authorization.ends_at,
            sid=self._sid(order),
            authorization_details=order.authorization_details,
        )
        access_token = await self._access_tokens.issue(grantee, material.access_token_key)
        id_token = ""
        if Scope.OPENID in order.oauth_scopes:
            nonce = order.authorization.nonce
            id_token = await self._id_tokens.issue(
                grantee, material.id_token_key, beside=access_token, nonce=nonce
            )
            if id_token and material.id_token_encryption is not None:
                id_token = material.id_token_encryption.of_jwt(id_token)
        return SignedTokens(access_token, grantee.token_type, id_token)

    def _sid(self, order: Order) -> str:
        authentication = order.authorization.authentication
        sid = "" if authentication is None else authentication.sid
        return self._subjects.session_of(order.tenant, order.client, sid)

    def _impersonator(self, order: Order) -> Actor | None:
        """Return the support person who acts as the user, with the subject at the client."""
        authentication = order.authorization.authentication
        impersonator = None if authentication is None else authentication.impersonator
        if impersonator is None:
            return None
        return Actor(self._subjects.of(order.tenant, order.client, impersonator.user_id))

    def _subject(self, order: Order) -> str:
        if order.user is None:
            return order.authorization.subject
        return self._subjects.of(order.tenant, order.client, order.user.user_id)
