"""Removes an owner, such as a user or a client, together with all records that belong to it.

One statement deletes the owner and stores its removal, so the owner is gone at once and the rest is never forgotten.
The call that deletes makes the first pass over the dependents itself. When it fails, or its process dies, any other
process makes it later: it claims the removal with the next attempt, and is the only one until the claim ends.

A call that began before the deletion may still write a dependent. So a further pass follows once all such calls have
ended. No record gets the name of the removed owner while a pass runs, or before the first one was completed.
"""

import asyncio
import logging
from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from identity.foundation.randomness import Randomness
from identity.foundation.shield import CALL_SECONDS
from server.platform.audit import AuditNote
from server.platform.back_off import BackOff
from server.platform.call import TenantId
from server.platform.clock import Clock
from server.platform.errors import InvalidState, Unavailable
from server.platform.records import (
    REMOVALS,
    Changed,
    Guard,
    Kind,
    Owner,
    Record,
    RecordStore,
    Removal,
    reservation_of,
)
from server.platform.records.port import R

logger = logging.getLogger(__name__)

SETTLED_AFTER = timedelta(seconds=CALL_SECONDS + 30)
"""After this time all calls that began before the removal have ended."""

POLL_SECONDS = 5.0
# The longest first pass within a call, and the longest part of any pass.
PASS_SECONDS = 20.0
CLAIM = timedelta(seconds=60)
# A part of a pass ends before its claim does, so that two processes never remove at the same time.
_RENEWED_BEFORE = timedelta(seconds=PASS_SECONDS + 10)

_BACK_OFF = BackOff(CLAIM.total_seconds(), CLAIM.total_seconds())
_ID_LENGTH = 24
# Records that one statement removes.
_PAGE = 500
# Owners of others among the dependents, each of which has a removal of its own.
_OWNERS = 50
_MOST_DUE = 10
_MOST_AT_A_TIME = 4

Step = Callable[[Removal], Awaitable[None]]
"""Does what a pass has to do before it removes dependents, each time; raises Unavailable."""

Succession = Callable[[TenantId, str], Awaitable[bool]]
"""Whether records of a tenant that name an owner's id belong to another owner with this id; raises Unavailable."""


