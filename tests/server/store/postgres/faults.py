"""Faults in the tables, by the name of the check that finds them."""

FIRST = "(SELECT min(key) FROM gnomon.document)"
ACTIVATED = "(SELECT min(job_key) FROM runtime.job WHERE state = 'RETRIES_UPDATED' AND retries = 7)"
JOB = "(SELECT min(job_key) FROM runtime.job)"
VARIABLE = "(SELECT min(variable_key) FROM runtime.variable)"

OWNED = "UPDATE gnomon.partition SET owner = 'node', address = 'a:1', expires_at = now() + interval '1 hour'"
ENDED_LONG_AGO = """
    UPDATE runtime.process_instance SET state = 'COMPLETED', end_date = now() - interval '1 hour'
    WHERE process_instance_key = {first}
"""
IN_ANOTHER_WEEK = """
    CREATE TEMPORARY TABLE again ON COMMIT DROP AS SELECT * FROM history.process_instance LIMIT 1;
    UPDATE again SET bucket = current_date;
    INSERT INTO history.process_instance SELECT * FROM again
"""
OF_ANOTHER_PARTITION = """
    UPDATE gnomon.document SET content = other.content FROM gnomon.document AS other
    WHERE gnomon.document.key = {first} AND other.partition_id = 2
"""
ALL_THE_SAME = """
    UPDATE gnomon.definition_document SET content = other.content
    FROM (SELECT content FROM gnomon.definition_document LIMIT 1) AS other
"""
MOVED_BY_HALF = """
    UPDATE runtime.process_instance SET state = 'COMPLETED';
    INSERT INTO history.process_instance SELECT date '2026-01-01', live.* FROM runtime.process_instance AS live
"""


def statement(fault: str) -> str:
    """With the keys that stand in it as names."""
    return fault.format(first=FIRST, activated=ACTIVATED, job=JOB, variable=VARIABLE)


