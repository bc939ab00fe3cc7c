"""The user whom a client names in a backchannel authentication request: CIBA Core 1.0 §7.1.

A client cannot find out by `login_hint` which addresses have accounts: the request for an unknown address waits and
expires like one that its user ignores. An ID token names a user whom the client already knows.
"""

from dataclasses import dataclass
from typing import Protocol

from identity.access.sessions.hints import Hint
from identity.authentication.confirmation import ConfirmationPolicy, is_unconfirmed
from identity.authentication.requests.login_hint import login_hint
from identity.authentication.requests.parameters import Parameters
from identity.directory.client import Client
from identity.directory.secrets import SecretHasher
from identity.directory.user import User
from identity.directory.users import Users
from identity.foundation.errors import InvalidRequest, InvalidToken, UnknownUserId
from identity.foundation.mail_address import email_key
from identity.foundation.tenants import Tenant
from server.platform.clock import Clock

_HINTS = ("login_hint", "id_token_hint", "login_hint_token")


class IdTokenHints(Protocol):
    async def read(self, token: str, tenant: Tenant, /) -> Hint: ...


@dataclass(frozen=True, slots=True)
class Hinted:
    """The user, or None for an unknown hint; `key` identifies the user, or the unknown hint."""

    user: User | None
    key: str


class UserHints:
    def __init__(
        self,
        users: Users,
        id_tokens: IdTokenHints,
        *,
        confirmation: ConfirmationPolicy,
        secrets: SecretHasher,
        clock: Clock,
    ) -> None:
        self._users = users
        self._id_tokens = id_tokens
        self._confirmation = confirmation
        self._secrets = secrets
        self._clock = clock

    async def read(self, tenant: Tenant, client: Client, parameters: Parameters) -> Hinted:
        """Raises InvalidRequest, and UnknownUserId for an ID token whose user cannot sign in any more."""
        given = [name for name in _HINTS if parameters.all(name)]
        if len(given) != 1:
            raise InvalidRequest(f"expected exactly one of {', '.join(_HINTS)}")
        if given == ["login_hint_token"]:
            raise InvalidRequest("login_hint_token is not supported")
        if given == ["id_token_hint"]:
            return await self._by_id_token(tenant, client, parameters.one("id_token_hint"))
        return await self._by_address(tenant, client, parameters.one("login_hint"))

    async def _by_address(self, tenant: Tenant, client: Client, text: str) -> Hinted:
        address = login_hint(text)
        if not address:
            raise InvalidRequest("login_hint: expected an e-mail address")
        user = await self._users.find_by_email(tenant, address)
        if user is not None and await self._may_sign_in(tenant, client, user):
            return Hinted(user, user.user_id)
        return Hinted(None, self._secrets.hash(f"nobody {email_key(address)}").hex())

    async def _by_id_token(self, tenant: Tenant, client: Client, token: str) -> Hinted:
        try:
            hint = await self._id_tokens.read(token, tenant)
        except InvalidToken as error:
            raise InvalidRequest("id_token_hint: expected an ID token of this provider") from error
        if hint.client_id != client.client_id:
            raise InvalidRequest("id_token_hint: expected an ID token of this client")
        user = await self._users.find(tenant, hint.user_id)
        if user is None or not await self._may_sign_in(tenant, client, user):
            raise UnknownUserId("the user of the ID token cannot sign in")
        return Hinted(user, user.user_id)

    async def _may_sign_in(self, tenant: Tenant, client: Client, user: User) -> bool:
        return (
            user.is_active(self._clock.now())
            and user.may_use(client.restrict_group_prefix)
            and not await is_unconfirmed(self._confirmation, tenant, user)
        )
