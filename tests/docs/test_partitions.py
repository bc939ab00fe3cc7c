"""The page about partitions names what the tables of states have."""

from pathlib import Path

import pytest

from server.partition.lifecycle import PartitionState
from server.partition.ownership import Move, Ownership

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "partitions.md").read_text()


@pytest.mark.parametrize("state", [*PartitionState, *Ownership])
def test_every_state_has_a_row(state: str) -> None:
    assert any(line.startswith((f"| {state} |", f"| {state}:")) for line in PAGE.splitlines())


@pytest.mark.parametrize("move", [Move.TAKE, Move.HAND_OVER, Move.LOSE, Move.END])
def test_every_move_of_a_node_has_a_row(move: str) -> None:
    assert f"| {move.lower().replace('_', ' ')} |" in PAGE
