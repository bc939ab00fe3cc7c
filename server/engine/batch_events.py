"""Events of batch operations.

`due` is when the batch operation goes on by itself, None when it does not.
"""

from datetime import datetime

import msgspec

from server.engine.batch_operations import BatchAction, BatchItem, BatchPage
from server.engine.events import Event
from server.engine.keys import Key
from server.engine.requesters import Requester


class BatchEvent(Event, frozen=True):
    """Something happened to a batch operation, in the partition that leads it."""

    key: Key
    tenant_id: str
    due: datetime | None


class BatchOperationCreated(BatchEvent, frozen=True):
    """It waits for its items until it is due."""

    action: BatchAction
    requester: Requester


class BatchItemsAdded(BatchEvent, frozen=True):
    """`total` counts all items by now."""

    action: BatchAction
    page: BatchPage
    total: int


class BatchOperationStarted(BatchEvent, frozen=True):
    """All of its items are collected."""


class BatchItemsTaken(BatchEvent, frozen=True):
    """A number of further items is being processed."""

    count: int


class BatchItemsSettled(BatchEvent, frozen=True):
    """The first of the items in hand were processed; the others are not in hand any more.

    `errors` say why they failed, None for those that did not; `first_key` is the key of the first one's row. The counts
    are those of the batch operation by now.
    """

    first_key: Key
    errors: tuple[str | None, ...]
    completed: int
    failed: int


class BatchItemsDropped(BatchEvent, frozen=True):
    """A number of further items is never processed; `first_key` is the key of the first one's row."""

    first_key: Key
    count: int


class BatchOperationSuspended(BatchEvent, frozen=True):
    """Items in hand come to their end."""


class BatchOperationResumed(BatchEvent, frozen=True):
    pass


class BatchOperationCanceled(BatchEvent, frozen=True):
    """Items in hand come to their end."""


class BatchOperationAbandoned(BatchEvent, frozen=True):
    """The rest of its items did not arrive in time."""

    error_message: str


class BatchOperationEnded(BatchEvent, frozen=True):
    """Nothing is left to do. It `is_completed` when no item was dropped."""

    is_completed: bool


class BatchOutcome(msgspec.Struct, frozen=True, gc=False):
    """Outcome of an item: done, or failed with an error. Its process definition key is the one before the operation."""

    item: BatchItem
    process_definition_key: Key | None
    error: str | None


class BatchItemsProcessed(Event, frozen=True):
    """In the partition of the process instances; changes nothing by itself."""

    batch_operation_key: Key
    tenant_id: str
    action: BatchAction
    requester: Requester
    outcomes: tuple[BatchOutcome, ...]
