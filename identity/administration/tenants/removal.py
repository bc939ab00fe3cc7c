"""Removes all records of a deleted tenant, and the tenant itself after the engine has removed its share.

The tenant's record is the state of the removal, so another process continues one that was interrupted. Each step reads
the record again, and each statement that removes records requires that the tenant is being removed at that moment. A
process that acts late therefore never touches a successor with the same id, and several processes may act at once.

A process that does not know of the deletion yet may still write for a moment. So the removal is repeated before the
tenant's id is available again.
"""

import asyncio
import logging
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from typing import Any, Protocol, TypeVar

from identity.directory.client import CLIENTS, Client
from identity.directory.labels import GROUPS, ROLES, Group, Role
from identity.directory.mapping_rule import MAPPING_RULES, MappingRule
from identity.directory.tenants.sign_in_domain import SIGN_IN_DOMAINS
from identity.directory.tenants.tenant_record import DEPLOYMENT, TENANTS, RemovalPhase, TenantRecord
from identity.directory.user import USERS, User
from server.platform.call import TenantId
from server.platform.clock import Clock
from server.platform.errors import Unavailable
from server.platform.query import Condition as QueryCondition
from server.platform.query import Field, FieldType, Operator, Query, SortKey, Window
from server.platform.records import Changed, Condition, Kind, RecordStore

logger = logging.getLogger(__name__)

PASS_SECONDS = 5.0
SETTLED_AFTER = timedelta(seconds=30)
"""After this time every process knows of the deletion, and has finished earlier calls."""

_DEFAULT = TenantId("default")
# Records that are removed in one step.
_PAGE = 500

H = TypeVar("H", User, Client, Group, Role, MappingRule)


class Directory(Protocol):
    @property
    def deleted(self) -> Sequence[TenantRecord]: ...


class TenantRemoval:
    """`kinds` are all kinds of records that belong to tenants. Without an engine there is nothing but records.

    Only holders in the `default` tenant can be admitted to other tenants.
    """

    def __init__(
        self,
        directory: Directory,
        store: RecordStore,
        kinds: Collection[Kind[Any]],
        *,
        clock: Clock,
        default: TenantId = _DEFAULT,
        has_engine: bool = False,
    ) -> None:
        self._default = default
        self._directory = directory
        self._store = store
        self._tenants = store.of(TENANTS)
        self._kinds = kinds
        self._clock = clock
        self._has_engine = has_engine

    async def run(self) -> None:
        """Remove deleted tenants until cancelled."""
        while True:
            await asyncio.sleep(PASS_SECONDS)
            try:
                await self.finish()
            except Unavailable:
                logger.warning("the store is not available; records of deleted tenants are removed later")

    async def finish(self) -> None:
        """Remove the remaining records of tenants that were deleted a while ago; raises Unavailable.

        Without an engine this ends the removal, with one its reports do.
        """
        for known in self._directory.deleted:
            # Another process may have removed the tenant, and an administrator may have created it again.
            record = await self._tenants.get(DEPLOYMENT, known.id)
            if record is None or record.deleted_at is None:
                continue
            with suppress(Changed):
                await self._go_on(record)

    async def _go_on(self, record: TenantRecord) -> None:
        if record.removal is RemovalPhase.NONE:
            # A process of an earlier version has deleted the tenant.
            record = await self._tenants.replace(replace(record, removal=RemovalPhase.CLEARING))
        if self.is_settled(record):
            await self.remove_all_of(record.own_id)
            if not self._has_engine:
                await self._end(record)

    async def under_way(self) -> Sequence[TenantRecord]:
        """The tenants that are being removed, as they are stored now; raises Unavailable."""
        phases = (RemovalPhase.CLEARING, RemovalPhase.RELEASING)
        return [
            record for phase in phases for record in await self._tenants.find(DEPLOYMENT, "removal", phase)
        ]

    def is_settled(self, record: TenantRecord) -> bool:
        """Whether no process serves the deleted tenant any more."""
        return record.deleted_at is not None and record.deleted_at + SETTLED_AFTER <= self._clock.now()

    async def note(
        self, tenant_id: TenantId, number: int, phase: RemovalPhase, *, rows_left: int, is_done: bool
    ) -> None:
        """Go on with a removal after a report of the engine about this phase of it; raises Unavailable."""
        record = await self._tenants.get(DEPLOYMENT, tenant_id)
        if record is None or record.removal_number != number or record.removal is not phase:
            return
        with suppress(Changed):
            if is_done and self.is_settled(record):
                await self._advance(record)
            elif rows_left != record.rows_left:
                await self._tenants.replace(replace(record, rows_left=rows_left))

    async def _advance(self, record: TenantRecord) -> None:
        await self.remove_all_of(record.own_id)
        if record.removal is RemovalPhase.RELEASING:
            await self._end(record)
        else:
            await self._tenants.replace(replace(record, removal=RemovalPhase.RELEASING, rows_left=0))

    async def _end(self, record: TenantRecord) -> None:
        await self._tenants.take(DEPLOYMENT, record.id, revision=record.revision)

    async def remove_all_of(self, tenant_id: TenantId) -> None:
        """Remove all records of a tenant that is being removed; raises Unavailable."""
        condition = Condition(TENANTS, DEPLOYMENT, tenant_id, "removal")
        for kind in self._kinds:
            records = self._store.of(kind)
            is_full = True
            while is_full:
                is_full = await records.remove_some(tenant_id, most=_PAGE, condition=condition) == _PAGE
                # In memory no other work waits: other callers take their turn between two steps.
                await asyncio.sleep(0)
        await self._store.of(SIGN_IN_DOMAINS).remove(DEPLOYMENT, "owner", tenant_id, condition=condition)
        for members in (USERS, CLIENTS, GROUPS, ROLES, MAPPING_RULES):
            await self._dismiss(tenant_id, members)

    async def _dismiss(self, tenant_id: TenantId, kind: Kind[Any]) -> None:
        """Have no record of the default tenant admitted to the removed one; raises Unavailable."""
        holders = self._store.of(kind)
        admitted = QueryCondition(Field("tenant_ids", FieldType.TEXTS), Operator.EQ, tenant_id)
        query = Query((admitted,), (SortKey(Field("id", FieldType.TEXT)),), Window(limit=_PAGE))
        while found := await holders.matches(self._default, query):
            # The search came first: a successor's members are not found while the predecessor is there, and the
            # revisions found do not outlast its removal.
            record = await self._tenants.get(DEPLOYMENT, tenant_id)
            if record is None or record.removal is RemovalPhase.NONE:
                return
            await holders.replace_all([_without(each, tenant_id) for each in found])


def _without(holder: H, tenant_id: TenantId) -> H:
    """Return the holder without the tenant; a user or client with no other one is disabled.

    Without any tenant it would act in the tenant of its record, the default one.
    """
    rest = tuple(other for other in holder.tenant_ids if other != tenant_id)
    if rest or not isinstance(holder, User | Client):
        return replace(holder, tenant_ids=rest)
    return replace(holder, tenant_ids=rest, is_enabled=False)
