"""A mapping rule, which gives roles, groups and tenants to principals with a certain claim."""

from dataclasses import dataclass

from identity.directory.claims import Claims
from server.platform.call import TenantId
from server.platform.records import Kind, Record


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

    @property
    def claim(self) -> str:
        return claim_text(self.claim_name, self.claim_value)

    def is_met_by(self, claims: Claims) -> bool:
        return self.claim_value in claims.get(self.claim_name, ())


def claim_text(name: str, value: str) -> str:
    """Return the text by which a rule is found from a claim; different claims may have the same.

    The database derives the same text, and no text of it has NUL: migration 0068.
    """
    return f"{name}={value}".replace("\0", "\ufffd")


MAPPING_RULES = Kind(
    MappingRule,
    "mapping_rule",
    derived=("name", "claim_name", "claim_value", "claim", "roles", "groups", "tenant_ids"),
    owners=(),
)
