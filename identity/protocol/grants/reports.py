"""Security events of the token endpoint."""

from identity.access.tokens.token_set import TokenSet
from identity.authentication.authorization.code import AuthorizationCode
from identity.foundation.events.config import EventsConfig
from identity.foundation.events.events import Events
from identity.foundation.events.kinds import EventType
from identity.foundation.tenants import Tenant
from identity.protocol.grants.continuation import Order
from identity.protocol.grants.grant import TokenRequest

_FED_CM = "fed_cm"


class GrantReports:
    def __init__(self, events: Events, config: EventsConfig) -> None:
        self._events = events
        self._tells_of_tokens = config.generate_token_issued

    async def token_issued(self, request: TokenRequest, order: Order) -> None:
        user_id = order.user.user_id if order.user else None
        await self._issued(request.tenant, request.grant_type, client_id=order.client.id, user_id=user_id)

    async def assertion_issued(self, tenant: Tenant, *, client_id: str, user_id: str) -> None:
        """Report an ID token that was issued through FedCM."""
        await self._issued(tenant, _FED_CM, client_id=client_id, user_id=user_id)

    async def refresh_token_reuse(self, tenant: Tenant, token_set: TokenSet) -> None:
        await self._events.emit(
            tenant.tenant_id,
            EventType.REFRESH_TOKEN_REUSE,
            text=f"{token_set.client_id} / {token_set.user_id}",
            user_id=token_set.user_id,
            client_id=token_set.client_id,
        )

    async def code_replay(self, tenant: Tenant, code: AuthorizationCode) -> None:
        user_id = code.authentication.user_id
        await self._events.emit(
            tenant.tenant_id,
            EventType.CODE_REPLAY,
            text=f"{code.client_id} / {user_id}",
            user_id=user_id,
            client_id=code.client_id,
        )

    async def _issued(self, tenant: Tenant, how: str, *, client_id: str, user_id: str | None) -> None:
        """Emit an event if configured; it costs one record for every token."""
        if not self._tells_of_tokens:
            return
        await self._events.emit(
            tenant.tenant_id,
            EventType.TOKEN_ISSUED,
            text=" / ".join(filter(None, (how, client_id, user_id))),
            user_id=user_id,
            client_id=client_id,
        )
