"""Administration of the webhooks of a tenant."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from identity.access.callers import Actor
from identity.administration.webhooks.signatures import SECRET_OCTETS, WebhookSecrets, secret_text
from identity.administration.webhooks.webhook import (
    DIGEST_HOURS,
    MOST_OF_TENANT,
    WEBHOOKS,
    Delivery,
    Webhook,
    WebhookFormat,
)
from identity.crypto.keys.master_keys import Sealed
from identity.delivery.http.destinations import Destinations, is_loopback
from identity.delivery.http.registered_uris import expect_reachable
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
_MAIL_ADDRESS = re.compile(r"mailto:[a-z0-9.!#$%&'*+/=^_`{|}~-]{1,64}@[a-z0-9.-]{1,190}", re.IGNORECASE)
_ROOM = re.compile(r"https?://[^?#]+/_matrix/client/v3/rooms/[^/?#]+/send/m\.room\.message")


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookFields:
    """An empty `token` leaves the present one as it is, unless the address changes."""

    name: str
    url: str
    format: WebhookFormat = WebhookFormat.STANDARD
    token: str = field(default="", repr=False)
    digest_hours: int = 24
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
        has_mail: bool,
    ) -> None:
        self._records = store.of(WEBHOOKS)
        self._secrets = secrets
        self._destinations = destinations
        self._has_mail = has_mail
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

    async def deliveries(self, tenant: Tenant, webhook_id: str) -> Sequence[Delivery]:
        """Return the last ones, newest first; raises NotFound."""
        return (await self.get(tenant, webhook_id)).deliveries

    async def create(self, tenant: Tenant, fields: WebhookFields, actor: Actor) -> tuple[Webhook, str]:
        """Return the webhook and its secret, empty if nothing is signed; it gets events that happen after this call.

        Raises InvalidArgument, AlreadyExists, InvalidState.
        """
        self._expect_valid(fields)
        self._expect_token(fields)
        if len(await self.all(tenant)) >= MOST_OF_TENANT:
            raise InvalidState(f"expected at most {MOST_OF_TENANT} webhooks")
        now, webhook_id = self._clock.now(), self._randomness.alphanumeric(_ID_LENGTH)
        secret = self._randomness.octets(SECRET_OCTETS)
        webhook = Webhook(
            tenant_id=tenant.tenant_id,
            id=webhook_id,
            name=fields.name,
            url=fields.url,
            format=fields.format,
            token=self._sealed_token(fields, tenant, webhook_id),
            digest_hours=fields.digest_hours or DIGEST_HOURS,
            types=fields.types,
            level=fields.level,
            secret=self._secrets.seal(secret, tenant.tenant_id, webhook_id),
            is_enabled=fields.is_enabled,
            created_at=now,
            position=position_at(milliseconds_of(now)),
            next_at=NEVER,
        )
        webhook = replace(webhook, next_at=_first(webhook, now))
        try:
            kept = await self._records.insert(webhook)
        except AlreadyThere as error:
            raise AlreadyExists("there is a webhook with this name", field="name") from error
        await self._tell(EventType.CREATED, kept, actor)
        return kept, secret_text(secret) if kept.is_signed else ""

    async def change(self, tenant: Tenant, webhook_id: str, fields: WebhookFields, actor: Actor) -> Webhook:
        """Change a webhook; when it is enabled again, it continues after the last delivered event.

        Raises NotFound, InvalidArgument, AlreadyExists.
        """
        self._expect_valid(fields)
        now = self._clock.now()

        def changed(webhook: Webhook) -> Webhook:
            keeps_token = not fields.token and (fields.format, fields.url) == (webhook.format, webhook.url)
            if not keeps_token:
                self._expect_token(fields)
            after = replace(
                webhook,
                name=fields.name,
                url=fields.url,
                format=fields.format,
                token=webhook.token if keeps_token else self._sealed_token(fields, tenant, webhook_id),
                digest_hours=fields.digest_hours or DIGEST_HOURS,
                types=fields.types,
                level=fields.level,
                is_enabled=fields.is_enabled,
            )
            after = replace(after, next_at=_first(after, now))
            return replace(after, attempts=0, failing_since=None) if after.is_enabled else after

        try:
            kept = await rewritten(self._records, lambda: self.get(tenant, webhook_id), changed)
        except AlreadyThere as error:
            raise AlreadyExists("there is a webhook with this name", field="name") from error
        await self._tell(EventType.CHANGED, kept, actor)
        return kept

    async def rotate(self, tenant: Tenant, webhook_id: str, actor: Actor) -> tuple[Webhook, str]:
        """Return the webhook and its new secret; raises NotFound, InvalidState."""
        secret, until = self._randomness.octets(SECRET_OCTETS), self._clock.now() + ROTATES_FOR
        sealed = self._secrets.seal(secret, tenant.tenant_id, webhook_id)

        def changed(webhook: Webhook) -> Webhook:
            if not webhook.is_signed:
                raise InvalidState("expected a webhook of the format standard: others sign nothing")
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
        if fields.format is WebhookFormat.EMAIL:
            self._expect_mail_address(fields.url)
        else:
            self._expect_destination(fields)
        if unknown := set(fields.types) - set(EventType):
            raise InvalidArgument(f"types: expected types of events, found {len(unknown)} others")
        if fields.token and fields.format is not WebhookFormat.MATRIX:
            raise InvalidArgument("token: expected none, because only the format matrix has one")

    def _expect_mail_address(self, url: str) -> None:
        if not self._has_mail:
            raise InvalidArgument(
                "format: expected another one than email, because this server sends no mail"
            )
        if not _MAIL_ADDRESS.fullmatch(url):
            raise InvalidArgument("url: expected mailto: and one email address")

    def _expect_destination(self, fields: WebhookFields) -> None:
        parts = absolute_uri(fields.url)
        is_safe = parts is not None and (
            parts.scheme == "https" or (parts.scheme == "http" and is_loopback(parts.hostname or ""))
        )
        if not is_safe:
            raise InvalidArgument("url: expected an https address")
        expect_reachable("url", fields.url, self._destinations)
        if fields.format is WebhookFormat.MATRIX and not _ROOM.fullmatch(fields.url):
            raise InvalidArgument(
                "url: expected https://…/_matrix/client/v3/rooms/{room id}/send/m.room.message of a room"
            )

    def _expect_token(self, fields: WebhookFields) -> None:
        if fields.format is WebhookFormat.MATRIX and not fields.token:
            raise InvalidArgument("token: expected the access token of a user in the room, for this address")

    def _sealed_token(self, fields: WebhookFields, tenant: Tenant, webhook_id: str) -> Sealed | None:
        if not fields.token:
            return None
        return self._secrets.seal(fields.token.encode(), tenant.tenant_id, webhook_id)

    async def _tell(self, event_type: EventType, webhook: Webhook, actor: Actor) -> None:
        await self._events.emit(
            webhook.tenant_id,
            event_type,
            ip=actor.peer_address or None,
            text=f"webhook {webhook.name}",
            actor=actor,
        )


def _first(webhook: Webhook, now: datetime) -> datetime:
    """Return the time of the next attempt of a new or changed webhook."""
    if not webhook.is_enabled:
        return NEVER
    return now + webhook.digest_period if webhook.is_digest else now
