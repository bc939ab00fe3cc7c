"""Evaluations of decisions leave when they are old, unless their process instance is there, and so do batch operations."""

from datetime import timedelta

import asyncpg
import pytest

from server.engine.keys import Key
from server.platform.postgres.pooled import PooledDatabase
from server.store.entities import BatchOperationItemState
from server.store.postgres.decided import forget_batch_operations, forget_decision_instances
from tests.server.store.durable import write
from tests.server.store.rows import (
    START,
    batch_operation,
    batch_operation_item,
    decision_instance,
    process_instance,
)


@pytest.mark.parametrize(("days", "left"), [(0, [2, 4, 6, 8]), (1, [4, 6]), (2, [6])])
async def test_old_evaluations_leave_but_those_of_process_instances_that_are_there(
    pool: asyncpg.Pool, days: int, left: list[int]
) -> None:
    await pool.execute("DELETE FROM runtime.decision_instance")
    await pool.execute("DELETE FROM runtime.process_instance")
    rows = [
        process_instance(9),
        decision_instance(2, evaluation_date=START),
        decision_instance(4, evaluation_date=START + timedelta(days=1)),
        decision_instance(6, evaluation_date=START, process_instance_key=Key(9)),
        decision_instance(8, evaluation_date=START, process_instance_key=Key(7)),
    ]
    await write(pool, rows)

    forgotten = await forget_decision_instances(PooledDatabase(pool), START + timedelta(days=days))

    text = "SELECT decision_instance_key FROM gnomon.decision_instance ORDER BY 1"
    assert [row[0] for row in await pool.fetch(text)] == left
    assert forgotten == 4 - len(left)


async def test_batch_operations_that_ended_leave_with_their_items(pool: asyncpg.Pool) -> None:
    """Items that are still being dropped keep theirs."""
    await pool.execute("DELETE FROM runtime.batch_operation_item")
    await pool.execute("DELETE FROM runtime.batch_operation")
    done = BatchOperationItemState.COMPLETED
    rows = [
        batch_operation(2, end_date=START),
        batch_operation_item(3, 2, state=done),
        batch_operation(4, end_date=START + timedelta(days=1)),
        batch_operation_item(5, 4, state=done),
        batch_operation(6),
        batch_operation(8, end_date=START),
        batch_operation_item(9, 8),
    ]
    await write(pool, rows)

    forgotten = await forget_batch_operations(PooledDatabase(pool), START + timedelta(days=1))

    assert forgotten == 2
    text = "SELECT batch_operation_key FROM gnomon.batch_operation ORDER BY 1"
    assert [row[0] for row in await pool.fetch(text)] == [4, 6, 8]
    text = "SELECT batch_operation_item_key FROM gnomon.batch_operation_item ORDER BY 1"
    assert [row[0] for row in await pool.fetch(text)] == [5, 9]