FAULTS = {
    "partitions": ["UPDATE gnomon.partition SET partition_id = 3 WHERE partition_id = 2"],
    "partition-rows": [
        "UPDATE gnomon.document SET partition_id = 3 WHERE key = {first}",
        "UPDATE runtime.job SET partition_id = 0 WHERE job_key = {job}",
    ],
    "partition-keys": [
        "UPDATE runtime.job SET partition_id = 2 WHERE job_key = {job}",
        "UPDATE history.job SET partition_id = 1 WHERE partition_id = 2",
        "UPDATE history.audit_entry SET partition_id = 1 WHERE partition_id = 2",
    ],
    "last-keys": ["UPDATE gnomon.partition SET last_key = last_key - 32 WHERE partition_id = 2"],
    "unique-keys": ["UPDATE runtime.variable SET variable_key = {job} WHERE variable_key = {variable}"],
    "documents": [
        "UPDATE gnomon.document SET content = '\\x00' WHERE key = {first}",
        "UPDATE gnomon.document SET content = '\\x80' WHERE partition_id = 2",
        "UPDATE gnomon.document SET format = 9 WHERE key = {first}",
        "UPDATE gnomon.document SET page = 1 WHERE key = {first}",
        OF_ANOTHER_PARTITION,
    ],
    "instance-definitions": ["DELETE FROM gnomon.definition_document"],
    "document-rows": [
        "DELETE FROM runtime.process_instance WHERE process_instance_key = {first}",
        "UPDATE runtime.process_instance SET state = 'TERMINATED' WHERE process_instance_key = {first}",
    ],
    "row-documents": [
        "DELETE FROM gnomon.document WHERE key = {first}",
        "UPDATE gnomon.document SET page = 1 WHERE key = {first}",
    ],
    "process-instances": [
        "UPDATE runtime.process_instance SET has_incident = NOT has_incident WHERE process_instance_key = {first}",
        "UPDATE runtime.process_instance SET business_id = NULL WHERE process_instance_key = {first}",
        "UPDATE runtime.process_instance SET tenant_id = 'other' WHERE process_instance_key = {first}",
    ],
    "element-instances": [
        "UPDATE runtime.element_instance SET state = 'ACTIVE' WHERE process_instance_key = {first}",
        "UPDATE runtime.element_instance SET state = 'COMPLETED' WHERE process_instance_key = {first}",
        "UPDATE runtime.element_instance SET has_incident = true WHERE process_instance_key = {first}",
        "UPDATE runtime.element_instance SET incident_key = 7 WHERE process_instance_key = {first}",
        "UPDATE runtime.element_instance SET element_id = 'other' WHERE process_instance_key = {first}",
        "DELETE FROM runtime.element_instance WHERE process_instance_key = {first}",
    ],
    "jobs": [
        "UPDATE runtime.job SET retries = 8 WHERE job_key = {activated}",
        "UPDATE runtime.job SET state = 'FAILED' WHERE job_key = {activated}",
        "UPDATE runtime.job SET state = 'COMPLETED' WHERE job_key = {activated}",
        "UPDATE runtime.job SET worker = 'other' WHERE job_key = {activated}",
        "UPDATE runtime.job SET deadline = deadline + interval '1 second' WHERE job_key = {activated}",
        "UPDATE runtime.job SET deadline = NULL WHERE job_key = {activated}",
        "UPDATE runtime.job SET type = 'other' WHERE job_key = {activated}",
        "DELETE FROM runtime.job WHERE job_key = {activated}",
    ],
    "variables": [
        "UPDATE runtime.variable SET value = '1' WHERE variable_key = {variable}",
        "UPDATE runtime.variable SET name = 'other' WHERE variable_key = {variable}",
        "DELETE FROM runtime.variable WHERE variable_key = {variable}",
    ],
    "incidents": [
        "UPDATE runtime.incident SET state = 'ACTIVE'",
        "UPDATE runtime.incident SET state = 'RESOLVED'",
        "UPDATE runtime.incident SET job_key = NULL",
        "DELETE FROM runtime.incident",
    ],
    "user-tasks": [
        "UPDATE runtime.user_task SET assignee = NULL",
        "UPDATE runtime.user_task SET state = 'COMPLETED'",
        "DELETE FROM runtime.user_task",
        "UPDATE runtime.user_task SET form_key = 1",
    ],
    "message-subscriptions": [
        "UPDATE runtime.message_subscription SET correlation_key = NULL",
        "UPDATE runtime.message_subscription SET is_open = false",
        "DELETE FROM runtime.message_subscription",
    ],
    "active-counts": [
        "UPDATE gnomon.active_instances SET count = count + 1",
        "DELETE FROM gnomon.active_instances",
        "INSERT INTO gnomon.active_instances (partition_id, tenant_id, count) VALUES (1, 'other', 1)",
    ],
    "left-behind": ["DELETE FROM runtime.process_instance WHERE process_instance_key = {first}"],
    "moved": [f"{ENDED_LONG_AGO}; {OWNED}"],
    "moved-whole": [
        MOVED_BY_HALF,
        "INSERT INTO history.element_instance SELECT date '2026-01-01', live.* FROM runtime.element_instance AS live",
        "INSERT INTO history.job SELECT date '2026-01-01', live.* FROM runtime.job AS live",
        "INSERT INTO history.variable SELECT date '2026-01-01', live.* FROM runtime.variable AS live",
        "INSERT INTO history.incident SELECT date '2026-01-01', live.* FROM runtime.incident AS live",
    ],
    "moved-once": [IN_ANOTHER_WEEK],
    "arrivals": [
        "UPDATE history.arrivals SET arrived = arrived - 1",
        "UPDATE history.arrivals SET dropped = 1",
        "DELETE FROM history.arrivals",
        "INSERT INTO history.arrivals (partition_id, week, arrived) VALUES (1, date '1999-01-04', 1)",
        "DELETE FROM history.process_instance",
    ],
    "history-whole": [
        "DELETE FROM history.process_instance",
        "UPDATE history.job SET process_instance_key = 1",
    ],
    "history": [
        "UPDATE history.process_instance SET end_date = NULL",
        "UPDATE history.element_instance SET end_date = NULL",
        "UPDATE history.job SET end_time = NULL",
        "UPDATE history.incident SET state = 'ACTIVE'",
    ],
    "definitions": ["UPDATE gnomon.definition_document SET content = '\\x00'", ALL_THE_SAME],
    "definition-rows": [
        "DELETE FROM gnomon.definition_document",
        "DELETE FROM runtime.process_definition",
        "DELETE FROM runtime.decision_requirements",
        "DELETE FROM runtime.form",
        "DELETE FROM runtime.resource",
        "DELETE FROM runtime.cluster_variable",
        "DELETE FROM runtime.global_task_listener",
    ],
    "latest-versions": [
        "UPDATE runtime.process_definition SET is_latest_version = true",
        "UPDATE runtime.process_definition SET is_latest_version = false",
        "UPDATE runtime.process_definition SET is_latest_version = NOT is_latest_version",
        "UPDATE runtime.decision_definition SET is_latest_version = NOT is_latest_version",
        "UPDATE runtime.process_definition SET state = 'DELETED'",
        "UPDATE runtime.decision_definition SET is_deleted = true",
        "UPDATE runtime.form SET is_latest_version = NOT is_latest_version",
        "UPDATE runtime.form SET is_deleted = true",
        "UPDATE runtime.resource SET is_latest_version = NOT is_latest_version",
        "UPDATE runtime.resource SET is_deleted = true",
    ],
    "batch-operations": [
        "INSERT INTO gnomon.document (partition_id, kind, key, page, format, content) VALUES (1, 6, {first}, 0, 2, '')",
        """
        INSERT INTO runtime.batch_operation (
            partition_id, batch_operation_key, tenant_id, operation_type, state,
            operations_total_count, operations_failed_count, operations_completed_count
        ) VALUES (1, {first}, 'default', 'CANCEL_PROCESS_INSTANCE', 'SUSPENDED', 0, 0, 0)
        """,
    ],
    "outbox": ["UPDATE gnomon.outbox SET target = 9", "UPDATE gnomon.outbox SET source = target"],
    "outbox-numbers": ["UPDATE gnomon.outbox SET number = number + 4096 * 1000"],
    "outbox-commands": [
        "UPDATE gnomon.outbox SET command = '\\x00'",
        # The pair of a name that no command has and no fields.
        r"UPDATE gnomon.outbox SET command = '\x92a74e6f7468696e6780'",
    ],
    "outbox-progress": [OWNED],
    "audit-entries": [
        "UPDATE gnomon.partition SET position = position - 1",
        "UPDATE gnomon.identity_audit SET number = number - 1",
        "DELETE FROM gnomon.identity_audit",
    ],
    "answers": ["UPDATE gnomon.idempotency SET answer = '\\x00'"],
}
