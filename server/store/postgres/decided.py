"""Old decision instances leave, unless the process instance that they belong to is still there."""

from datetime import datetime

from server.platform.postgres.database import Database

FORGOTTEN_AT_ONCE = 10_000


async def forget_decision_instances(database: Database, before: datetime) -> int:
    """Drop those that were evaluated before, and say how many they were. Raises Unavailable."""
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
    forgotten = 0
    while some := (await database.fetch(text, before, FORGOTTEN_AT_ONCE))[0][0]:
        forgotten += some
    return forgotten
