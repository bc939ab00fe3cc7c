"""The two tables of states, move by move: what is not written there is a fault."""

from enum import StrEnum

import pytest

from server.partition import lifecycle, ownership
from server.partition.lifecycle import ALLOWED, REASONS, Lifecycle, Operation, PartitionState
from server.partition.ownership import Ownership
from server.partition.transitions import IllegalMove, Machine, Table
from server.platform.errors import Unavailable
from server.store.ports import PartitionId

P, O = PartitionState, Ownership  # noqa: E741  # as short as a table needs

# For each state what OPEN, SUSPEND, RESUME, DRAIN, STOP, CLOSE and FAIL lead to; None is a fault.
PARTITION: dict[PartitionState, tuple[PartitionState | None, ...]] = {
    P.STARTING: (P.OPEN, None, None, P.STOPPING, P.STOPPING, None, P.FAILED),
    P.OPEN: (None, P.SUSPENDED, None, P.DRAINING, P.STOPPING, None, P.FAILED),
    P.SUSPENDED: (None, P.SUSPENDED, P.OPEN, P.DRAINING_SUSPENDED, P.STOPPING, None, P.FAILED),
    P.DRAINING: (None, P.DRAINING_SUSPENDED, None, P.DRAINING, P.STOPPING, None, P.FAILED),
    P.DRAINING_SUSPENDED: (
        None,
        P.DRAINING_SUSPENDED,
        P.DRAINING,
        P.DRAINING_SUSPENDED,
        P.STOPPING,
        None,
        P.FAILED,
    ),
    P.STOPPING: (P.STOPPING, P.STOPPING, None, P.STOPPING, P.STOPPING, P.CLOSED, P.FAILED),
    P.CLOSED: (None, None, None, P.CLOSED, P.CLOSED, None, None),
    P.FAILED: (None, None, None, P.FAILED, P.FAILED, None, None),
}

# For each state what TAKE, OPEN, SERVE, HAND_OVER, LOSE and END lead to.
OWNERSHIP: dict[Ownership, tuple[Ownership | None, ...]] = {
    O.UNOWNED: (O.ACQUIRED, None, None, None, None, None),
    O.ACQUIRED: (None, O.RECOVERING, None, O.HANDING_OVER, O.LOST, O.UNOWNED),
    O.RECOVERING: (None, None, O.SERVING, O.HANDING_OVER, O.LOST, O.UNOWNED),
    O.SERVING: (None, None, None, O.HANDING_OVER, O.LOST, O.UNOWNED),
    O.HANDING_OVER: (None, None, None, O.HANDING_OVER, O.LOST, O.UNOWNED),
    O.LOST: (None, None, None, O.LOST, O.LOST, O.UNOWNED),
}

MOVES = [
    pytest.param(table, state, move, following, id=f"{state}-{move}")
    for table, moves, expected in (
        (lifecycle.TRANSITIONS, lifecycle.Move, PARTITION),
        (ownership.TRANSITIONS, ownership.Move, OWNERSHIP),
    )
    for state, row in expected.items()
    for move, following in zip(moves, row, strict=True)
]


@pytest.mark.parametrize(("table", "state", "move", "following"), MOVES)
def test_a_move_leads_where_the_table_says_or_is_a_fault(
    table: Table[StrEnum, StrEnum], state: StrEnum, move: StrEnum, following: StrEnum | None
) -> None:
    machine = Machine("it", state, table)

    if following is None:
        with pytest.raises(IllegalMove, match=f"it: {move} in state {state}"):
            machine.move(move)
    else:
        machine.move(move)

    assert (following or state) is machine.state


def test_every_state_of_a_partition_has_its_row_everywhere() -> None:
    assert set(PartitionState) == lifecycle.TRANSITIONS.keys() == ALLOWED.keys() == REASONS.keys()


def test_every_state_of_ownership_has_its_row() -> None:
    assert set(Ownership) == ownership.TRANSITIONS.keys()


# The moves that lead to each state from STARTING.
WAYS: dict[PartitionState, tuple[lifecycle.Move, ...]] = {
    P.STARTING: (),
    P.OPEN: (lifecycle.Move.OPEN,),
    P.SUSPENDED: (lifecycle.Move.OPEN, lifecycle.Move.SUSPEND),
    P.DRAINING: (lifecycle.Move.OPEN, lifecycle.Move.DRAIN),
    P.DRAINING_SUSPENDED: (lifecycle.Move.OPEN, lifecycle.Move.SUSPEND, lifecycle.Move.DRAIN),
    P.STOPPING: (lifecycle.Move.OPEN, lifecycle.Move.STOP),
    P.CLOSED: (lifecycle.Move.OPEN, lifecycle.Move.STOP, lifecycle.Move.CLOSE),
    P.FAILED: (lifecycle.Move.OPEN, lifecycle.Move.FAIL),
}


@pytest.mark.parametrize("operation", Operation)
@pytest.mark.parametrize("state", PartitionState)
def test_an_operation_is_allowed_or_refused_with_the_reason_of_the_state(
    state: PartitionState, operation: Operation
) -> None:
    found = Lifecycle(PartitionId(3))
    for move in WAYS[state]:
        found.move(move)
    assert found.state is state

    if operation in ALLOWED[state]:
        found.expect(operation)
    else:
        with pytest.raises(Unavailable) as refusal:
            found.expect(operation)
        assert refusal.value.detail == f"partition 3 is not serving: {REASONS[state]}"
        assert refusal.value.is_untouched
