"""Commands about global task listeners."""

from dataclasses import dataclass

from server.engine.addresses import FIRST, HERE, Address
from server.engine.global_task_listener_events import GlobalTaskListenerSet


@dataclass(frozen=True, slots=True)
class CreateGlobalTaskListener:
    """Create a task listener for every native user task of the tenant.

    `event_types` are spelled as in models, or `all`.
    """

    tenant_id: str
    id: str
    type: str
    event_types: tuple[str, ...]
    retries: int = 3
    after_non_global: bool = False
    priority: int = 50

    @property
    def address(self) -> Address:
        return FIRST


@dataclass(frozen=True, slots=True)
class UpdateGlobalTaskListener:
    """Replace everything of a global task listener except its id."""

    tenant_id: str
    id: str
    type: str
    event_types: tuple[str, ...]
    retries: int = 3
    after_non_global: bool = False
    priority: int = 50

    @property
    def address(self) -> Address:
        return FIRST


@dataclass(frozen=True, slots=True)
class DeleteGlobalTaskListener:
    tenant_id: str
    id: str

    @property
    def address(self) -> Address:
        return FIRST


@dataclass(frozen=True, slots=True)
class AdoptGlobalTaskListener:
    """Set a global task listener that another partition set."""

    tenant_id: str
    listener: GlobalTaskListenerSet

    @property
    def address(self) -> Address:
        return HERE


@dataclass(frozen=True, slots=True)
class AdoptGlobalTaskListenerDeletion:
    """Delete a global task listener that another partition deleted."""

    tenant_id: str
    listener: GlobalTaskListenerSet

    @property
    def address(self) -> Address:
        return HERE
