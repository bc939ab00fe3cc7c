"""MappingRuleService."""

from gnomon.identity.v1 import mapping_rule_pb2 as entity_pb
from gnomon.identity.v1 import mapping_rule_service_pb2 as pb
from identity.access.callers import Actor
from identity.access.rpc.operations import Operations, named
from identity.access.rpc.process_api_caller import ProcessApiCallers
from identity.access.rpc.records import message_of, record_of
from identity.access.rpc.searches import InMemorySearch
from identity.directory.mapping_rule import MappingRule
from identity.foundation.tenants import Tenant
from identity.people.mapping_rules import MappingRules
from server.platform.audit import AuditNote
from server.platform.query import Field, FieldType, Searchable

_NAMES = {"mapping_rule_id": "id"}
_ID = Field("id", FieldType.TEXT)
_SEARCHABLE = Searchable(
    MappingRule,
    key=_ID,
    fields={
        "mapping_rule_id": _ID,
        "name": Field("name", FieldType.TEXT),
        "claim_name": Field("claim_name", FieldType.TEXT),
        "claim_value": Field("claim_value", FieldType.TEXT),
    },
    derived={},
)


class MappingRuleServicer(Operations):
    def __init__(self, api_callers: ProcessApiCallers, rules: MappingRules) -> None:
        self._rules = rules
        super().__init__(
            api_callers,
            {
                pb.CreateMappingRuleRequest: self._create,
                pb.SearchMappingRulesRequest: MAPPING_RULE_LISTING.over(rules.all),
                pb.GetMappingRuleRequest: named(rules.get, rule_id="mapping_rule_id"),
                pb.UpdateMappingRuleRequest: self._update,
                pb.DeleteMappingRuleRequest: named(rules.remove, rule_id="mapping_rule_id"),
            },
            shows={MappingRule: _message},
        )

    async def _create(
        self, tenant: Tenant, request: pb.CreateMappingRuleRequest, actor: Actor, note: AuditNote
    ) -> MappingRule:
        return await self._rules.add(tenant, _wanted(tenant, request), actor, note)

    async def _update(
        self, tenant: Tenant, request: pb.UpdateMappingRuleRequest, actor: Actor, note: AuditNote
    ) -> MappingRule:
        return await self._rules.change(tenant, _wanted(tenant, request), actor, note)


def _wanted(
    tenant: Tenant, request: pb.CreateMappingRuleRequest | pb.UpdateMappingRuleRequest
) -> MappingRule:
    return record_of(MappingRule, request, _NAMES, tenant_id=tenant.tenant_id)


def _message(rule: MappingRule) -> entity_pb.MappingRule:
    return message_of(entity_pb.MappingRule, rule, _NAMES)


MAPPING_RULE_LISTING = InMemorySearch(_SEARCHABLE, _message)
