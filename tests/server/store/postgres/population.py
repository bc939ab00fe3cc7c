"""Many rows, made by the server: what a deployment holds after a quarter of a year.

Sixteen partitions, 3 % of the instances live and the others in thirteen weeks of history; of every ten rows nine are
the tenant's that deployed first. Indexes are built over the rows, which is the same and faster.
"""

from collections.abc import Collection, Mapping
from datetime import UTC, datetime, timedelta
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from tempfile import TemporaryDirectory

from server.engine.keys import COUNTER_BITS, Key
from server.platform.postgres.migrations import migrate
from server.platform.postgres.pool import open_pool
from server.platform.postgres.pooled import PooledDatabase
from server.store.entities import (
    AuditEntry,
    BatchOperationItem,
    CorrelatedMessageSubscription,
    DecisionInstance,
    ElementInstance,
    Entity,
    Incident,
    Job,
    MessageSubscription,
    ProcessDefinition,
    ProcessInstance,
    UserTask,
    Variable,
)
from server.store.postgres.buckets import WEEK, Bucket, create_buckets
from server.store.postgres.columns import BUCKETED, TABLES

PARTITIONS = 16
WEEKS = 13
BEGIN = datetime(2026, 1, 5, tzinfo=UTC)
END = BEGIN + WEEKS * timedelta(days=7)
TENANT = "acme"
SMALL_TENANT = "tenant-7"
DEFINITIONS = 2000
# Migrations that make the tables; those that follow them find rows.
TABLES_FIRST = 3


def key(number: int) -> Key:
    """Of the row with this number."""
    return Key(((1 + number % PARTITIONS) << COUNTER_BITS) + number + 1)


def definition_key(number: int) -> Key:
    return Key((1 << COUNTER_BITS) + (1 << 32) + number)


async def populate(
    dsn: str,
    rows: int,
    *,
    begin: datetime = BEGIN,
    weeks: int = WEEKS,
    entities: Collection[type[Entity]] | None = None,
) -> None:
    """Bring an empty database to the schema, with so many rows of each entity; incidents are rarer, definitions few.

    The rows are of so many weeks, which begin on a Monday.
    """
    wanted = _COLUMNS.keys() if entities is None else entities
    folder = files("server.store.postgres") / "migrations"
    with TemporaryDirectory() as tables:
        _copy_first(folder, Path(tables))
        await migrate(dsn, Path(tables))
    async with open_pool(dsn, 1) as pool:
        await pool.execute("SET statement_timeout = 0")
        mondays = [begin.date() + week * WEEK for week in range(weeks)]
        tables = "SELECT relname::text FROM pg_class WHERE relnamespace = 'history'::regnamespace AND relkind = 'p'"
        for row in await pool.fetch(tables):
            for monday in mondays:
                await pool.execute(Bucket(row[0], monday).creation)
        await pool.execute(f"""
            INSERT INTO gnomon.partition (partition_id, last_key)
            SELECT id, id::bigint << {COUNTER_BITS} FROM generate_series(1, {PARTITIONS}) AS id
        """)  # noqa: S608  # our own
        first = [entity for entity in _COLUMNS if entity not in _OF_LATER_TABLES]
        for entity in (each for each in first if each in wanted):
            await pool.execute(insertion(entity, _rows_of(entity, rows), begin, weeks), timeout=900)
        await migrate(dsn, folder)
        # Of the tables that later migrations made.
        await create_buckets(PooledDatabase(pool), mondays)
        for entity in (each for each in _OF_LATER_TABLES if each in wanted):
            await pool.execute(insertion(entity, rows, begin, weeks), timeout=900)
        await pool.execute("VACUUM ANALYZE", timeout=900)


def _copy_first(folder: Traversable, to: Path) -> None:
    for file in sorted(folder.iterdir(), key=lambda file: file.name)[:TABLES_FIRST]:
        (to / file.name).write_text(file.read_text("utf-8"), "utf-8")


