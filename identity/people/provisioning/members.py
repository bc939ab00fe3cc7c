"""Members of groups: the changes by PATCH and PUT, and the limit of users that one request may write."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from identity.people.provisioning import filters
from identity.people.provisioning.attributes import GROUP
from identity.people.provisioning.documents import texts, value_of
from identity.people.provisioning.filters import All, Any, Compare, Comparison, Filter
from identity.people.provisioning.patches import Change, Verb
from identity.people.provisioning.refusals import ScimType, refusal

_MEMBERS = next(attribute for attribute in GROUP.attributes if attribute.name == "members")

MOST_WRITTEN = 1000
"""Maximum of users whose records one request may write."""


@dataclass(slots=True)
class Budget:
    """Users that a request may still write."""

    left: int = MOST_WRITTEN

    def spend(self, users: int) -> None:
        """Raises InvalidArgument with `tooMany`."""
        if users > self.left:
            raise refusal(ScimType.TOO_MANY, f"members: expected at most {MOST_WRITTEN} changes in a request")
        self.left -= users


@dataclass(slots=True)
class MemberChanges:
    """Ids of users who join and leave; with `is_cleared` all others leave, too."""

    is_cleared: bool = False
    joins: dict[str, None] = field(default_factory=dict)
    leaves: dict[str, None] = field(default_factory=dict)

    def join(self, ids: Iterable[str]) -> None:
        for user_id in ids:
            self.leaves.pop(user_id, None)
            self.joins[user_id] = None

    def leave(self, ids: Iterable[str]) -> None:
        for user_id in ids:
            self.joins.pop(user_id, None)
            self.leaves[user_id] = None

    def clear(self) -> None:
        self.is_cleared = True
        self.joins.clear()
        self.leaves.clear()


def is_of_members(change: Change) -> bool:
    return change.target.attribute is not None and change.target.attribute.name == "members"


def member_changes(changes: Sequence[Change]) -> MemberChanges:
    """Return the membership changes of the operations; raises InvalidArgument."""
    found = MemberChanges()
    for change in filter(is_of_members, changes):
        _add(found, change)
    return found


def replaced(members: object) -> MemberChanges:
    """Return the change to exactly these members."""
    found = MemberChanges(is_cleared=True)
    found.join(ids_of(members))
    return found


def ids_of(members: object) -> list[str]:
    """Return the ids of the values; raises InvalidArgument for a value without one."""
    ids = [each.get("value") for each in texts(members)]
    if not all(isinstance(user_id, str) and user_id for user_id in ids):
        raise refusal(ScimType.INVALID_VALUE, "members: expected the id of a user as value")
    return list(map(str, ids))


def _add(found: MemberChanges, change: Change) -> None:
    condition = change.target.condition
    given = ids_of(value_of(_MEMBERS, change.value)) if change.target.part is None else []
    match change.verb:
        case Verb.REMOVE if condition is not None:
            found.leave(_named(condition))
        case Verb.REMOVE if given:
            # Entra ID names the members instead of a filter.
            found.leave(given)
        case Verb.REMOVE:
            found.clear()
        case _ if condition is not None or change.target.part is not None:
            raise refusal(ScimType.MUTABILITY, "members: a value is added or removed as a whole")
        case Verb.REPLACE:
            found.clear()
            found.join(given)
        case Verb.ADD:
            found.join(given)


def _named(condition: Filter) -> list[str]:
    """Return the ids in a filter of equalities: other filters would read all members."""
    match condition:
        case Compare(path="value", comparison=Comparison.EQ, value=str(user_id)):
            return [user_id]
        case Any():
            return [user_id for operand in condition.operands for user_id in _named(operand)]
        case _:
            raise refusal(ScimType.INVALID_FILTER, 'members: expected filters like members[value eq "id"]')


def members_in(condition: Filter, below: str = "") -> list[str]:
    """Return the ids of users that a filter on groups names; raises InvalidArgument for other filters on members."""
    match condition:
        case Compare():
            path = f"{below}{condition.path}"
            if path not in {"members", "members.value"}:
                return []
            if condition.comparison is not Comparison.EQ or not isinstance(condition.value, str):
                raise refusal(ScimType.INVALID_FILTER, "filter: expected eq and the id of a user for members")
            return [condition.value]
        case filters.Among():
            return members_in(condition.condition, f"{condition.path}.")
        case filters.Not():
            return members_in(condition.operand, below)
        case All() | Any():
            return [user_id for operand in condition.operands for user_id in members_in(operand, below)]
