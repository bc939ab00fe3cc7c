"""The states of a partition in this process, the transitions between them, and the allowed operations in each.

             ┌────────────── SUSPEND ─────────────► SUSPENDED ───────────┐
             │  ┌─────────── RESUME ───────────────────┘ │ DRAIN         │
             │  ▼                                        ▼               │ STOP
STARTING ─► OPEN ─── DRAIN ──► DRAINING ◄─ … ─► DRAINING_SUSPENDED ──────┤
    │         │                   │                                      ▼
    └─────────┴───────────────────┴──────────── STOP ─────────────► STOPPING ─► CLOSED

FAIL leads from every state but CLOSED to FAILED: a commit failed, the lease was lost, or the process ends.

`run` moves a partition from STARTING to OPEN and to CLOSED or FAILED. A late commit suspends it, and the end of that
commit resumes it. The server drains a partition before it stops, and the node stops one that it hands over.
"""

from collections.abc import Mapping
from enum import StrEnum

from server.partition.transitions import Machine, Table
from server.platform.errors import Unavailable
from server.store.ports import PartitionId


class PartitionState(StrEnum):
    STARTING = "STARTING"
    OPEN = "OPEN"
    SUSPENDED = "SUSPENDED"
    DRAINING = "DRAINING"
    DRAINING_SUSPENDED = "DRAINING_SUSPENDED"
    STOPPING = "STOPPING"
    CLOSED = "CLOSED"
    FAILED = "FAILED"


class Move(StrEnum):
    """OPEN: commands of other partitions were read; SUSPEND: a commit is late; RESUME: the late commit has ended."""

    OPEN = "OPEN"
    SUSPEND = "SUSPEND"
    RESUME = "RESUME"
    DRAIN = "DRAIN"
    STOP = "STOP"
    CLOSE = "CLOSE"
    FAIL = "FAIL"


class Operation(StrEnum):
    """COMMAND: submit, settle, catch up, note. WAIT: wait for a job or a completion in the future."""

    COMMAND = "COMMAND"
    WAIT = "WAIT"


_S, _M = PartitionState, Move

TRANSITIONS: Table[PartitionState, Move] = {
    # A partition that is drained before it has served any call does not open.
    _S.STARTING: {
        _M.OPEN: _S.OPEN,
        _M.DRAIN: _S.STOPPING,
        _M.STOP: _S.STOPPING,
        _M.FAIL: _S.FAILED,
    },
    _S.OPEN: {
        _M.SUSPEND: _S.SUSPENDED,
        _M.DRAIN: _S.DRAINING,
        _M.STOP: _S.STOPPING,
        _M.FAIL: _S.FAILED,
    },
    # The next commit may be late before the callers of the last one are answered.
    _S.SUSPENDED: {
        _M.SUSPEND: _S.SUSPENDED,
        _M.RESUME: _S.OPEN,
        _M.DRAIN: _S.DRAINING_SUSPENDED,
        _M.STOP: _S.STOPPING,
        _M.FAIL: _S.FAILED,
    },
    _S.DRAINING: {
        _M.SUSPEND: _S.DRAINING_SUSPENDED,
        _M.DRAIN: _S.DRAINING,
        _M.STOP: _S.STOPPING,
        _M.FAIL: _S.FAILED,
    },
    _S.DRAINING_SUSPENDED: {
        _M.SUSPEND: _S.DRAINING_SUSPENDED,
        _M.RESUME: _S.DRAINING,
        _M.DRAIN: _S.DRAINING_SUSPENDED,
        _M.STOP: _S.STOPPING,
        _M.FAIL: _S.FAILED,
    },
    # Accepted commands are still executed, and their commits may be late. OPEN: stopped while it started.
    _S.STOPPING: {
        _M.OPEN: _S.STOPPING,
        _M.SUSPEND: _S.STOPPING,
        _M.DRAIN: _S.STOPPING,
        _M.STOP: _S.STOPPING,
        _M.CLOSE: _S.CLOSED,
        _M.FAIL: _S.FAILED,
    },
    _S.CLOSED: {_M.DRAIN: _S.CLOSED, _M.STOP: _S.CLOSED},
    _S.FAILED: {_M.DRAIN: _S.FAILED, _M.STOP: _S.FAILED},
}

ALLOWED: Mapping[PartitionState, frozenset[Operation]] = {
    _S.STARTING: frozenset({Operation.WAIT}),
    _S.OPEN: frozenset({Operation.COMMAND, Operation.WAIT}),
    _S.SUSPENDED: frozenset({Operation.WAIT}),
    _S.DRAINING: frozenset({Operation.COMMAND}),
    _S.DRAINING_SUSPENDED: frozenset(),
    _S.STOPPING: frozenset(),
    _S.CLOSED: frozenset(),
    _S.FAILED: frozenset(),
}

# The reason for refusing an operation that the state does not allow.
REASONS: Mapping[PartitionState, str] = {
    _S.STARTING: "it is starting",
    _S.OPEN: "",
    _S.SUSPENDED: "a commit is late",
    _S.DRAINING: "it is about to stop",
    _S.DRAINING_SUSPENDED: "a commit is late",
    _S.STOPPING: "it is stopping",
    _S.CLOSED: "it has stopped",
    _S.FAILED: "it has failed",
}

_SUSPENDED = frozenset({_S.SUSPENDED, _S.DRAINING_SUSPENDED})
_DRAINED = frozenset({_S.DRAINING, _S.DRAINING_SUSPENDED, _S.STOPPING, _S.CLOSED})


class Lifecycle(Machine[PartitionState, Move]):
    """The current state of one partition."""

    def __init__(self, partition_id: PartitionId) -> None:
        super().__init__(f"partition {partition_id}", PartitionState.STARTING, TRANSITIONS)
        self._partition_id = partition_id

    @property
    def is_suspended(self) -> bool:
        return self.state in _SUSPENDED

    @property
    def is_draining(self) -> bool:
        """Whether the partition is stopping in an orderly way, or has done so."""
        return self.state in _DRAINED

    def allows(self, operation: Operation) -> bool:
        return operation in ALLOWED[self.state]

    def expect(self, operation: Operation) -> None:
        """Raises Unavailable for an operation that the state does not allow, before anything has happened."""
        if not self.allows(operation):
            raise Unavailable.untouched(
                f"partition {self._partition_id} is not serving: {REASONS[self.state]}"
            )
