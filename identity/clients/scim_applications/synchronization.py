"""Synchronization of SCIM applications: users and groups are written in order, each application independently.

The state of each application is in the store, so nothing is lost while its service or the provider is down. The process
that stored an event visits the applications of the tenant; other processes check every few minutes. A process claims an
application by its record, so only one process visits it. Slow and failing services share places for which no other
application waits.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import replace
from datetime import timedelta

from identity.clients.scim_applications.application import (
    MOST_OF_TENANT,
    NEVER,
    SCIM_APPLICATIONS,
    SCIM_RESOURCES,
    ScimApplication,
    remove_resources,
)
from identity.clients.scim_applications.service import ScimService, Unreachable
from identity.clients.scim_applications.tokens import ScimTokens
from identity.clients.scim_applications.visit import COMPARES_EVERY, MOST_EVENTS, Visit, WaitingEvents
from identity.clients.scim_applications.writer import ResourceWriter
from identity.delivery.http.exchange import Exchange
from identity.directory.client import CLIENTS, Client
from identity.directory.labels import GROUPS
from identity.directory.subjects import Subjects
from identity.directory.user import USERS
from identity.foundation.events.event import EVENTS, Event
from identity.foundation.events.events import Events
from identity.foundation.events.kinds import EventType, Level
from identity.foundation.events.news import News, settled_position
from identity.foundation.randomness import Randomness
from identity.foundation.tenants import Tenant
from server.platform.back_off import BackOff
from server.platform.clock import Clock
from server.platform.errors import Unavailable
from server.platform.records import Changed, RecordStore

logger = logging.getLogger(__name__)

POLL_SECONDS = 2.0
LOOKED_AT_EVERY = timedelta(minutes=5)
"""For an application without events that this process knows."""

DISABLED_AFTER = timedelta(days=5)
VISIT = timedelta(seconds=20)
"""After this time a visit begins no further resource, so that other applications get the place."""

_BACK_OFF = BackOff(5, 3600, spread=0.5)
# Events about users that change no account: they may be far more than those that do.
_UNCHANGED = frozenset(
    (
        *(EventType.TOKEN_ISSUED, EventType.INVALID_LOGINS, EventType.LOGIN_REFUSED, EventType.LOGGED_OUT),
        *(EventType.LOGIN_NEW_DEVICE, EventType.LOGIN_NEW_LOCATION, EventType.RECOVERY_CODE_USED),
        *(EventType.CONSENT_GRANTED, EventType.CONSENT_WITHDRAWN, EventType.REFRESH_TOKEN_REUSE),
    )
)
# A visit passes over this many pages of such events.
_MOST_PAGES = 20
# Longer than a visit with the requests of its last resource.
_CLAIM = timedelta(seconds=120)
_SLOW = timedelta(seconds=2)
# Together not more than the connections of the session.
_MOST_AT_A_TIME = 75
_MOST_SLOW = 25
_OCTET = 256


class ScimSynchronization:
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
        self._records = store.of(SCIM_APPLICATIONS)
        self._resources = store.of(SCIM_RESOURCES)
        self._clients = store.of(CLIENTS)
        self._users = store.of(USERS)
        self._groups = store.of(GROUPS)
        self._stored_events = store.of(EVENTS)
        self._tokens = tokens
        self._exchange = exchange
        self._subjects = subjects
        self._events = events
        self._clock = clock
        self._randomness = randomness
        self._places = asyncio.Semaphore(_MOST_AT_A_TIME)
        self._slow_places = asyncio.Semaphore(_MOST_SLOW)
        self._slow: set[str] = set()
        self._served: set[str] = set()
        self.news = News()

    async def run(
        self,
        tenants: Callable[[], Iterable[Tenant]],
        pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """Visit applications until cancelled."""
        async with asyncio.TaskGroup() as serving:
            while True:
                for tenant, application in await self.due(tenants):
                    if application.links not in self._served:
                        self._served.add(application.links)
                        serving.create_task(self._serve(tenant, application))
                await pause(POLL_SECONDS)

    async def due(self, tenants: Callable[[], Iterable[Tenant]]) -> Sequence[tuple[Tenant, ScimApplication]]:
        """Return the applications to visit: those due for an attempt or a check, and those with new events."""
        now = self._clock.now()
        found: dict[str, tuple[Tenant, ScimApplication]] = {}
        try:
            due = frozenset(await self._records.due_tenants(now))
            for tenant in tenants():
                tenant_id = tenant.tenant_id
                if tenant_id in due:
                    waiting = await self._records.due(tenant_id, now, most=MOST_OF_TENANT)
                    found |= {each.links: (tenant, each) for each in waiting}
                if self.news.has(tenant_id, now):
                    all_of_tenant = await self._records.page(tenant_id, most=MOST_OF_TENANT)
                    found |= {each.links: (tenant, each) for each in all_of_tenant if each.is_free(now)}
                    self.news.take(tenant_id, now)
        except Unavailable:
            logger.warning("SCIM applications are visited later: the store is not available")
            return ()
        return list(found.values())

    async def visit(self, tenant: Tenant, application: ScimApplication) -> None:
        """Write what is pending, until a request fails or the time of a visit is over; raises Unavailable."""
        place = self._slow_places if self._is_slow(application) else self._places
        async with place:
            client = await self._clients.get(tenant.tenant_id, application.id)
            try:
                if client is None:
                    # An interrupted removal of the client left the application behind.
                    await self._records.take(tenant.tenant_id, application.id)
                    await self._remove_orphans(application)
                elif client.is_enabled:
                    await self._visit(tenant, client, application)
                else:
                    await self._released(application)
            except Changed:
                # An administrator changed or removed the application, or another process visits it.
                await self._remove_orphans(application)

    async def _visit(self, tenant: Tenant, client: Client, application: ScimApplication) -> None:
        waiting = await self._waiting(application)
        if not (waiting.events or application.attempts or self._compares(application)):
            await self._released(replace(application, position=waiting.position), has_more=waiting.has_more)
            return
        began = self._clock.now()
        claimed_until = began + _CLAIM
        application = await self._records.replace(
            replace(application, next_at=claimed_until, claimed_until=claimed_until)
        )
        visit = self._visit_of(tenant, client, application)
        failure = await visit.run(waiting)
        requests = max(1, visit.writer.service.requests)
        self._note_speed(application, is_slow=self._clock.now() - began > _SLOW * requests)
        if failure is not None:
            await self._failed(visit.application, failure)
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

    async def _waiting(self, application: ScimApplication) -> WaitingEvents:
        end, position = settled_position(self._clock.now()), application.position
        found: list[Event] = []
        for _ in range(_MOST_PAGES):
            page = await self._stored_events.page(application.tenant_id, after=position, most=MOST_EVENTS)
            settled = [event for event in page if event.id < end]
            found += [event for event in settled if event.type not in _UNCHANGED]
            position = settled[-1].id if settled else position
            if len(settled) < MOST_EVENTS:
                return WaitingEvents(found, position)
            if found:
                break
        return WaitingEvents(found, position, has_more=True)

    async def _released(self, application: ScimApplication, *, has_more: bool = False) -> None:
        """Raises Changed."""
        now = self._clock.now()
        next_at = now if has_more else now + LOOKED_AT_EVERY
        await self._records.replace(replace(application, next_at=next_at, claimed_until=None))

    async def _failed(self, application: ScimApplication, failure: Unreachable) -> None:
        """Raises Changed."""
        now, attempts = self._clock.now(), application.attempts + 1
        since = application.failing_since or now
        failed = replace(
            application, attempts=attempts, failing_since=since, last_error=str(failure), claimed_until=None
        )
        if now - since >= DISABLED_AFTER:
            await self._records.replace(replace(failed, is_enabled=False, next_at=NEVER))
            await self._events.emit(
                application.tenant_id,
                EventType.CHANGED,
                level=Level.CRITICAL,
                text=f"SCIM settings of client {application.id} disabled after {attempts} failed attempts",
                data=attempts,
            )
            return
        pause = timedelta(seconds=_BACK_OFF.seconds(attempts, self._chance))
        await self._records.replace(replace(failed, next_at=now + max(pause, failure.retry_after)))

    async def _remove_orphans(self, application: ScimApplication) -> None:
        """Forget resources that this visit wrote after the application was removed or got another address."""
        now = await self._records.get(application.tenant_id, application.id)
        if now is None or now.links != application.links:
            await remove_resources(self._resources, application.tenant_id, application.links)

    async def _serve(self, tenant: Tenant, application: ScimApplication) -> None:
        facts = {"tenant_id": application.tenant_id, "client_id": application.id}
        try:
            await self.visit(tenant, application)
        except Unavailable:
            logger.warning("a SCIM application is visited later: the store is not available", extra=facts)
        except Exception:
            logger.exception("a SCIM application was not visited", extra=facts)
        finally:
            self._served.remove(application.links)

    def _is_slow(self, application: ScimApplication) -> bool:
        return application.attempts > 0 or application.links in self._slow

    def _note_speed(self, application: ScimApplication, *, is_slow: bool) -> None:
        if is_slow:
            self._slow.add(application.links)
        else:
            self._slow.discard(application.links)

    def _chance(self) -> float:
        return self._randomness.octets(1)[0] / _OCTET
