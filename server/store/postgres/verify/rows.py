"""Statements that find rows whose related rows are missing."""

from server.engine.pages import HEAD_PAGE, Kind
from server.store.entities import AuditEntry, ProcessInstance
from server.store.postgres.clauses import PLACE_BITS
from server.store.postgres.columns import BUCKETED, TABLES
from server.store.postgres.verify.keys import LIVE

# Rows of ended process instances move to history within moments, if their partition has an owner.
MOVED_AFTER = "5 minutes"

_PARTS = {TABLES[part].name for part in BUCKETED - {ProcessInstance, AuditEntry}}

GAPS = """
    SELECT 'partition ' || number FROM (SELECT max(partition_id)::integer AS most FROM gnomon.partition) AS highest,
        generate_series(1, most) AS number
    WHERE number NOT IN (SELECT partition_id FROM gnomon.partition)
    UNION ALL
    SELECT 'partition ' || partition_id FROM gnomon.partition WHERE partition_id < 1
"""

DOCUMENTS_WITHOUT_ROWS = f"""
    SELECT DISTINCT 'process instance ' || d.key FROM gnomon.stored_page AS d
    WHERE d.kind = {Kind.PROCESS_INSTANCE} AND NOT EXISTS (
        SELECT FROM runtime.process_instance AS i
        WHERE i.partition_id = d.partition_id AND i.process_instance_key = d.key AND i.state = 'ACTIVE'
    )
"""  # noqa: S608  # a constant of ours

ROWS_WITHOUT_DOCUMENTS = f"""
    SELECT 'process instance ' || i.process_instance_key FROM runtime.process_instance AS i
    WHERE i.state = 'ACTIVE' AND NOT EXISTS (
        SELECT FROM gnomon.stored_page AS d
        WHERE d.partition_id = i.partition_id AND d.kind = {Kind.PROCESS_INSTANCE}
            AND d.key = i.process_instance_key AND d.page = {HEAD_PAGE}
    )
"""  # noqa: S608  # constants of ours

NOT_MOVED = f"""
    SELECT 'process instance ' || process_instance_key FROM runtime.process_instance JOIN gnomon.partition
    USING (partition_id)
    WHERE state <> 'ACTIVE' AND end_date < now() - interval '{MOVED_AFTER}'
        AND owner IS NOT NULL AND expires_at >= now()
"""  # noqa: S608  # a constant of ours

LEFT_BEHIND = " UNION ALL ".join(
    f"""
    SELECT '{part.relation} ' || {part.key} FROM {part.relation} AS part
    WHERE part.process_instance_key IS NOT NULL AND NOT EXISTS (
        SELECT FROM runtime.process_instance AS whole
        WHERE whole.partition_id = part.partition_id AND whole.process_instance_key = part.process_instance_key
    )
    """  # noqa: S608  # names of our own
    for part in LIVE
    if part.relation.removeprefix("runtime.") in _PARTS
)

ENDED_TWICE = """
    SELECT 'process instance ' || process_instance_key FROM history.process_instance
    GROUP BY partition_id, process_instance_key HAVING count(*) > 1
"""

NOT_ARRIVED = """
    SELECT 'week of ' || coalesce(w.week, found.week) || ' in partition ' || coalesce(w.partition_id, found.partition_id)
    FROM (
        SELECT partition_id, date_trunc('week', bucket)::date AS week, count(*) AS count
        FROM history.process_instance GROUP BY 1, 2
    ) AS found FULL JOIN history.arrivals AS w ON w.partition_id = found.partition_id AND w.week = found.week
    WHERE coalesce(w.arrived - w.dropped, 0) <> coalesce(found.count, 0)
"""

NOT_ENDED = """
    SELECT 'history.process_instance ' || process_instance_key FROM history.process_instance
    WHERE state = 'ACTIVE' OR end_date IS NULL
    UNION ALL
    SELECT 'history.element_instance ' || element_instance_key FROM history.element_instance
    WHERE state = 'ACTIVE' OR end_date IS NULL
    UNION ALL
    SELECT 'history.job ' || job_key FROM history.job WHERE end_time IS NULL
    UNION ALL
    SELECT 'history.incident ' || incident_key FROM history.incident WHERE state = 'ACTIVE'
    UNION ALL
    SELECT 'history.user_task ' || user_task_key FROM history.user_task WHERE completion_date IS NULL
    UNION ALL
    SELECT 'history.message_subscription ' || message_subscription_key FROM history.message_subscription
    WHERE is_open
"""

