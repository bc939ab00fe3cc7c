"""A mapping rule, which gives roles, groups and tenants to principals with a certain claim."""

from dataclasses import dataclass

from identity.directory.claims import Claims
from server.platform.call import TenantId
from server.platform.records import Kind, Record

MOST_RULES = 1000
"""Maximum in a tenant."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MappingRule(Record):
    """`id` is the mapping rule's id. A principal whose token has the claim gets the rights of the rule."""

    name: str
    claim_name: str
    claim_value: str
    roles: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    tenant_ids: tuple[TenantId, ...] = ()

    @property
    def condition(self) -> tuple[str, str]:
        return self.claim_name, self.claim_value

    def is_met_by(self, claims: Claims) -> bool:
        return self.claim_value in claims.get(self.claim_name, ())


MAPPING_RULES = Kind(MappingRule, "mapping_rule", owners=())
