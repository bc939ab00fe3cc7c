"""The states of a partition in its node, from its lease to its release, and the transitions between them.

UNOWNED ─ TAKE ─► ACQUIRED ─ OPEN ─► RECOVERING ─ SERVE ─► SERVING
                     │                   │                    │
                     ├───────────────────┴────────────────────┤
                HAND_OVER ─► HANDING_OVER                 LOSE ─► LOST
                     └──────── END ─► UNOWNED ◄─── END ───────┘

END leads to UNOWNED from every state of an owner: the partition was handed over, was lost, or failed. A partition is
handed over because another node lacks its share, or because this one stops; it is lost when another node has taken its
lease.
"""

import asyncio
from dataclasses import dataclass, field
from enum import StrEnum

from server.partition.local import LocalPartition
from server.partition.transitions import Machine, Table
from server.platform.errors import Unavailable
from server.store.postgres.leases import Lease


class Ownership(StrEnum):
    UNOWNED = "UNOWNED"
    ACQUIRED = "ACQUIRED"
    RECOVERING = "RECOVERING"
    SERVING = "SERVING"
    HANDING_OVER = "HANDING_OVER"
    LOST = "LOST"


class Move(StrEnum):
    TAKE = "TAKE"
    OPEN = "OPEN"
    SERVE = "SERVE"
    HAND_OVER = "HAND_OVER"
    LOSE = "LOSE"
    END = "END"


_S, _M = Ownership, Move

TRANSITIONS: Table[Ownership, Move] = {
    _S.UNOWNED: {_M.TAKE: _S.ACQUIRED},
    # A partition that is handed over or lost before its task runs: the task ends at once.
    _S.ACQUIRED: {
        _M.OPEN: _S.RECOVERING,
        _M.HAND_OVER: _S.HANDING_OVER,
        _M.LOSE: _S.LOST,
        _M.END: _S.UNOWNED,
    },
    _S.RECOVERING: {
        _M.SERVE: _S.SERVING,
        _M.HAND_OVER: _S.HANDING_OVER,
        _M.LOSE: _S.LOST,
        _M.END: _S.UNOWNED,
    },
    _S.SERVING: {_M.HAND_OVER: _S.HANDING_OVER, _M.LOSE: _S.LOST, _M.END: _S.UNOWNED},
    # A node with more than its share repeats the move at each survey.
    _S.HANDING_OVER: {_M.HAND_OVER: _S.HANDING_OVER, _M.LOSE: _S.LOST, _M.END: _S.UNOWNED},
    _S.LOST: {_M.HAND_OVER: _S.LOST, _M.LOSE: _S.LOST, _M.END: _S.UNOWNED},
}


@dataclass(slots=True, eq=False)
class OwnedPartition:
    """A partition of this process; `settled` is set when its recovery has succeeded or failed.

    `local` is set after its recovery. Its task calls `begin` first, so that a task that never ran is not
    cancelled.
    """

    lease: Lease
    machine: Machine[Ownership, Move] = field(init=False)
    settled: asyncio.Event = field(default_factory=asyncio.Event)
    local: LocalPartition | None = None
    task: asyncio.Task[None] | None = None

    def __post_init__(self) -> None:
        self.machine = Machine(f"partition {self.lease.partition_id}", Ownership.UNOWNED, TRANSITIONS)
        self.machine.move(Move.TAKE)

    @property
    def state(self) -> Ownership:
        return self.machine.state

    @property
    def is_open(self) -> bool:
        """Whether the partition accepts commands."""
        return self.local is not None and self.local.partition.is_open

    @property
    def is_given_up(self) -> bool:
        """Whether the partition is handed over before its recovery ends."""
        return self.state is Ownership.HANDING_OVER and self.local is None

    def begin(self) -> bool:
        """Start the recovery in the current task; returns False when the partition was given up already."""
        if self.state is not Ownership.ACQUIRED:
            return False
        self.machine.move(Move.OPEN)
        self.task = asyncio.current_task()
        return True

    def serve(self, local: LocalPartition) -> None:
        """Make the recovered partition available to callers."""
        self.machine.move(Move.SERVE)
        self.local = local
        self.settled.set()

    def served(self) -> LocalPartition:
        """The served partition; raises Unavailable before it is recovered."""
        if self.local is None:
            raise Unavailable.untouched(f"partition {self.lease.partition_id} is not served here")
        return self.local

    def hand_over(self) -> None:
        """Let the partition finish its accepted commands and stop; a recovery in progress is cancelled."""
        before = self.state
        self.machine.move(Move.HAND_OVER)
        if before is Ownership.RECOVERING:
            self._cancel()
        elif before is Ownership.SERVING and self.local is not None:
            self.local.partition.stop()

    def lose(self) -> None:
        """Cancel the task after another node took the lease, because nothing more can be committed."""
        self.machine.move(Move.LOSE)
        self._cancel()

    def end(self) -> None:
        self.machine.move(Move.END)
        self.settled.set()

    def _cancel(self) -> None:
        if self.task is not None:
            self.task.cancel()
