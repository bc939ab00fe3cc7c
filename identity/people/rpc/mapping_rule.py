"""MappingRuleService."""

from gnomon.identity.v1 import mapping_rule_pb2 as entity_pb
from gnomon.identity.v1 import mapping_rule_service_pb2 as pb
from identity.access.rpc.process_api_caller import ProcessApiCallers
from identity.access.rpc.records import message_of
from identity.access.rpc.searches import InMemorySearch
from identity.directory.mapping_rule import MappingRule
from identity.foundation.tenants import Tenant
from identity.people.mapping_rules import MappingRules
from server.platform.call import Call
from server.platform.query import Field, FieldType, Searchable

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


class MappingRuleServicer:
    def __init__(self, api_callers: ProcessApiCallers, rules: MappingRules) -> None:
        self._api_callers = api_callers
        self._rules = rules

    async def create_mapping_rule(
        self, request: pb.CreateMappingRuleRequest, call: Call
    ) -> pb.CreateMappingRuleResponse:
        tenant, actor = self._api_callers.tenant(call), await self._api_callers.actor(call)
        created = await self._rules.add(tenant, _wanted(tenant, request), actor, self._api_callers.note(call))
        return pb.CreateMappingRuleResponse(mapping_rule=_message(created))

    async def search_mapping_rules(
        self, request: pb.SearchMappingRulesRequest, call: Call
    ) -> pb.SearchMappingRulesResponse:
        rules = await self._rules.all(self._api_callers.tenant(call))
        return MAPPING_RULE_LISTING.answer(rules, request, pb.SearchMappingRulesResponse)

    async def get_mapping_rule(
        self, request: pb.GetMappingRuleRequest, call: Call
    ) -> pb.GetMappingRuleResponse:
        rule = await self._rules.get(self._api_callers.tenant(call), request.mapping_rule_id)
        return pb.GetMappingRuleResponse(mapping_rule=_message(rule))

    async def update_mapping_rule(
        self, request: pb.UpdateMappingRuleRequest, call: Call
    ) -> pb.UpdateMappingRuleResponse:
        tenant, actor = self._api_callers.tenant(call), await self._api_callers.actor(call)
        changed = await self._rules.change(
            tenant, _wanted(tenant, request), actor, self._api_callers.note(call)
        )
        return pb.UpdateMappingRuleResponse(mapping_rule=_message(changed))

    async def delete_mapping_rule(
        self, request: pb.DeleteMappingRuleRequest, call: Call
    ) -> pb.DeleteMappingRuleResponse:
        tenant, actor = self._api_callers.tenant(call), await self._api_callers.actor(call)
        await self._rules.remove(tenant, request.mapping_rule_id, actor, self._api_callers.note(call))
        return pb.DeleteMappingRuleResponse()


def _wanted(
    tenant: Tenant, request: pb.CreateMappingRuleRequest | pb.UpdateMappingRuleRequest
) -> MappingRule:
    return MappingRule(
        tenant_id=tenant.tenant_id,
        id=request.mapping_rule_id,
        name=request.name,
        claim_name=request.claim_name,
        claim_value=request.claim_value,
    )


def _message(rule: MappingRule) -> entity_pb.MappingRule:
    return message_of(entity_pb.MappingRule, rule, {"mapping_rule_id": "id"})


MAPPING_RULE_LISTING = InMemorySearch(_SEARCHABLE, _message)
