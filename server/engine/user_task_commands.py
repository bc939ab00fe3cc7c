"""Commands about user tasks."""

from dataclasses import dataclass, field

from server.engine.addresses import Address, OwnersOf
from server.engine.keys import Key
from server.engine.user_task_changes import DateChange
from server.engine.variables import Variables


@dataclass(frozen=True, slots=True, kw_only=True)
class AssignUserTask:
    tenant_id: str
    user_task_key: Key
    assignee: str
    allow_override: bool = True
    action: str = "assign"

    @property
    def address(self) -> Address:
        return OwnersOf((self.user_task_key,))


@dataclass(frozen=True, slots=True)
class UnassignUserTask:
    tenant_id: str
    user_task_key: Key

    @property
    def address(self) -> Address:
        return OwnersOf((self.user_task_key,))


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateUserTask:
    """Update the values of a user task; None leaves a value as it is."""

    tenant_id: str
    user_task_key: Key
    candidate_groups: tuple[str, ...] | None = None
    candidate_users: tuple[str, ...] | None = None
    due_date: DateChange | None = None
    follow_up_date: DateChange | None = None
    priority: int | None = None
    action: str = "update"

    @property
    def address(self) -> Address:
        return OwnersOf((self.user_task_key,))


@dataclass(frozen=True, slots=True)
class CompleteUserTask:
    tenant_id: str
    user_task_key: Key
    variables: Variables = field(default_factory=dict)
    action: str = "complete"

    @property
    def address(self) -> Address:
        return OwnersOf((self.user_task_key,))
