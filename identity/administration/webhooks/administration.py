"""Administration of the webhooks of a tenant."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from identity.access.callers import Actor
from identity.administration.webhooks.signatures import SECRET_OCTETS, WebhookSecrets, secret_text
from identity.administration.webhooks.webhook import MOST_OF_TENANT, WEBHOOKS, Webhook
from identity.delivery.http.destinations import Destinations, is_loopback
from identity.delivery.http.sender import is_permitted
from identity.delivery.subscribers import NEVER
from identity.foundation.absolute_uris import absolute_uri
from identity.foundation.events.event import milliseconds_of, position_at
from identity.foundation.events.events import Events
from identity.foundation.events.kinds import EventType, Level
from identity.foundation.randomness import Randomness
from identity.foundation.record_changes import rewritten
from identity.foundation.tenants import Tenant
from server.platform.clock import Clock
from server.platform.errors import AlreadyExists, InvalidArgument, InvalidState, NotFound
from server.platform.records import AlreadyThere, RecordStore

ROTATES_FOR = timedelta(days=1)
"""For this time, the previous secret signs besides the new one."""

_ID_LENGTH = 24


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookFields:
    name: str
    url: str
    types: tuple[str, ...]
    level: Level = Level.INFO
    is_enabled: bool


class WebhookAdministration:
    def __init__(
        self,
        store: RecordStore,
        secrets: WebhookSecrets,
        destinations: Destinations,
        *,
        events: Events,
        clock: Clock,
        randomness: Randomness,
    ) -> None:
        self._records = store.of(WEBHOOKS)
        self._secrets = secrets
        self._destinations = destinations
        self._events = events
        self._clock = clock
        self._randomness = randomness

    async def all(self, tenant: Tenant) -> Sequence[Webhook]:
        return await self._records.page(tenant.tenant_id, most=MOST_OF_TENANT)

    async def get(self, tenant: Tenant, webhook_id: str) -> Webhook:
        """Raises NotFound."""
        webhook = await self._records.get(tenant.tenant_id, webhook_id)
        if webhook is None:
            raise NotFound("there is no such webhook")
        return webhook

    async def create(self, tenant: Tenant, fields: WebhookFields, actor: Actor) -> tuple[Webhook, str]:
        """Return the webhook and its secret; it gets events that happen after this call.

        Raises InvalidArgument, AlreadyExists, InvalidState.
        """
        self._expect_valid(fields)
        if len(await self.all(tenant)) >= MOST_OF_TENANT:
            raise InvalidState(f"expected at most {MOST_OF_TENANT} webhooks")
        now, webhook_id = self._clock.now(), self._randomness.alphanumeric(_ID_LENGTH)
        secret = self._randomness.octets(SECRET_OCTETS)
        webhook = Webhook(
            tenant_id=tenant.tenant_id,
            id=webhook_id,
            name=fields.name,
            url=fields.url,
            types=fields.types,
            level=fields.level,
            secret=self._secrets.seal(secret, tenant.tenant_id, webhook_id),
            is_enabled=fields.is_enabled,
            created_at=now,
            position=position_at(milliseconds_of(now)),
            next_at=now if fields.is_enabled else NEVER,
        )
        try:
            kept = await self._records.insert(webhook)
        except AlreadyThere as error:
            raise AlreadyExists("there is a webhook with this name", field="name") from error
        await self._tell(EventType.CREATED, kept, actor)
        return kept, secret_text(secret)

    async def change(self, tenant: Tenant, webhook_id: str, fields: WebhookFields, actor: Actor) -> Webhook:
        """Change a webhook; when it is enabled again, it continues after the last delivered event.

        Raises NotFound, InvalidArgument, AlreadyExists.
        """
        self._expect_valid(fields)
        now = self._clock.now()

        def changed(webhook: Webhook) -> Webhook:
            after = replace(
                webhook,
                name=fields.name,
                url=fields.url,
                types=fields.types,
                level=fields.level,
                is_enabled=fields.is_enabled,
            )
            if not fields.is_enabled:
                return replace(after, next_at=NEVER)
            return replace(after, next_at=now, attempts=0, failing_since=None)

        try:
            kept = await rewritten(self._records, lambda: self.get(tenant, webhook_id), changed)
        except AlreadyThere as error:
            raise AlreadyExists("there is a webhook with this name", field="name") from error
        await self._tell(EventType.CHANGED, kept, actor)
        return kept

    async def rotate(self, tenant: Tenant, webhook_id: str, actor: Actor) -> tuple[Webhook, str]:
        """Return the webhook and its new secret; raises NotFound."""
        secret, until = self._randomness.octets(SECRET_OCTETS), self._clock.now() + ROTATES_FOR
        sealed = self._secrets.seal(secret, tenant.tenant_id, webhook_id)

        def changed(webhook: Webhook) -> Webhook:
            return replace(webhook, secret=sealed, previous_secret=webhook.secret, previous_until=until)

        kept = await rewritten(self._records, lambda: self.get(tenant, webhook_id), changed)
        await self._tell(EventType.CHANGED, kept, actor)
        return kept, secret_text(secret)

    async def delete(self, tenant: Tenant, webhook_id: str, actor: Actor) -> None:
        """Raises NotFound."""
        webhook = await self._records.take(tenant.tenant_id, webhook_id)
        if webhook is None:
            raise NotFound("there is no such webhook")
        await self._tell(EventType.DELETED, webhook, actor)

    def _expect_valid(self, fields: WebhookFields) -> None:
        parts = absolute_uri(fields.url)
        is_safe = parts is not None and (
            parts.scheme == "https" or (parts.scheme == "http" and is_loopback(parts.hostname or ""))
        )
        if not is_safe or not is_permitted(fields.url, self._destinations):
            raise InvalidArgument("url: expected an https address that the server may connect to")
        if unknown := set(fields.types) - set(EventType):
            raise InvalidArgument(f"types: expected types of events, found {len(unknown)} others")

    async def _tell(self, event_type: EventType, webhook: Webhook, actor: Actor) -> None:
        await self._events.emit(
            webhook.tenant_id,
            event_type,
            ip=actor.peer_address or None,
            text=f"webhook {webhook.name}",
            actor=actor,
        )