def _rows_of(entity: type[Entity], rows: int) -> int:
    return {ProcessDefinition: DEFINITIONS, Incident: rows // 10}.get(entity, rows)


def insertion(entity: type[Entity], rows: int, begin: datetime, weeks: int) -> str:
    """Return the statements that put the rows of an entity into tables that have its buckets."""
    table = TABLES[entity]
    columns = {**_EVERY, **_COLUMNS[entity]}
    names, values = ", ".join(columns), ", ".join(columns.values())
    facts = _FACTS.format(rows=rows, begin=begin, seconds=weeks * 7 * 86400)
    source = f"generate_series(0::bigint, {rows - 1}) AS n, LATERAL ({facts}) AS facts"
    live = f"INSERT INTO runtime.{table.name} (partition_id, {names}) SELECT {_PARTITION}, {values} FROM {source}"  # noqa: S608  # our own
    ended = f"""
        INSERT INTO history.{table.name} (bucket, partition_id, {names})
        SELECT moment::date, {_PARTITION}, {values} FROM {source}
    """  # noqa: S608  # our own
    if entity not in BUCKETED:
        return live
    if entity is AuditEntry:
        return ended
    return f"{ended} WHERE NOT is_live; {live} WHERE is_live"


def _key(number: str) -> str:
    return f"(((1 + ({number}) % {PARTITIONS}) << {COUNTER_BITS}) + ({number}) + 1)"


_PARTITION = f"(1 + n % {PARTITIONS})::smallint"
_DEFINITION = f"{1 << COUNTER_BITS}::bigint + {1 << 32} + d"
_FACTS = """
    SELECT CASE WHEN n % 2 = 0 THEN 0 ELSE n % 40 END AS d, n * 100 >= {rows} * 97 AS is_live,
        timestamptz '{begin:%Y-%m-%d} 00:00Z' + n * interval '{seconds} s' / {rows} AS moment
"""
_EVERY = {"tenant_id": f"CASE WHEN n % 10 < 9 THEN '{TENANT}' ELSE 'tenant-' || n / 10 % 50 END"}
_PROCESS = {"process_definition_key": _DEFINITION, "process_definition_id": "'order-process-' || d"}
_STATE = "CASE WHEN is_live THEN 'ACTIVE' WHEN n % 10 = 3 THEN 'TERMINATED' ELSE 'COMPLETED' END"
_ENDED = "CASE WHEN NOT is_live THEN moment + interval '1 hour' END"
_TAGS = "CASE WHEN n % 10 = 1 THEN ARRAY['test', 'batch-' || n % 7] ELSE '{}' END"
_ELEMENT = {"element_id": "'task-' || n % 25"}

_COLUMNS: Mapping[type[Entity], Mapping[str, str]] = {
    ProcessDefinition: {
        "process_definition_key": f"{1 << COUNTER_BITS}::bigint + {1 << 32} + n",
        "process_definition_id": "'order-process-' || n / 10",
        "version": "1 + n % 10",
        "name": "'Order process number ' || n / 10",
        "version_tag": "CASE WHEN n % 3 = 0 THEN 'v' || n % 10 END",
        "resource_name": "'order-' || n / 10 || '.bpmn'",
        "xml": "repeat(md5(n::text), 600)",
        "deployment_key": f"{1 << COUNTER_BITS}::bigint + {1 << 33} + n",
        "deployment_time": f"timestamptz '{BEGIN:%Y-%m-%d} 00:00Z' + n * interval '1 minute'",
        "has_start_form": "false",
        "is_latest_version": "n % 10 = 8",
        "state": "'ACTIVE'",
    },
    ProcessInstance: {
        "process_instance_key": _key("n"),
        **_PROCESS,
        "process_definition_name": "'Order process number ' || d",
        "process_definition_version": "1 + d % 3",
        "start_date": "moment",
        "end_date": _ENDED,
        "state": _STATE,
        "has_incident": "is_live AND n % 50 = 1",
        "parent_process_instance_key": f"CASE WHEN n % 10 = 5 THEN {_key('n - 1')} END",
        "tags": _TAGS,
        "business_id": "CASE WHEN n % 3 < 2 THEN 'order-2026-' || n END",
    },
    ElementInstance: {
        "element_instance_key": _key("n"),
        "process_instance_key": _key("n / 3"),
        **_PROCESS,
        **_ELEMENT,
        "element_name": "'Task number ' || n % 25",
        "type": "(ARRAY['START_EVENT', 'SERVICE_TASK', 'USER_TASK', 'END_EVENT'])[1 + n / 40 % 4]",
        "element_instance_scope_key": _key("n / 3"),
        "start_date": "moment",
        "end_date": _ENDED,
        "state": _STATE,
        "has_incident": "is_live AND n % 50 = 1",
        "incident_key": f"CASE WHEN n % 500 = 1 THEN {_key('n')} END",
    },
    Job: {
        "job_key": _key("n"),
        "type": "CASE WHEN n % 3 = 0 THEN 'send-mail' ELSE 'work-' || n % 20 END",
        "retries": "3 - n % 2",
        "custom_headers": """'{"priority": "high"}'""",
        **_ELEMENT,
        "element_instance_key": _key("n"),
        "process_instance_key": _key("n / 2"),
        **_PROCESS,
        "creation_time": "moment",
        "last_update_time": "moment",
        "worker": "'worker-' || n % 50",
        "deadline": "moment + interval '5 minutes'",
        "end_time": _ENDED,
        "state": """CASE WHEN is_live THEN (CASE WHEN n % 50 = 1 THEN 'FAILED' ELSE 'CREATED' END)
            WHEN n % 10 = 3 THEN 'CANCELED' ELSE 'COMPLETED' END""",
        "kind": "'BPMN_ELEMENT'",
        "listener_event_type": "'UNSPECIFIED'",
        "error_message": "CASE WHEN n % 50 = 1 THEN 'connection to host-' || n || ' refused' END",
        "has_failed_with_retries_left": "is_live AND n % 50 = 1",
    },
    Variable: {
        "variable_key": _key("n"),
        "name": "(ARRAY['orderId', 'amount', 'customer', 'approved', 'note'])[1 + n % 5]",
        "scope_key": _key("n / 3"),
        "process_instance_key": _key("n / 3"),
        "value": "CASE WHEN n % 2000 = 4 THEN to_json(repeat(md5(n::text), 300))::text ELSE '\"value-' || n || '\"' END",
    },
    Incident: {
        "incident_key": _key("n"),
        **_PROCESS,
        "process_instance_key": _key("n / 2"),
        **_ELEMENT,
        "element_instance_key": _key("n"),
        "job_key": f"CASE WHEN n % 2 = 0 THEN {_key('n')} END",
        "error_type": "(ARRAY['JOB_NO_RETRIES', 'IO_MAPPING_ERROR', 'CONDITION_ERROR'])[1 + n % 3]",
        "error_message": "'connection to host-' || n || ' refused'",
        "creation_time": "moment",
        "state": "CASE WHEN is_live THEN 'ACTIVE' ELSE 'RESOLVED' END",
        "tags": _TAGS,
    },
    AuditEntry: {
        "audit_entry_key": _key("n"),
        "timestamp": "moment",
        "operation_type": "(ARRAY['CREATE', 'COMPLETE', 'FAIL', 'CANCEL'])[1 + n % 4]",
        "result": "CASE WHEN n % 20 = 1 THEN 'FAIL' ELSE 'SUCCESS' END",
        "actor_type": "'USER'",
        "actor_id": "'user-' || n % 200",
        "entity_type": "'JOB'",
        "entity_key": _key("n / 2"),
        "process_instance_key": _key("n / 4"),
    },
    UserTask: {
        "user_task_key": _key("n"),
        "name": "'Task number ' || n % 25",
        **_ELEMENT,
        "element_instance_key": _key("n"),
        "process_instance_key": _key("n / 2"),
        **_PROCESS,
        "process_definition_version": "1 + d % 3",
        "creation_date": "moment",
        "completion_date": _ENDED,
        "custom_headers": """'{"priority": "high"}'""",
        "state": "CASE WHEN is_live THEN 'CREATED' WHEN n % 10 = 3 THEN 'CANCELED' ELSE 'COMPLETED' END",
        "assignee": "CASE WHEN n % 3 < 2 THEN 'user-' || n % 200 END",
        "candidate_groups": "ARRAY['group-' || n % 40]",
        "candidate_users": "CASE WHEN n % 50 = 1 THEN ARRAY['user-' || n % 200] ELSE '{}' END",
        "due_date": "CASE WHEN n % 2 = 0 THEN moment + interval '3 days' END",
        "priority": "10 * (n % 10)",
        "tags": _TAGS,
    },
    MessageSubscription: {
        "message_subscription_key": _key("n"),
        **_PROCESS,
        "process_definition_version": "1 + d % 3",
        **_ELEMENT,
        "message_name": "'paid-' || n % 2000",
        "last_updated_date": "moment",
        "extension_properties": "'{}'",
        "message_subscription_state": "CASE WHEN is_live THEN 'CREATED' ELSE 'CORRELATED' END",
        "message_subscription_type": "'PROCESS_EVENT'",
        "is_open": "is_live",
        "process_instance_key": _key("n / 2"),
        "element_instance_key": _key("n"),
        "correlation_key": "'order-' || n",
    },
    CorrelatedMessageSubscription: {
        "correlated_message_subscription_key": _key("n"),
        "message_key": _key("n"),
        "subscription_key": _key("n"),
        "message_name": "'paid-' || n % 2000",
        "correlation_key": "'order-' || n",
        "correlation_time": "moment",
        **_PROCESS,
        "process_instance_key": _key("n / 2"),
        **_ELEMENT,
        "element_instance_key": _key("n"),
    },
    DecisionInstance: {
        "decision_instance_key": _key("n"),
        "decision_evaluation_key": _key("n / 2"),
        "decision_evaluation_instance_key": f"{_key('n / 2')} || '-' || 1 + n % 2",
        "decision_definition_key": _DEFINITION,
        "decision_definition_id": "'decision-' || d",
        "decision_definition_name": "'Decision number ' || d",
        "decision_definition_type": "'DECISION_TABLE'",
        "decision_definition_version": "1 + d % 3",
        "decision_requirements_key": _DEFINITION,
        "root_decision_definition_key": _DEFINITION,
        "evaluation_date": "moment",
        "result": """'{"discount": ' || n % 10 || '}'""",
        "inputs": """'[{"id": "amount", "value": "' || n || '"}]'""",
        "rules": "'[]'",
        "evaluation_failure": "CASE WHEN n % 100 = 1 THEN 'no rule for customer-' || n END",
        "state": "CASE WHEN n % 100 = 1 THEN 'FAILED' ELSE 'EVALUATED' END",
        "process_definition_key": _DEFINITION,
        "process_instance_key": _key("n / 4"),
        "element_instance_key": _key("n / 2"),
    },
    BatchOperationItem: {
        "batch_operation_item_key": _key("n"),
        "batch_operation_key": _key("n % 250"),
        "operation_type": "'CANCEL_PROCESS_INSTANCE'",
        "item_key": _key("n"),
        "process_instance_key": _key("n"),
        "state": "CASE WHEN is_live THEN 'ACTIVE' WHEN n % 50 = 1 THEN 'FAILED' ELSE 'COMPLETED' END",
        "processed_date": "CASE WHEN NOT is_live THEN moment END",
        "error_message": "CASE WHEN n % 50 = 1 THEN 'process instance ' || n || ' has ended' END",
    },
}

_OF_LATER_TABLES = (
    UserTask,
    MessageSubscription,
    CorrelatedMessageSubscription,
    DecisionInstance,
    BatchOperationItem,
)
