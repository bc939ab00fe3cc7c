"""The mapping rules of a tenant."""

from dataclasses import asdict, dataclass, replace

from identity.access.administrators import Administrators
from identity.access.callers import Actor
from identity.directory.mapping_rule import MAPPING_RULES, MappingRule
from identity.directory.version import DirectoryVersion
from identity.foundation.events.events import Events
from identity.foundation.events.kinds import EventType
from identity.foundation.record_changes import rewritten
from identity.foundation.removals import Removals
from identity.foundation.tenants import Tenant
from server.platform.audit import AuditNote
from server.platform.call import TenantId
from server.platform.errors import AlreadyExists, InvalidState, NotFound
from server.platform.query import Page, Query
from server.platform.records import AlreadyThere, Changed, Records


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleDraft:
    name: str
    claim_name: str
    claim_value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MappingRules:
    records: Records[MappingRule]
    removals: Removals
    administrators: Administrators
    version: DirectoryVersion
    events: Events

    def __post_init__(self) -> None:
        self.removals.succeed(MAPPING_RULES, self._is_known)

    async def search(self, tenant: Tenant, query: Query) -> Page[MappingRule]:
        return await self.records.search(tenant.tenant_id, query)

    async def get(self, tenant: Tenant, rule_id: str) -> MappingRule:
        """Raises NotFound."""
        rule = await self.records.get(tenant.tenant_id, rule_id)
        if rule is None:
            raise NotFound("there is no such mapping rule")
        return rule

    async def add(
        self, tenant: Tenant, rule_id: str, draft: RuleDraft, actor: Actor, *, note: AuditNote
    ) -> MappingRule:
        """Raises AlreadyExists, and InvalidState when an earlier rule of the id is being removed."""
        rule = MappingRule(tenant_id=tenant.tenant_id, id=rule_id, **asdict(draft))
        await self.removals.finish(tenant.tenant_id, MAPPING_RULES, rule_id)
        try:
            kept = await self.records.insert(rule, note=note)
        except AlreadyThere as error:
            raise AlreadyExists("there is a mapping rule with this id") from error
        try:
            await self.removals.finish(tenant.tenant_id, MAPPING_RULES, rule_id)
        except InvalidState:
            await self.removals.take(MAPPING_RULES, kept, name=rule_id)
            raise
        await self._tell(tenant, EventType.CREATED, kept.id, actor)
        return kept

    async def change(
        self, tenant: Tenant, rule_id: str, draft: RuleDraft, actor: Actor, *, note: AuditNote
    ) -> MappingRule:
        """Replace the name and the condition of a rule.

        Raises NotFound, InvalidState, Unavailable, and PermissionDenied for a new condition of a rule that gives what
        the caller lacks.
        """
        kept = await rewritten(
            self.records,
            lambda: self.get(tenant, rule_id),
            lambda rule: replace(rule, **asdict(draft)),
            note=note,
            guard=lambda before, after: self.administrators.guard(before, after, actor),
        )
        await self._tell(tenant, EventType.CHANGED, kept.id, actor)
        return kept

    async def remove(self, tenant: Tenant, rule_id: str, actor: Actor, note: AuditNote) -> None:
        """Raises NotFound, InvalidState, and PermissionDenied for a rule that gives what the caller lacks."""
        rule = await self.get(tenant, rule_id)
        guard = await self.administrators.guard(rule, None, actor)
        try:
            await self.removals.take(
                MAPPING_RULES, rule, name=rule_id, revision=rule.revision, note=note, guard=guard
            )
        except Changed as error:
            raise InvalidState("another caller changed the mapping rule in the meantime") from error
        await self._tell(tenant, EventType.DELETED, rule_id, actor)

    async def _is_known(self, tenant_id: TenantId, rule_id: str) -> bool:
        return await self.records.get(tenant_id, rule_id) is not None

    async def _tell(self, tenant: Tenant, event_type: EventType, rule_id: str, actor: Actor) -> None:
        await self.version.advance()
        await self.events.emit(tenant.tenant_id, event_type, text=f"mapping rule {rule_id}", actor=actor)
