"""Signs out all users of a tenant with one write: the `not_before` of the tenant.

The write refuses every session, grant and token that began before it, here at once and on other nodes as soon as they
have seen the directory version. A sweep follows, in one process at a time. It removes the refused sessions and token
sets, and tells relying parties as the end of a session does. The sweep stores its position after each page, so another
process continues an interrupted sweep.
"""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Protocol, TypeVar

from identity.access.callers import Actor
from identity.access.sessions.session import SESSIONS, Session
from identity.access.tokens.token_set import TOKEN_SETS
from identity.directory.tenants.tenant_record import (
    DEPLOYMENT,
    TENANTS,
    SignOutSweep,
    SweepStage,
    TenantRecord,
)
from identity.foundation.events.events import Events
from identity.foundation.events.kinds import EventType
from identity.foundation.randomness import Randomness
from identity.foundation.tenants import Tenant, Tenants
from server.platform.clock import Clock
from server.platform.errors import NotFound, Unavailable
from server.platform.query import Field, FieldType, Query, SortKey, Window
from server.platform.records import Changed, Record, Records, RecordStore

if TYPE_CHECKING:
    from server.platform.call import TenantId

logger = logging.getLogger(__name__)

PASS_SECONDS = 1.0
TERM = timedelta(minutes=1)
_PAGE = 500
_ATTEMPTS = 20
_NAME_LENGTH = 16
R = TypeVar("R", bound=Record)
_ALL = Query((), (SortKey(Field("id", FieldType.TEXT)),), Window(limit=1))


@dataclass(frozen=True, slots=True, kw_only=True)
class SignOutProgress:
    """`not_before` is None for a tenant whose users were never signed out together; `sessions_left` are to be examined."""

    not_before: datetime | None = None
    sessions_left: int = 0
    sessions_ended: int = 0
    token_sets_ended: int = 0
    finished_at: datetime | None = None


class Directory(Protocol):
    async def refresh(self) -> None: ...


class Version(Protocol):
    async def advance(self) -> None: ...


class SessionTermination(Protocol):
    async def announce(self, tenant: Tenant, refused: Sequence[Session]) -> None: ...