WITHOUT_WHOLE = " UNION ALL ".join(
    f"""
    SELECT 'history.{name} ' || {name}_key FROM history.{name} AS part
    WHERE NOT EXISTS (
        SELECT FROM history.process_instance AS whole
        WHERE whole.partition_id = part.partition_id AND whole.process_instance_key = part.process_instance_key
    ) AND NOT EXISTS (
        SELECT FROM gnomon.history_deletion AS deletion
        WHERE deletion.partition_id = part.partition_id
            AND deletion.process_instance_key = part.process_instance_key
    )
    """  # noqa: S608  # names of our own
    for name in sorted(_PARTS)
)

DEFINITIONS_WITHOUT_ROWS = """
    SELECT 'definition ' || coalesce(d.process_definition_key, r.key)
    FROM gnomon.definition_document AS d
    FULL JOIN (
        SELECT partition_id, process_definition_key AS key FROM runtime.process_definition
        UNION ALL
        SELECT partition_id, decision_requirements_key FROM runtime.decision_requirements
        UNION ALL
        SELECT partition_id, form_key FROM runtime.form
        UNION ALL
        SELECT partition_id, resource_key FROM runtime.resource
        UNION ALL
        SELECT partition_id, cluster_variable_key FROM runtime.cluster_variable
        UNION ALL
        SELECT partition_id, global_task_listener_key FROM runtime.global_task_listener
    ) AS r ON r.partition_id = d.partition_id AND r.key = d.process_definition_key
    WHERE d.process_definition_key IS NULL OR r.key IS NULL
    UNION ALL
    SELECT 'decision definition ' || decision_definition_key FROM runtime.decision_definition AS d
    WHERE NOT EXISTS (
        SELECT FROM runtime.decision_requirements AS r
        WHERE r.partition_id = d.partition_id AND r.decision_requirements_key = d.decision_requirements_key
    )
"""

NOT_THE_LATEST = """
    SELECT 'process ' || process_definition_id || ' of tenant ' || tenant_id FROM runtime.process_definition
    WHERE state <> 'DELETED' OR is_latest_version
    GROUP BY tenant_id, process_definition_id
    HAVING count(*) FILTER (WHERE is_latest_version) <> 1 OR bool_or(state = 'DELETED')
        OR max(version) FILTER (WHERE is_latest_version) <> max(version)
    UNION ALL
    SELECT 'decision ' || decision_definition_id || ' of tenant ' || tenant_id FROM runtime.decision_definition
    WHERE NOT is_deleted OR is_latest_version
    GROUP BY tenant_id, decision_definition_id
    HAVING count(*) FILTER (WHERE is_latest_version) <> 1 OR bool_or(is_deleted)
        OR max(version) FILTER (WHERE is_latest_version) <> max(version)
    UNION ALL
    SELECT 'form ' || form_id || ' of tenant ' || tenant_id FROM runtime.form
    WHERE NOT is_deleted OR is_latest_version
    GROUP BY tenant_id, form_id
    HAVING count(*) FILTER (WHERE is_latest_version) <> 1 OR bool_or(is_deleted)
        OR max(version) FILTER (WHERE is_latest_version) <> max(version)
    UNION ALL
    SELECT 'resource ' || resource_id || ' of tenant ' || tenant_id FROM runtime.resource
    WHERE NOT is_deleted OR is_latest_version
    GROUP BY tenant_id, resource_id
    HAVING count(*) FILTER (WHERE is_latest_version) <> 1 OR bool_or(is_deleted)
        OR max(version) FILTER (WHERE is_latest_version) <> max(version)
"""

UNFINISHED_BATCHES = f"""
    SELECT 'batch operation ' || coalesce(d.key, r.batch_operation_key)
    FROM (SELECT partition_id, key FROM gnomon.stored_page WHERE kind = {Kind.BATCH_OPERATION}) AS d
    FULL JOIN runtime.batch_operation AS r ON r.partition_id = d.partition_id AND r.batch_operation_key = d.key
    WHERE r.batch_operation_key IS NULL OR (d.key IS NULL AND r.state IN ('CREATED', 'ACTIVE', 'SUSPENDED'))
"""  # noqa: S608  # a constant of ours

SENT_NOWHERE = """
    SELECT 'command ' || number || ' from ' || source || ' to ' || target FROM gnomon.outbox
    WHERE source = target OR source NOT IN (SELECT partition_id FROM gnomon.partition)
        OR target NOT IN (SELECT partition_id FROM gnomon.partition)
"""

SENT_LATER = f"""
    SELECT 'command ' || number || ' from ' || source || ' to ' || target FROM gnomon.outbox
    JOIN gnomon.partition ON partition_id = source WHERE number >> {PLACE_BITS} > position
"""  # noqa: S608  # a constant of ours
