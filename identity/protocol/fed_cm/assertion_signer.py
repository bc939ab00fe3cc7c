"""Signs ID tokens for FedCM."""

from identity.access.tokens.access_token import Grantee
from identity.access.tokens.custom_claims import Asked, CustomClaims
from identity.access.tokens.id_token import IdTokens
from identity.access.tokens.keys import KeyRing
from identity.access.tokens.token_set import TokenSet
from identity.directory.subjects import Subjects
from identity.protocol.fed_cm.assertions import Statement
from server.platform.clock import Clock


class AssertionSigner:
    def __init__(
        self,
        keys: KeyRing,
        id_tokens: IdTokens,
        *,
        custom: CustomClaims,
        subjects: Subjects,
        clock: Clock,
    ) -> None:
        self._keys = keys
        self._id_tokens = id_tokens
        self._custom = custom
        self._subjects = subjects
        self._clock = clock

    async def sign(self, statement: Statement) -> str:
        """Raises InvalidRequest when the token would be too long, Unavailable while a key is being made."""
        client, user = statement.client, statement.person.user
        asked = Asked(
            tenant=statement.tenant,
            client=client,
            user=user,
            oauth_scopes=statement.terms.oauth_scopes,
            parameter=statement.claims,
        )
        grantee = Grantee(
            tenant=statement.tenant,
            client=client,
            subject=self._subjects.of(statement.tenant, client, user.user_id),
            oauth_scopes=statement.terms.oauth_scopes,
            user=user,
            token_set=self._token_set(statement),
            custom=await self._custom.of(asked),
            sid=self._subjects.session_of(statement.tenant, client, statement.person.authentication.sid),
        )
        key_set = await self._keys.key_set(statement.tenant.tenant_id)
        signing_key = key_set.signing_key(client.id_token_signed_response_alg)
        return await self._id_tokens.issue(grantee, signing_key, beside=None, nonce=statement.nonce)

    def _token_set(self, statement: Statement) -> TokenSet:
        """Describe the grant. It is not stored, since it has no token that could be revoked."""
        client, authentication = statement.client, statement.person.authentication
        return TokenSet(
            tenant_id=statement.tenant.tenant_id,
            id="",
            client_id=client.client_id,
            authentication=authentication,
            oauth_scopes=statement.terms.oauth_scopes,
            user_id=authentication.user_id,
            ends_at=self._clock.now() + client.access_token_lifetime,
            sid=authentication.sid,
            claims=statement.claims,
        )
