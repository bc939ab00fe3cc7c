"""Events of batch operations.

`due` is the time at which the batch operation continues by itself; None when it does not.
"""

from datetime import datetime

import msgspec

from server.engine.batch_operations import BatchAction, BatchItem, BatchPage
from server.engine.events import Event
from server.engine.keys import Key
from server.engine.requesters import Requester


class BatchEvent(Event, frozen=True):
    """An event of a batch operation, in the partition that leads the operation."""

    key: Key
    tenant_id: str
    due: datetime | None


class BatchOperationCreated(BatchEvent, frozen=True):
    """A batch operation was created. At `due` it gives up waiting for its items."""

    action: BatchAction
    requester: Requester


class BatchItemsAdded(BatchEvent, frozen=True):
    """A page of items was added; `total` is the number of all items so far."""

    action: BatchAction
    page: BatchPage
    total: int


class BatchOperationStarted(BatchEvent, frozen=True):
    """All items of the batch operation are collected, and processing starts."""


class BatchItemsTaken(BatchEvent, frozen=True):
    """The next `count` items are being processed."""

    count: int


class BatchItemsSettled(BatchEvent, frozen=True):
    """The first of the items in hand were processed; the others are no longer in hand.

    `errors` has the reason of each failed item, and None for each successful one. `first_key` is the key of
    the row of the first item. `completed` and `failed` are the totals of the batch operation.
    """

    first_key: Key
    errors: tuple[str | None, ...]
    completed: int
    failed: int


class BatchItemsDropped(BatchEvent, frozen=True):
    """The next `count` items will not be processed; `first_key` is the key of the row of the first item."""

    first_key: Key
    count: int


class BatchOperationSuspended(BatchEvent, frozen=True):
    """The batch operation was suspended. Items in hand are still processed."""


class BatchOperationResumed(BatchEvent, frozen=True):
    pass


class BatchOperationCanceled(BatchEvent, frozen=True):
    """The batch operation was canceled. Items in hand are still processed."""


class BatchOperationAbandoned(BatchEvent, frozen=True):
    """The remaining items of the batch operation did not arrive in time."""

    error_message: str


class BatchOperationEnded(BatchEvent, frozen=True):
    """No items are left. `is_completed` is true when no item was dropped."""

    is_completed: bool


class BatchOutcome(msgspec.Struct, frozen=True, gc=False):
    """The outcome of an item: an error, or None for success.

    `process_definition_key` is the one that the process instance had before the operation.
    """

    item: BatchItem
    process_definition_key: Key | None
    error: str | None


class BatchItemsProcessed(Event, frozen=True):
    """Items were processed in the partition of their process instances; the event changes nothing by itself."""

    batch_operation_key: Key
    tenant_id: str
    action: BatchAction
    requester: Requester
    outcomes: tuple[BatchOutcome, ...]
