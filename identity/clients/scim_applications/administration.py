"""Administration of the SCIM settings of clients."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from identity.access.callers import Actor
from identity.clients.relying_parties import RelyingParties
from identity.clients.scim_applications.application import (
    SCIM_APPLICATIONS,
    ScimApplication,
    ScimResource,
    remove_resources,
)
from identity.clients.scim_applications.service import ScimFailure, ScimService
from identity.clients.scim_applications.tokens import ScimTokens
from identity.delivery.http.destinations import Destinations
from identity.delivery.http.exchange import Exchange
from identity.delivery.http.registered_uris import expect_reachable, expect_safe_uri
from identity.delivery.subscribers import NEVER
from identity.directory.client import Client
from identity.foundation.events.event import Event, milliseconds_of, position_at
from identity.foundation.events.events import Events
from identity.foundation.events.kinds import EventType
from identity.foundation.randomness import Randomness
from identity.foundation.record_changes import rewritten
from identity.foundation.removals import Removals
from identity.foundation.searches import RecordSearch, listed
from identity.foundation.tenants import Tenant
from server.platform.clock import Clock
from server.platform.errors import InvalidArgument, InvalidState, NotFound
from server.platform.records import AlreadyThere, Records

_LINKS_LENGTH = 16
_MOST_PENDING = 100
_MOST_REFUSALS = 1000
_MOST_SHOWN = 20
_MOST_LISTED = 100


class ScimState(StrEnum):
    """State of the synchronization of an application."""

    DISABLED = "disabled"
    FAILING = "failing"
    SYNCHRONIZING = "synchronizing"
    SYNCHRONIZED = "synchronized"


@dataclass(frozen=True, slots=True, kw_only=True)
class ScimFields:
    """Settings by administrators. An empty `bearer_token` keeps the present one."""

    base_uri: str
    bearer_token: str
    sync_groups: bool
    group_sync_prefix: str
    is_enabled: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ScimStatus:
    """An application with the state of its synchronization.

    `pending` is the number of events about users that are not handled yet, at most 100. `refused` is the number of
    resources that the application refuses, at most 1000, and `refusals` are some of them.
    """

    application: ScimApplication
    state: ScimState
    pending: int
    refused: int
    refusals: Sequence[ScimResource]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScimApplicationAdministration:
    """The methods that change something raise NotFound without such a client, InvalidState and PermissionDenied."""

    applications: Records[ScimApplication]
    resources: Records[ScimResource]
    removals: Removals
    stored_events: Records[Event]
    tokens: ScimTokens
    exchange: Exchange
    destinations: Destinations
    relying_parties: RelyingParties
    events: Events
    clock: Clock
    randomness: Randomness

    async def page(
        self, tenant: Tenant, wanted: RecordSearch, page_size: int, continuation_token: str
    ) -> tuple[Sequence[ScimStatus], str]:
        """Return a page by client id, and the continuation token of the next one; raises InvalidArgument."""
        found, following = await listed(
            self.applications,
            tenant.tenant_id,
            wanted,
            # Each state is read from the events and resources of its application.
            page_size=min(page_size or _MOST_LISTED, _MOST_LISTED),
            continuation_token=continuation_token,
        )
        return [await self._status(application) for application in found], following

    async def find(self, tenant: Tenant, client_id: str) -> ScimStatus:
        """Raises NotFound."""
        return await self._status(await self._found(tenant, client_id))

    async def put(self, tenant: Tenant, client_id: str, fields: ScimFields, *, actor: Actor) -> ScimStatus:
        """Make a client a SCIM application, or replace all of its settings; all users are compared again.

        Raises InvalidArgument.
        """
        client = await self.relying_parties.changeable(tenant, client_id, actor)
        self._expect_valid(fields)
        if await self.applications.get(tenant.tenant_id, client.id) is None:
            return await self._status(await self._create(tenant, client, fields, actor))
        before: list[ScimApplication] = []

        def changed(application: ScimApplication) -> ScimApplication:
            before[:] = [application]
            return self._changed(application, fields)

        kept = await rewritten(self.applications, lambda: self._found(tenant, client_id), changed)
        for former in before:
            if former.links != kept.links:
                await remove_resources(self.resources, tenant.tenant_id, former.links)
        await self._tell(EventType.CHANGED, client, actor)
        return await self._status(kept)

    async def delete(self, tenant: Tenant, client_id: str, *, actor: Actor) -> None:
        """Remove the SCIM settings of a client; the service keeps its users."""
        application = await self._found(tenant, client_id)
        client = await self.relying_parties.changeable(tenant, client_id, actor)
        await self.removals.take(SCIM_APPLICATIONS, application)
        await self._tell(EventType.DELETED, client, actor)

    async def synchronize(self, tenant: Tenant, client_id: str, *, actor: Actor) -> ScimStatus:
        """Compare all users again, and do so at once."""
        client = await self.relying_parties.changeable(tenant, client_id, actor)

        def changed(application: ScimApplication) -> ScimApplication:
            if not application.is_enabled:
                raise InvalidState("the synchronization is disabled")
            return self._restarted(application)

        kept = await rewritten(self.applications, lambda: self._found(tenant, client_id), changed)
        await self._tell(EventType.CHANGED, client, actor)
        return await self._status(kept)

    async def test(self, tenant: Tenant, client_id: str, *, actor: Actor) -> tuple[bool, str]:
        """Read one user of the service; return whether that works, and the error, empty for none."""
        await self.relying_parties.changeable(tenant, client_id, actor)
        application = await self._found(tenant, client_id)
        service = ScimService(self.exchange, application.base_uri, self.tokens.open(application))
        try:
            await service.test()
        except ScimFailure as failure:
            return False, str(failure)
        return True, ""

    async def _found(self, tenant: Tenant, client_id: str) -> ScimApplication:
        application = await self.applications.get(tenant.tenant_id, client_id)
        if application is None:
            raise NotFound("the client is no SCIM application")
        return application

    def _expect_valid(self, fields: ScimFields) -> None:
        expect_safe_uri("base_uri", fields.base_uri)
        expect_reachable("base_uri", fields.base_uri, self.destinations)
        if not fields.base_uri or "?" in fields.base_uri:
            raise InvalidArgument("base_uri: expected an address without query", field="base_uri")
        token = fields.bearer_token
        if not token.isascii() or not token.isprintable() or " " in token:
            raise InvalidArgument(
                "bearer_token: expected printable ASCII characters without spaces", field="bearer_token"
            )

    async def _create(
        self, tenant: Tenant, client: Client, fields: ScimFields, actor: Actor
    ) -> ScimApplication:
        try:
            kept = await self.applications.insert(await self._new(tenant, client.id, fields))
        except AlreadyThere as error:
            raise InvalidState("another caller created the application in the meantime") from error
        await self._tell(EventType.CREATED, client, actor)
        return kept

    async def _new(self, tenant: Tenant, client_id: str, fields: ScimFields) -> ScimApplication:
        """Raises InvalidArgument."""
        if not fields.bearer_token:
            raise InvalidArgument("bearer_token: expected a token", field="bearer_token")
        now = self.clock.now()
        return ScimApplication(
            tenant_id=tenant.tenant_id,
            id=client_id,
            base_uri=fields.base_uri,
            bearer_token=self.tokens.seal(fields.bearer_token, tenant.tenant_id, client_id),
            sync_groups=fields.sync_groups,
            group_sync_prefix=fields.group_sync_prefix,
            is_enabled=fields.is_enabled,
            links=self.randomness.alphanumeric(_LINKS_LENGTH),
            created_at=now,
            position=position_at(milliseconds_of(now)),
            next_at=now if fields.is_enabled else NEVER,
        )

    def _changed(self, before: ScimApplication, fields: ScimFields) -> ScimApplication:
        """Raises InvalidArgument for another address without a token."""
        is_moved = fields.base_uri != before.base_uri
        if is_moved and not fields.bearer_token:
            # Otherwise a caller who does not know the token could send it to an address of their choice.
            raise InvalidArgument(
                "bearer_token: expected the token for the new address", field="bearer_token"
            )
        token = before.bearer_token
        if fields.bearer_token:
            token = self.tokens.seal(fields.bearer_token, before.tenant_id, before.id)
        after = replace(
            before,
            base_uri=fields.base_uri,
            bearer_token=token,
            sync_groups=fields.sync_groups,
            group_sync_prefix=fields.group_sync_prefix,
            is_enabled=fields.is_enabled,
            links=self.randomness.alphanumeric(_LINKS_LENGTH) if is_moved else before.links,
            claimed_until=None if is_moved else before.claimed_until,
        )
        restarted = self._restarted(after)
        return restarted if fields.is_enabled else replace(restarted, next_at=NEVER)

    def _restarted(self, application: ScimApplication) -> ScimApplication:
        """Return the application with a comparison that begins now, or after the present visit."""
        now = self.clock.now()
        return replace(
            application,
            compares_after="",
            is_stale=False,
            next_at=max(now, application.claimed_until or now),
            attempts=0,
            failing_since=None,
            last_error="",
        )

    async def _status(self, application: ScimApplication) -> ScimStatus:
        tenant_id = application.tenant_id
        events = await self.stored_events.page(tenant_id, after=application.position, most=_MOST_PENDING)
        refused = await self.resources.find(tenant_id, "refused_by", application.links, most=_MOST_REFUSALS)
        pending = sum(event.user_id is not None for event in events)
        return ScimStatus(
            application=application,
            state=_state(application),
            pending=pending,
            refused=len(refused),
            refusals=refused[:_MOST_SHOWN],
        )

    async def _tell(self, event_type: EventType, client: Client, actor: Actor) -> None:
        await self.events.emit(
            client.tenant_id,
            event_type,
            ip=actor.peer_address or None,
            text=f"SCIM settings of client {client.id}",
            client_id=client.id,
            actor=actor,
        )


def _state(application: ScimApplication) -> ScimState:
    if not application.is_enabled:
        return ScimState.DISABLED
    if application.attempts:
        return ScimState.FAILING
    if application.compares_after is not None or application.is_stale:
        return ScimState.SYNCHRONIZING
    return ScimState.SYNCHRONIZED
