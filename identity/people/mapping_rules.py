"""The mapping rules of a tenant."""

from dataclasses import asdict, dataclass, replace

from identity.access.administrators import Administrators
from identity.access.callers import Actor
from identity.directory.mapping_rule import MappingRule
from identity.directory.owned_authorizations import OwnedAuthorizations
from identity.directory.version import DirectoryVersion
from identity.foundation.events.events import Events
from identity.foundation.events.kinds import EventType
from identity.foundation.record_changes import rewritten
from identity.foundation.tenants import Tenant
from server.platform.audit import AuditNote
from server.platform.errors import AlreadyExists, NotFound
from server.platform.query import Page, Query
from server.platform.records import AlreadyThere, Records


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleDraft:
    name: str
    claim_name: str
    claim_value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MappingRules:
    records: Records[MappingRule]
    authorizations: OwnedAuthorizations
    administrators: Administrators
    version: DirectoryVersion
    events: Events

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
        """Raises AlreadyExists."""
        rule = MappingRule(tenant_id=tenant.tenant_id, id=rule_id, **asdict(draft))
        try:
            kept = await self.records.insert(rule, note=note)
        except AlreadyThere as error:
            raise AlreadyExists("there is a mapping rule with this id") from error
        await self._tell(tenant, EventType.CREATED, kept.id, actor)
        return kept

    async def change(
        self, tenant: Tenant, rule_id: str, draft: RuleDraft, actor: Actor, *, note: AuditNote
    ) -> MappingRule:
        """Replace the name and the condition of a rule.

        Raises NotFound, Unavailable, and PermissionDenied for a new condition of a rule that gives what the caller lacks.
        """
        present = await self.get(tenant, rule_id)
        if (present.claim_name, present.claim_value) != (draft.claim_name, draft.claim_value):
            await self.administrators.expect_may_redirect(present, actor)
        kept = await rewritten(
            self.records,
            lambda: self.get(tenant, rule_id),
            lambda rule: replace(rule, **asdict(draft)),
            note=note,
        )
        await self._tell(tenant, EventType.CHANGED, kept.id, actor)
        return kept

    async def remove(self, tenant: Tenant, rule_id: str, actor: Actor, note: AuditNote) -> None:
        """Raises NotFound."""
        taken = await self.records.take(tenant.tenant_id, rule_id, note=note)
        if taken is None:
            raise NotFound("there is no such mapping rule")
        await self.authorizations.remove_of(taken)
        await self._tell(tenant, EventType.DELETED, rule_id, actor)

    async def _tell(self, tenant: Tenant, event_type: EventType, rule_id: str, actor: Actor) -> None:
        await self.version.advance()
        await self.events.emit(tenant.tenant_id, event_type, text=f"mapping rule {rule_id}", actor=actor)
