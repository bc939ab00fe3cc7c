"""The authorization code grant: RFC 6749 §4.1.3, RFC 7636 §4.6."""

import base64
import hashlib
import hmac
import re
from collections.abc import Awaitable, Callable
from dataclasses import replace

from identity.access.tokens.token_sets import TokenSets
from identity.authentication.authorization.code import AUTHORIZATION_CODES, AuthorizationCode
from identity.directory.client import Client
from identity.directory.oauth_scopes import Extent
from identity.directory.secrets import SecretHasher
from identity.foundation.errors import InvalidGrant, InvalidRequest
from identity.foundation.tenants import Tenant
from identity.foundation.vocabulary import GrantType
from identity.protocol.grants.grant import Authorization, TokenRequest
from server.platform.clock import Clock
from server.platform.records import Changed, RecordStore

_VERIFIER = re.compile(r"[A-Za-z0-9._~-]{43,128}")


class AuthorizationCodeGrant:
    """A code is valid once. A second use revokes the tokens of the first: RFC 6749 §4.1.2."""

    grant_type = GrantType.AUTHORIZATION_CODE

    def __init__(
        self,
        records: RecordStore,
        secrets: SecretHasher,
        *,
        sets: TokenSets,
        clock: Clock,
        report_replay: Callable[[Tenant, AuthorizationCode], Awaitable[None]],
    ) -> None:
        self._codes = records.of(AUTHORIZATION_CODES)
        self._secrets = secrets
        self._sets = sets
        self._clock = clock
        self._report_replay = report_replay

    async def authorize(self, request: TokenRequest, client: Client) -> Authorization:
        if not request.code or not request.redirect_uri:
            raise InvalidRequest("code and redirect_uri are needed")
        code = await self._find(request, client)
        if code.token_set_id:
            await self._sets.remove(request.tenant, code.token_set_id)
            await self._report_replay(request.tenant, code)
            raise _unknown()
        self._check(code, request, client)

        async def redeem(token_set_id: str) -> None:
            await self._redeem(request.tenant, code, token_set_id)

        return Authorization(
            subject=code.authentication.user_id,
            oauth_scopes=Extent(code.oauth_scopes),
            resources=Extent(code.resources, code.resources),
            authorization_details=Extent(code.authorization_details, code.authorization_details),
            authentication=code.authentication,
            nonce=code.nonce,
            claims=code.claims,
            dpop_jkt=code.dpop_jkt,
            redeem=redeem,
        )

    async def _find(self, request: TokenRequest, client: Client) -> AuthorizationCode:
        code_id = self._secrets.hash(request.code).hex()
        code = await self._codes.get(request.tenant.tenant_id, code_id)
        if code is None or code.client_id != client.client_id:
            raise _unknown()
        return code

    def _check(self, code: AuthorizationCode, request: TokenRequest, client: Client) -> None:
        if self._clock.now().timestamp() >= code.redeemable_until:
            raise _unknown()
        if request.redirect_uri != code.redirect_uri:
            raise InvalidGrant("redirect_uri is not that of the authorization request")
        if client.is_public and not code.code_challenge:
            raise InvalidGrant("a public client needs a code challenge")
        if not _is_verified(request.code_verifier, code.code_challenge):
            raise InvalidGrant("the code verifier is missing, malformed, wrong or not expected")

    async def _redeem(self, tenant: Tenant, code: AuthorizationCode, token_set_id: str) -> None:
        """The token set is stored before the code is used up, so that a replay finds the set to revoke."""
        try:
            await self._codes.replace(replace(code, token_set_id=token_set_id))
        except Changed as error:
            used = await self._codes.get(tenant.tenant_id, code.id)
            if used is not None:
                await self._sets.remove(tenant, used.token_set_id)
                await self._report_replay(tenant, used)
            raise _unknown() from error


def _is_verified(verifier: str, challenge: str) -> bool:
    """S256 only; a verifier without a challenge is a downgrade attack: RFC 9700 §4.8.2."""
    if not challenge:
        return not verifier
    if _VERIFIER.fullmatch(verifier) is None:
        return False
    digest = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=")
    return hmac.compare_digest(digest, challenge.encode())


def _unknown() -> InvalidGrant:
    return InvalidGrant("the code is unknown, expired or used")
