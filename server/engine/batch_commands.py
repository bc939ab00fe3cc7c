"""Commands about batch operations."""

from dataclasses import dataclass

from server.engine.addresses import ANYWHERE, HERE, Address, OwnersOf
from server.engine.batch_operations import BatchAction, BatchItem
from server.engine.keys import Key
from server.engine.requesters import Requester


@dataclass(frozen=True, slots=True)
class CreateBatchOperation:
    """Create a batch operation; its items follow with `AddBatchItems`."""

    tenant_id: str
    action: BatchAction

    @property
    def address(self) -> Address:
        return ANYWHERE


@dataclass(frozen=True, slots=True)
class AddBatchItems:
    """Add the next items of a batch operation, in the order of their process instances and keys."""

    tenant_id: str
    batch_operation_key: Key
    items: tuple[BatchItem, ...]

    @property
    def address(self) -> Address:
        return OwnersOf((self.batch_operation_key,))


@dataclass(frozen=True, slots=True)
class StartBatchOperation:
    """Start a batch operation whose items are complete."""

    tenant_id: str
    batch_operation_key: Key

    @property
    def address(self) -> Address:
        return OwnersOf((self.batch_operation_key,))


@dataclass(frozen=True, slots=True)
class ContinueBatchOperation:
    """Sent by time: process the next items of a batch operation, or give up waiting for more items."""

    tenant_id: str
    batch_operation_key: Key

    @property
    def address(self) -> OwnersOf:
        return OwnersOf((self.batch_operation_key,))


@dataclass(frozen=True, slots=True)
class ProcessBatchItems:
    """The partition that leads a batch operation asks the partition of the items to process them."""

    tenant_id: str
    batch_operation_key: Key
    action: BatchAction
    requester: Requester
    items: tuple[BatchItem, ...]

    @property
    def address(self) -> Address:
        return OwnersOf(self.process_instance_keys)

    @property
    def process_instance_keys(self) -> tuple[Key, ...]:
        keys = (item.process_instance_key for item in self.items)
        return tuple(key for key in keys if key is not None)


@dataclass(frozen=True, slots=True)
class SettleBatchItems:
    """To the leading partition: the errors of the first items in hand, None for each item that succeeded."""

    tenant_id: str
    batch_operation_key: Key
    errors: tuple[str | None, ...]

    @property
    def address(self) -> Address:
        return HERE


@dataclass(frozen=True, slots=True)
class SuspendBatchOperation:
    tenant_id: str
    batch_operation_key: Key

    @property
    def address(self) -> Address:
        return OwnersOf((self.batch_operation_key,))


@dataclass(frozen=True, slots=True)
class ResumeBatchOperation:
    tenant_id: str
    batch_operation_key: Key

    @property
    def address(self) -> Address:
        return OwnersOf((self.batch_operation_key,))


@dataclass(frozen=True, slots=True)
class CancelBatchOperation:
    tenant_id: str
    batch_operation_key: Key

    @property
    def address(self) -> Address:
        return OwnersOf((self.batch_operation_key,))