class Removals:
    """`kinds` are all kinds of records, so also those of all dependents."""

    def __init__(
        self, store: RecordStore, kinds: Collection[Kind[Any]], *, clock: Clock, randomness: Randomness
    ) -> None:
        self._store = store
        self._records = store.of(REMOVALS)
        self._clock = clock
        self._randomness = randomness
        self._dependents: dict[str, list[tuple[Kind[Any], Owner]]] = defaultdict(list)
        for kind in kinds:
            for owner in kind.owners:
                self._dependents[owner.kind].append((kind, owner))
        self._steps: dict[str, list[Step]] = defaultdict(list)
        self._successions: dict[str, Succession] = {}
        self._served: set[TenantId] = set()
        self._slots = asyncio.Semaphore(_MOST_AT_A_TIME)

    def first(self, kind: Kind[Any], *steps: Step) -> None:
        """Run these steps at the beginning of each pass for an owner of this kind."""
        self._steps[kind.name] += steps

    def succeed(self, kind: Kind[Any], succession: Succession) -> None:
        """Keep records that belong to another owner of this kind, whose id people choose."""
        self._successions[kind.name] = succession

    async def take(
        self,
        kind: Kind[R],
        owner: R,
        *,
        name: str = "",
        further_tenants: Collection[TenantId] = (),
        revision: int | None = None,
        note: AuditNote | None = None,
        guard: Guard | None = None,
    ) -> R | None:
        """Remove and return an owner, and make the first pass; of concurrent callers exactly one receives the owner.

        `name` is what another owner may be named later. With `revision`, raises Changed unless the owner has it, with
        `guard` unless the guard's record is unchanged. Raises Unavailable when the owner may not be removed; a failure of
        the pass is only logged.
        """
        removal = self._removal_of(kind, owner, name, further_tenants)
        taken = await self._store.of(kind).take(
            owner.tenant_id, owner.id, revision=revision, note=note, removal=removal, guard=guard
        )
        if taken is not None:
            with _logged(removal):
                async with asyncio.timeout(PASS_SECONDS):
                    await self._run(replace(removal, revision=1))
        return taken

    async def finish(self, tenant_id: TenantId, kind: Kind[Any], name: str) -> None:
        """Finish the removal of an earlier owner of this name; raises InvalidState if that takes longer.

        Must be called before and after the insertion of an owner.
        """
        for removal in await self._records.find(tenant_id, "reserved", reservation_of(kind.name, name)):
            if removal.next_at <= self._clock.now():
                with _logged(removal):
                    await self._claim_and_run(removal)
        if await self._records.find(tenant_id, "reserved", reservation_of(kind.name, name), most=1):
            raise InvalidState(f"another {kind.name} of this name is being removed; try again in a minute")

    async def sweep(self, tenant_id: TenantId, kind: Kind[Any], owner_id: str) -> None:
        """Remove what an earlier version left of an owner, for a new one of the same id; raises Unavailable."""
        for dependent, owner in self._dependents.get(kind.name, ()):
            while await self._remove_some(tenant_id, dependent, owner.field, owner.text(owner_id)):
                pass

    async def run(self, pause: Callable[[float], Awaitable[None]] = asyncio.sleep) -> None:
        """Finish removals until cancelled."""
        async with asyncio.TaskGroup() as serving:
            while True:
                await pause(POLL_SECONDS)
                for tenant_id in await self._due_tenants():
                    if tenant_id not in self._served:
                        self._served.add(tenant_id)
                        serving.create_task(self._serve(tenant_id))

    async def run_due(self) -> None:
        """Make one pass for each removal that is due."""
        for tenant_id in await self._due_tenants():
            await self._run_due_of(tenant_id)

    async def _due_tenants(self) -> Sequence[TenantId]:
        with _logged():
            return await self._records.due_tenants(self._clock.now())
        return ()

    async def _serve(self, tenant_id: TenantId) -> None:
        try:
            await self._run_due_of(tenant_id)
        finally:
            self._served.remove(tenant_id)

    async def _run_due_of(self, tenant_id: TenantId) -> None:
        goes_on = True
        while goes_on:
            due: Sequence[Removal] = ()
            with _logged():
                due = await self._records.due(tenant_id, self._clock.now(), most=_MOST_DUE)
            done = [await self._attempt(removal) for removal in due]
            goes_on = len(due) == _MOST_DUE and all(done)

    async def _attempt(self, removal: Removal) -> bool:
        """Whether a pass succeeded, or another process makes it."""
        async with self._slots:
            with _logged(removal):
                with suppress(Changed):
                    await self._claim_and_run(removal)
                return True
            return False

    async def _claim_and_run(self, removal: Removal) -> None:
        """Make a pass, unless another process does."""
        now, attempts = self._clock.now(), removal.attempts + 1
        pause = timedelta(seconds=_BACK_OFF.seconds(attempts))
        claimed = replace(removal, attempts=attempts, next_at=now + pause, is_reserving=True)
        await self._run(await self._records.replace(claimed))

    async def _run(self, removal: Removal) -> None:
        began = self._clock.now()
        for step in self._steps.get(removal.kind, ()):
            removal = await self._held(removal)
            async with asyncio.timeout(PASS_SECONDS):
                await step(removal)
        for tenant_id in {removal.tenant_id: None, **dict.fromkeys(removal.further_tenants)}:
            if not await self._has_successor(tenant_id, removal):
                for kind, owner in self._dependents.get(removal.kind, ()):
                    removal = await self._sweep(removal, tenant_id, kind, owner)
        await self._complete(removal, began)

    async def _sweep(self, removal: Removal, tenant_id: TenantId, kind: Kind[Any], owner: Owner) -> Removal:
        """Remove the dependents of a kind in slices; returns the removal with its present claim."""
        text = owner.text(removal.owner_id)
        is_full = True
        while is_full:
            removal = await self._held(removal)
            async with asyncio.timeout(PASS_SECONDS):
                is_full = await self._remove_some(tenant_id, kind, owner.field, text)
            # In memory no other work waits: other callers take their turn between two steps.
            await asyncio.sleep(0)
        return removal

    async def _remove_some(self, tenant_id: TenantId, kind: Kind[Any], field: str, text: str) -> bool:
        """Remove some dependents; returns whether there may be more."""
        records = self._store.of(kind)
        if kind.name not in self._dependents:
            return await records.remove(tenant_id, field, text, most=_PAGE) == _PAGE
        owners = await records.find(tenant_id, field, text, most=_OWNERS)
        for owner in owners:
            await self.take(kind, owner)
        return len(owners) == _OWNERS

    async def _has_successor(self, tenant_id: TenantId, removal: Removal) -> bool:
        if tenant_id == removal.tenant_id and not removal.is_swept:
            # No other owner has the name yet.
            return False
        succession = self._successions.get(removal.kind)
        return succession is not None and await succession(tenant_id, removal.owner_id)

    async def _held(self, removal: Removal) -> Removal:
        """Prolong a claim that ends soon; raises Changed when another process has claimed the removal."""
        now = self._clock.now()
        if removal.next_at - now > _RENEWED_BEFORE:
            return removal
        return await self._records.replace(replace(removal, next_at=now + CLAIM))

    async def _complete(self, removal: Removal, began: datetime) -> None:
        settled_at = removal.removed_at + SETTLED_AFTER
        if began >= settled_at:
            await self._records.take(removal.tenant_id, removal.id, revision=removal.revision)
        else:
            swept = replace(removal, next_at=settled_at, is_reserving=False, is_swept=True)
            await self._records.replace(swept)

    def _removal_of(
        self, kind: Kind[Any], owner: Record, name: str, further_tenants: Collection[TenantId]
    ) -> Removal:
        now = self._clock.now()
        return Removal(
            tenant_id=owner.tenant_id,
            id=self._randomness.alphanumeric(_ID_LENGTH),
            kind=kind.name,
            owner_id=getattr(owner, kind.named_by),
            name=name,
            further_tenants=tuple(further_tenants),
            removed_at=now,
            next_at=now + CLAIM,
        )


@contextmanager
def _logged(removal: Removal | None = None) -> Iterator[None]:
    """Log a fault: another attempt follows, and other removals do not wait for it."""
    facts = {} if removal is None else {"kind": removal.kind, "tenant_id": removal.tenant_id}
    try:
        yield
    except Changed:
        # Another process goes on with it.
        return
    except (Unavailable, TimeoutError) as fault:
        logger.warning("a removal goes on later", extra={**facts, "reason": str(fault)})
    except Exception:
        logger.exception("a removal failed; another attempt follows", extra=facts)
