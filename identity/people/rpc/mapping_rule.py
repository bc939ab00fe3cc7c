"""MappingRuleService."""

from gnomon.identity.v1 import mapping_rule_pb2 as entity_pb
from gnomon.identity.v1 import mapping_rule_service_pb2 as pb
from identity.access.rpc.operations import Operations, named
from identity.access.rpc.process_api_caller import ProcessApiCallers
from identity.access.rpc.records import message_of
from identity.access.rpc.searches import StoredSearch
from identity.directory.mapping_rule import MappingRule
from identity.people.mapping_rules import MappingRules
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
        super().__init__(
            api_callers,
            {
                pb.CreateMappingRuleRequest: named(rules.add, rule_id="mapping_rule_id"),
                pb.SearchMappingRulesRequest: MAPPING_RULE_LISTING.over(rules.search),
                pb.GetMappingRuleRequest: named(rules.get, rule_id="mapping_rule_id"),
                pb.UpdateMappingRuleRequest: named(rules.change, rule_id="mapping_rule_id"),
                pb.DeleteMappingRuleRequest: named(rules.remove, rule_id="mapping_rule_id"),
            },
            names=_NAMES,
        )


def _message(rule: MappingRule) -> entity_pb.MappingRule:
    return message_of(entity_pb.MappingRule, rule, _NAMES)


MAPPING_RULE_LISTING = StoredSearch(_SEARCHABLE, _message)
