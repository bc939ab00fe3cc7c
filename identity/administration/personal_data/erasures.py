"""Erases persons: removes their accounts with all dependent records, and puts a pseudonym in the place of their names.

The erasure is a record, so that another process continues after the end of this one. The provider deletes the account,
removes what is left of its records, and rewrites its security events in slices. The engine asks for its part.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Final, Protocol

from identity.access.callers import Actor, ActorKind
from identity.administration.personal_data.erasure import ERASURES, NEVER, Erasure
from identity.administration.personal_data.exports import names_person_in, pattern_of
from identity.administration.personal_data.sections import ByField, ById, Section
from identity.directory.user import USERS, User, UserId
from identity.foundation.events.event import EVENTS, Event, EventActor
from identity.foundation.events.events import Events
from identity.foundation.events.kinds import EventType
from identity.foundation.randomness import Randomness
from identity.foundation.tenants import Tenant, Tenants
from server.platform.call import TenantId
from server.platform.clock import Clock
from server.platform.errors import InvalidState, NotFound, PermissionDenied, ServiceError, Unavailable
from server.platform.records import AlreadyThere, Changed, RecordStore

logger = logging.getLogger(__name__)

SETTLED_AFTER: Final = timedelta(seconds=15)
"""After this time no call writes about the person that began before the erasure."""

_PREFIX: Final = "erased-"
_RANDOM_LENGTH: Final = 16
_PASS_SECONDS: Final = 2.0
_CLAIM: Final = timedelta(seconds=60)
_SLICE: Final = 500
_ATTEMPTS: Final = 20
_SHORTEST_NAME: Final = 3
# The accounts are deleted first; the applications get their copies deleted by the records that stay until then.
_BY_DELETION: Final = frozenset({"user", "event", "scim_resource"})
# Only the engine is waited for.
_AFTER_OWN_PART: Final = NEVER - timedelta(days=2)
_OPEN: Final = NEVER - timedelta(days=1)
# The caller who began the erasure had the right to delete the user.
_SYSTEM: Final = Actor(ActorKind.CLIENT, "erasure", "erasure", is_administrator=True)


class Users(Protocol):
    async def delete(self, tenant: Tenant, user_id: UserId, actor: Actor) -> None: ...


class Erasures:
    def __init__(
        self,
        store: RecordStore,
        users: Users,
        *,
        tenants: Tenants,
        events: Events,
        clock: Clock,
        randomness: Randomness,
    ) -> None:
        self._records = store.of(ERASURES)
        self._accounts = store.of(USERS)
        self._users = users
        self._tenants = tenants
        self._events = events
        self._clock = clock
        self._randomness = randomness

    async def delete(self, tenant: Tenant, user_id: UserId, actor: Actor) -> None:
        """Begin an erasure, as a deletion of the account."""
        await self.begin(tenant, user_id, actor)

    async def begin(self, tenant: Tenant, user_id: UserId, actor: Actor) -> Erasure:
        """Delete the account and begin the erasure of all else; raises what a deletion of the user raises."""
        user = await self._accounts.get(tenant.tenant_id, user_id)
        if user is None:
            raise NotFound("there is no such user")
        erasure = await self._recorded(user, actor)
        try:
            await self._users.delete(tenant, user_id, actor)
        finally:
            # After a refusal the account is still there.
            if await self._accounts.get(tenant.tenant_id, user_id) is not None:
                await self._records.take(tenant.tenant_id, erasure.id)
        await self._events.emit(
            tenant.tenant_id,
            EventType.DELETED,
            text=f"erasure {erasure.pseudonym}",
            user_id=erasure.pseudonym,
            actor=actor,
        )
        return erasure

    async def get(self, tenant: Tenant, pseudonym: str) -> Erasure:
        """Raises NotFound."""
        found = await self._records.get(tenant.tenant_id, pseudonym)
        if found is None:
            raise NotFound("there is no such erasure")
        return found

    async def claim(self) -> Erasure | None:
        """Claim the part of the engine of an erasure for a minute, None without any."""
        now = self._clock.now()
        for tenant_id in await self._records.due_tenants(_OPEN):
            for erasure in await self._records.due(tenant_id, _OPEN, most=_SLICE):
                is_claimed = erasure.engine_claimed_until is not None and now < erasure.engine_claimed_until
                if erasure.is_done_in_engine or is_claimed or now < erasure.asked_at + SETTLED_AFTER:
                    continue
                try:
                    return await self._records.replace(replace(erasure, engine_claimed_until=now + _CLAIM))
                except Changed:
                    continue
        return None

    async def report(
        self, tenant_id: TenantId, pseudonym: str, position: str, *, user_tasks: int, rows: int, is_done: bool
    ) -> None:
        """Store the progress of the engine; raises NotFound."""
        tenant = self._tenants.find(tenant_id)
        now = self._clock.now()
        await self.change(
            await self.get(tenant, pseudonym),
            lambda erasure: replace(
                erasure,
                engine_after=position,
                engine_claimed_until=now + _CLAIM,
                user_tasks=erasure.user_tasks + user_tasks,
                rewritten_rows=erasure.rewritten_rows + rows,
                is_done_in_engine=is_done,
            ),
        )

    async def change(self, erasure: Erasure, changed: Callable[[Erasure], Erasure]) -> Erasure:
        """Change the record, which forgets the person when both parts are done; raises NotFound."""
        for _ in range(_ATTEMPTS):
            current = await self._records.get(erasure.tenant_id, erasure.id)
            if current is None:
                raise NotFound("there is no such erasure")
            try:
                return await self._records.replace(self._completed(changed(current)))
            except Changed:
                continue
        raise Unavailable.untouched("too many requests change the erasure at the same time")

    def _completed(self, erasure: Erasure) -> Erasure:
        if not (erasure.is_done_here and erasure.is_done_in_engine) or erasure.completed_at is not None:
            return erasure
        asked_by = erasure.asked_by
        if erasure.user_id and asked_by.endswith(f" {erasure.user_id}"):
            asked_by = f"{ActorKind.USER} {erasure.pseudonym}"
        return replace(
            erasure,
            user_id="",
            names=(),
            asked_by=asked_by,
            completed_at=self._clock.now(),
            next_at=NEVER,
            engine_after="",
            engine_claimed_until=None,
        )

    async def _recorded(self, user: User, actor: Actor) -> Erasure:
        now = self._clock.now()
        erasure = Erasure(
            tenant_id=user.tenant_id,
            id=f"{_PREFIX}{self._randomness.alphanumeric(_RANDOM_LENGTH)}",
            user_id=user.id,
            names=user.names,
            asked_by=f"{actor.kind} {actor.id}",
            asked_at=now,
            next_at=now,
        )
        try:
            return await self._records.insert(erasure)
        except AlreadyThere:
            (known,) = await self._records.find(user.tenant_id, "user_id", user.id, most=1)
            return known


class ErasureWork:
    """The part of the provider, in any process."""

    def __init__(
        self,
        store: RecordStore,
        sections: Sequence[Section],
        erasures: Erasures,
        *,
        users: Users,
        tenants: Tenants,
        clock: Clock,
        pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._store = store
        self._records = store.of(ERASURES)
        self._accounts = store.of(USERS)
        self._events = store.of(EVENTS)
        self._sections = sections
        self._erasures = erasures
        self._users = users
        self._tenants = tenants
        self._clock = clock
        self._pause = pause

    async def run(self) -> None:
        """Continue erasures until cancelled."""
        while True:
            await self._pause(_PASS_SECONDS)
            try:
                await self.finish()
            except ServiceError as fault:
                logger.warning("erasures continue later", extra={"reason": fault.detail})

    async def finish(self) -> None:
        """Continue the erasures that are due; raises Unavailable."""
        now = self._clock.now()
        for tenant_id in await self._records.due_tenants(now):
            for erasure in await self._records.due(tenant_id, now, most=_SLICE):
                try:
                    claimed = await self._records.replace(replace(erasure, next_at=now + _CLAIM))
                except Changed:
                    continue
                await self._continue(claimed)

    async def _continue(self, erasure: Erasure) -> None:
        if erasure.is_done_here:
            return
        # The account may be there still: the process that began the erasure ended before it deleted the account.
        if await self._accounts.get(erasure.tenant_id, erasure.user_id) is not None:
            tenant = self._tenants.find(erasure.tenant_id)
            try:
                await self._users.delete(tenant, UserId(erasure.user_id), _SYSTEM)
            except (InvalidState, PermissionDenied):
                logger.warning("an erasure was refused", extra={"pseudonym": erasure.pseudonym})
                await self._records.take(erasure.tenant_id, erasure.id)
                return
        removed = await self._remove(erasure)
        erasure = await self._erasures.change(
            erasure, lambda each: replace(each, removed_records=each.removed_records + removed)
        )
        begun = self._clock.now()
        await self._forget_caller(erasure)
        while not await self._rewrite_slice(erasure):
            erasure = await self._erasures.get(self._tenants.find(erasure.tenant_id), erasure.id)
        is_settled = begun >= erasure.asked_at + SETTLED_AFTER
        await self._erasures.change(
            erasure,
            lambda each: replace(
                each,
                is_done_here=is_settled,
                events_after="",
                next_at=_AFTER_OWN_PART if is_settled else erasure.asked_at + SETTLED_AFTER,
            ),
        )

    async def _remove(self, erasure: Erasure) -> int:
        """Remove the records that the deletion of the account left; returns their number."""
        removed, user_id = 0, UserId(erasure.user_id)
        for section in self._sections:
            if section.name in _BY_DELETION:
                continue
            records = self._store.of(section.kind)
            match section.lookup:
                case ById():
                    removed += await records.take(erasure.tenant_id, user_id) is not None
                case ByField(name, texts):
                    for text in texts(user_id):
                        removed += await records.remove(erasure.tenant_id, name, text)
                case _:
                    continue
        return removed

    async def _forget_caller(self, erasure: Erasure) -> None:
        """Put the pseudonym into the erasures of others that the person asked for."""
        asked_by = f"{ActorKind.USER} {erasure.user_id}"
        for other in await self._records.find(erasure.tenant_id, "asked_by", asked_by):
            if other.id != erasure.id:
                await self._erasures.change(
                    other, lambda each: replace(each, asked_by=f"{ActorKind.USER} {erasure.pseudonym}")
                )

    async def _rewrite_slice(self, erasure: Erasure) -> bool:
        """Rewrite events of the next slice; return whether it was the last one."""
        page = await self._events.page(erasure.tenant_id, after=erasure.events_after, most=_SLICE)
        changed = [pseudonymized(event, erasure) for event in page if names_person_in(event, erasure.names)]
        count = await self._events.replace_all(changed) if changed else 0
        if count < len(changed):
            # Another process works on the same events; what it left is found again.
            return False
        if page:
            await self._erasures.change(
                erasure,
                lambda each: replace(
                    each, events_after=page[-1].id, rewritten_events=each.rewritten_events + count
                ),
            )
        return len(page) < _SLICE


def pseudonymized(event: Event, erasure: Erasure) -> Event:
    """Return the event with the pseudonym in the place of the person, and without network address and session."""
    user_id, actor = event.user_id, event.actor
    if user_id == erasure.user_id:
        user_id = erasure.pseudonym
    if actor is not None and actor.id == erasure.user_id:
        actor = EventActor(actor.kind, erasure.pseudonym, erasure.pseudonym)
    return replace(
        event,
        user_id=user_id,
        actor=actor,
        ip=None,
        session=None,
        text=None if event.text is None else _without_names(event.text, erasure),
    )


def _without_names(text: str, erasure: Erasure) -> str:
    for name in sorted(erasure.names, key=len, reverse=True):
        if len(name) >= _SHORTEST_NAME:
            text = pattern_of(name).sub(erasure.pseudonym, text)
    return text
