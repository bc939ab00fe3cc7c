"""An operation that changes a resource."""

from dataclasses import dataclass

from identity.people.provisioning.members import Budget


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """`kind` is Users or Groups; the id is empty for POST. `versions` are those that the caller expects, if any."""

    method: str
    kind: str
    resource_id: str
    document: bytes
    versions: tuple[str, ...] = ()
    budget: Budget
