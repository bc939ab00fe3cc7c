"""Deletes old decision instances whose process instance is gone, and old batch operations."""

from datetime import datetime

from server.platform.postgres.database import Database

FORGOTTEN_AT_ONCE = 10_000


async def forget_decision_instances(database: Database, before: datetime) -> int:
    """Delete decision instances evaluated before the given time; returns their number. Raises Unavailable."""
    text = """
        WITH old AS (
            SELECT partition_id, decision_instance_key FROM runtime.decision_instance AS decided
            WHERE evaluation_date < $1 AND NOT EXISTS (
                SELECT FROM gnomon.process_instance AS whole
                WHERE whole.tenant_id = decided.tenant_id
                    AND whole.process_instance_key = decided.process_instance_key
            ) LIMIT $2
        ), forgotten AS (
            DELETE FROM runtime.decision_instance AS instance USING old
            WHERE (instance.partition_id, instance.decision_instance_key)
                = (old.partition_id, old.decision_instance_key)
            RETURNING 1
        )
        SELECT count(*) FROM forgotten
    """
    return await _forgotten(database, text, before)


async def forget_batch_operations(database: Database, before: datetime) -> int:
    """Delete batch operations that ended before the given time, items first; returns the number of deleted rows.

    Raises Unavailable.
    """
    items = """
        WITH old AS (
            SELECT item.partition_id, item.batch_operation_item_key
            FROM runtime.batch_operation_item AS item JOIN runtime.batch_operation AS whole
                USING (partition_id, tenant_id, batch_operation_key)
            WHERE whole.end_date < $1 AND item.state <> 'ACTIVE' LIMIT $2
        ), forgotten AS (
            DELETE FROM runtime.batch_operation_item AS item USING old
            WHERE (item.partition_id, item.batch_operation_item_key)
                = (old.partition_id, old.batch_operation_item_key)
            RETURNING 1
        )
        SELECT count(*) FROM forgotten
    """
    operations = """
        WITH old AS (
            SELECT partition_id, batch_operation_key FROM runtime.batch_operation AS whole
            WHERE end_date < $1 AND NOT EXISTS (
                SELECT FROM runtime.batch_operation_item AS item
                WHERE item.tenant_id = whole.tenant_id AND item.batch_operation_key = whole.batch_operation_key
            ) LIMIT $2
        ), forgotten AS (
            DELETE FROM runtime.batch_operation AS whole USING old
            WHERE (whole.partition_id, whole.batch_operation_key)
                = (old.partition_id, old.batch_operation_key)
            RETURNING 1
        )
        SELECT count(*) FROM forgotten
    """
    forgotten = await _forgotten(database, items, before)
    return forgotten + await _forgotten(database, operations, before)


async def _forgotten(database: Database, text: str, before: datetime) -> int:
    forgotten = 0
    while some := (await database.fetch(text, before, FORGOTTEN_AT_ONCE))[0][0]:
        forgotten += some
    return forgotten
