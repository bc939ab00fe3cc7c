"""Synchronization of SCIM applications: users and groups are written in order, each application independently."""

from dataclasses import replace
from datetime import timedelta

from identity.clients.scim_applications.application import (
    SCIM_APPLICATIONS,
    SCIM_RESOURCES,
    ScimApplication,
    remove_resources,
)
from identity.clients.scim_applications.service import ScimService
from identity.clients.scim_applications.tokens import ScimTokens
from identity.clients.scim_applications.visit import COMPARES_EVERY, MOST_EVENTS, Visit
from identity.clients.scim_applications.writer import ResourceWriter
from identity.delivery.http.exchange import Exchange
from identity.delivery.subscribers import VISIT, Places, Subscribers
from identity.directory.client import CLIENTS, Client
from identity.directory.labels import GROUPS
from identity.directory.subjects import Subjects
from identity.directory.user import USERS
from identity.foundation.events.event import Event
from identity.foundation.events.events import Events
from identity.foundation.events.kinds import EventType
from identity.foundation.randomness import Randomness
from identity.foundation.tenants import Tenant
from server.platform.clock import Clock
from server.platform.records import RecordStore

# Events about users that change no account: they may be far more than those that do.
_UNCHANGED = frozenset(
    (
        *(EventType.TOKEN_ISSUED, EventType.INVALID_LOGINS, EventType.LOGIN_REFUSED, EventType.LOGGED_OUT),
        *(EventType.LOGIN_NEW_DEVICE, EventType.LOGIN_NEW_LOCATION, EventType.RECOVERY_CODE_USED),
        *(EventType.CONSENT_GRANTED, EventType.CONSENT_WITHDRAWN, EventType.REFRESH_TOKEN_REUSE),
    )
)
# For each request, on average.
_SLOW = timedelta(seconds=2)
# Together not more than the connections of the session.
_PLACES = Places(ordinary=75, slow=25)


class ScimSynchronization(Subscribers[ScimApplication]):
    def __init__(
        self,
        store: RecordStore,
        tokens: ScimTokens,
        exchange: Exchange,
        *,
        subjects: Subjects,
        events: Events,
        clock: Clock,
        randomness: Randomness,
    ) -> None:
        super().__init__(
            SCIM_APPLICATIONS,
            store,
            places=_PLACES,
            events=events,
            clock=clock,
            randomness=randomness,
        )
        self._resources = store.of(SCIM_RESOURCES)
        self._clients = store.of(CLIENTS)
        self._users = store.of(USERS)
        self._groups = store.of(GROUPS)
        self._tokens = tokens
        self._exchange = exchange
        self._subjects = subjects

    async def _visit(self, tenant: Tenant, application: ScimApplication, /) -> None:
        client = await self._clients.get(tenant.tenant_id, application.id)
        if client is None:
            # The client expired, or its removal is not finished.
            await self._records.take(tenant.tenant_id, application.id)
            await self._interrupted(application)
        elif client.is_enabled:
            await self._synchronize(tenant, client, application)
        else:
            await self._released(application)

    async def _interrupted(self, application: ScimApplication, /) -> None:
        """Forget resources that a visit wrote after the application was removed or got another address."""
        now = await self._records.get(application.tenant_id, application.id)
        if now is None or now.links != application.links:
            await remove_resources(self._resources, application.tenant_id, application.links)

    def _title(self, application: ScimApplication, /) -> str:
        return f"SCIM settings of client {application.id}"

    async def _synchronize(self, tenant: Tenant, client: Client, application: ScimApplication) -> None:
        waiting = await self._waiting(application, _changes_an_account, most=MOST_EVENTS)
        if not (waiting.events or application.attempts or self._compares(application)):
            await self._released(replace(application, position=waiting.position), has_more=waiting.has_more)
            return
        began = self._clock.now()
        visit = self._visit_of(tenant, client, await self._claimed(application))
        failure = await visit.run(waiting)
        requests = max(1, visit.writer.service.requests)
        self._note_speed(application, is_slow=self._clock.now() - began > _SLOW * requests)
        if failure is not None:
            await self._failed(
                replace(visit.application, last_error=str(failure)), retry_after=failure.retry_after
            )
            return
        done = replace(
            visit.application,
            attempts=0,
            failing_since=None,
            last_error="",
            succeeded_at=self._clock.now(),
        )
        await self._released(done, has_more=visit.has_more)

    def _visit_of(self, tenant: Tenant, client: Client, application: ScimApplication) -> Visit:
        writer = ResourceWriter(
            application=application,
            service=ScimService(self._exchange, application.base_uri, self._tokens.open(application)),
            resources=self._resources,
            clock=self._clock,
            ends_at=self._clock.now() + VISIT,
        )
        return Visit(
            tenant=tenant,
            client=client,
            application=application,
            writer=writer,
            users=self._users,
            groups=self._groups,
            resources=self._resources,
            subjects=self._subjects,
            clock=self._clock,
        )

    def _compares(self, application: ScimApplication) -> bool:
        last = application.compared_at
        return (
            application.is_stale
            or application.compares_after is not None
            or last is None
            or last + COMPARES_EVERY <= self._clock.now()
        )


def _changes_an_account(event: Event) -> bool:
    return event.type not in _UNCHANGED