class TenantSignOut:
    def __init__(
        self,
        tenants: Tenants,
        directory: Directory,
        termination: SessionTermination,
        *,
        store: RecordStore,
        version: Version,
        events: Events,
        clock: Clock,
        randomness: Randomness,
    ) -> None:
        self._tenants = tenants
        self._directory = directory
        self._termination = termination
        self._records = store.of(TENANTS)
        self._sessions = store.of(SESSIONS)
        self._token_sets = store.of(TOKEN_SETS)
        self._version = version
        self._events = events
        self._clock = clock
        self._process = randomness.alphanumeric(_NAME_LENGTH)
        self._finished: dict[TenantId, datetime] = {}
        self._begun = asyncio.Event()

    async def begin(self, tenant: Tenant, actor: Actor) -> None:
        """Refuse all present sessions, grants and tokens of the tenant; raises Unavailable."""
        await self._refuse(tenant)
        try:
            await self._directory.refresh()
        finally:
            await self._version.advance()
        self._begun.set()
        await self._events.emit(tenant.tenant_id, EventType.FORCED_LOGOUT, text="everybody", actor=actor)

    async def progress(self, tenant: Tenant) -> SignOutProgress:
        """Return how far the removal is; raises Unavailable."""
        record = await self._records.get(DEPLOYMENT, tenant.tenant_id)
        if record is None or record.sweep is None:
            return SignOutProgress()
        sweep = record.sweep
        return SignOutProgress(
            not_before=record.not_before,
            sessions_left=await self._left(tenant, sweep) if sweep.stage is SweepStage.SESSIONS else 0,
            sessions_ended=sweep.sessions_ended,
            token_sets_ended=sweep.token_sets_ended,
            finished_at=sweep.finished_at,
        )

    async def run(self) -> None:
        """Sweep until cancelled, a page of each tenant in turn."""
        while True:
            self._begun.clear()
            try:
                has_worked = await self.work()
            except Unavailable:
                logger.warning("the store is not available; ended sessions are removed later")
                has_worked = False
            if not has_worked:
                await self._pause()

    async def work(self) -> bool:
        """Sweep a page of each tenant that needs it; return whether there was one. Raises Unavailable."""
        worked = [
            await self._advance(tenant)
            for tenant in self._tenants.all()
            if tenant.not_before is not None and self._finished.get(tenant.tenant_id) != tenant.not_before
        ]
        return any(worked)

    async def _advance(self, tenant: Tenant) -> bool:
        """Sweep the next page of a tenant; return False when another process does it, or nothing is left."""
        record = await self._claimed(tenant)
        if record is None or record.sweep is None or record.not_before is None:
            return False
        swept = await self._swept(tenant, record.sweep, record.not_before)
        try:
            await self._records.replace(replace(record, sweep=swept))
        except Changed:
            # Somebody changed the tenant, or continues an expired claim: the page is swept again.
            logger.info("a page of sessions is swept again", extra={"tenant_id": tenant.tenant_id})
        return True

    async def _claimed(self, tenant: Tenant) -> TenantRecord | None:
        """Return the tenant with a sweep that this process may continue, None without one."""
        now, record = self._clock.now(), await self._records.get(DEPLOYMENT, tenant.tenant_id)
        if record is None or record.sweep is None:
            return None
        sweep = record.sweep
        if sweep.stage is SweepStage.FINISHED:
            if record.not_before is not None:
                self._finished[tenant.tenant_id] = record.not_before
            return None
        is_claimed = sweep.claimed_until is not None and now < sweep.claimed_until
        if is_claimed:
            return record if sweep.process == self._process else None
        sessions = await self._count(tenant) if sweep.sessions is None else sweep.sessions
        claimed = replace(sweep, process=self._process, claimed_until=now + TERM, sessions=sessions)
        try:
            return await self._records.replace(replace(record, sweep=claimed))
        except Changed:
            return None

    async def _swept(self, tenant: Tenant, sweep: SignOutSweep, not_before: datetime) -> SignOutSweep:
        """Remove what is refused in the next page, and return the sweep after it."""
        if sweep.stage is SweepStage.SESSIONS:
            following = await self._swept_sessions(tenant, sweep, not_before)
        else:
            following = await self._swept_token_sets(tenant, sweep, not_before)
        return replace(following, claimed_until=self._clock.now() + TERM)

    async def _swept_sessions(
        self, tenant: Tenant, sweep: SignOutSweep, not_before: datetime
    ) -> SignOutSweep:
        page = await self._sessions.page(tenant.tenant_id, after=sweep.after, most=_PAGE)
        if not page:
            return replace(sweep, stage=SweepStage.TOKEN_SETS, after="")
        refused = [session for session in page if session.is_refused(not_before)]
        # The records are removed last, so relying parties get at least one logout token.
        await self._termination.announce(tenant, refused)
        await self._remove(self._sessions, refused)
        return replace(
            sweep,
            after=page[-1].id,
            seen=sweep.seen + len(page),
            sessions_ended=sweep.sessions_ended + len(refused),
        )

    async def _swept_token_sets(
        self, tenant: Tenant, sweep: SignOutSweep, not_before: datetime
    ) -> SignOutSweep:
        page = await self._token_sets.page(tenant.tenant_id, after=sweep.after, most=_PAGE)
        if not page:
            return replace(sweep, stage=SweepStage.FINISHED, after="", finished_at=self._clock.now())
        refused = [each for each in page if each.authentication.is_refused(not_before)]
        await self._remove(self._token_sets, refused)
        return replace(sweep, after=page[-1].id, token_sets_ended=sweep.token_sets_ended + len(refused))

    async def _remove(self, records: Records[R], refused: Sequence[R]) -> None:
        """Let the records expire in one statement; maintenance removes them."""
        ended = [replace(each, expires_at=self._clock.now()) for each in refused]
        if await records.replace_all(ended) < len(ended):
            for each in ended:
                await records.take(each.tenant_id, each.id)

    async def _refuse(self, tenant: Tenant) -> None:
        for _ in range(_ATTEMPTS):
            record = await self._records.get(DEPLOYMENT, tenant.tenant_id)
            if record is None or record.deleted_at is not None:
                raise NotFound("there is no such tenant")
            refusing = replace(record, not_before=self._clock.now(), sweep=SignOutSweep())
            try:
                await self._records.replace(refusing)
            except Changed:
                continue
            return
        raise Unavailable.untouched("too many requests change the tenant at the same time")

    async def _left(self, tenant: Tenant, sweep: SignOutSweep) -> int:
        if sweep.sessions is None:
            return await self._count(tenant)
        return max(0, sweep.sessions - sweep.seen)

    async def _count(self, tenant: Tenant) -> int:
        return (await self._sessions.search(tenant.tenant_id, _ALL)).total

    async def _pause(self) -> None:
        try:
            async with asyncio.timeout(PASS_SECONDS):
                await self._begun.wait()
        except TimeoutError:
            pass
