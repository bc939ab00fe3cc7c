-- Additive: tables of their own, and columns that older programs leave empty.
-- Batch operations and their items, unfinished and ended: ended ones leave when they are old.

CREATE TABLE runtime.batch_operation (
    partition_id smallint NOT NULL,
    batch_operation_key bigint NOT NULL,
    tenant_id text COLLATE "C" NOT NULL,
    operation_type text COLLATE "C" NOT NULL,
    state text COLLATE "C" NOT NULL,
    start_date timestamptz,
    end_date timestamptz,
    actor_type text COLLATE "C",
    actor_id text COLLATE "C",
    operations_total_count bigint NOT NULL,
    operations_failed_count bigint NOT NULL,
    operations_completed_count bigint NOT NULL,
    failure text COLLATE "C",
    PRIMARY KEY (partition_id, batch_operation_key)
) WITH (fillfactor = 50);

CREATE TABLE runtime.batch_operation_item (
    partition_id smallint NOT NULL,
    batch_operation_item_key bigint NOT NULL,
    tenant_id text COLLATE "C" NOT NULL,
    batch_operation_key bigint NOT NULL,
    operation_type text COLLATE "C" NOT NULL,
    item_key bigint NOT NULL,
    process_instance_key bigint NOT NULL,
    root_process_instance_key bigint,
    state text COLLATE "C" NOT NULL,
    processed_date timestamptz,
    error_message text COLLATE "C",
    PRIMARY KEY (partition_id, batch_operation_item_key)
) WITH (fillfactor = 70);

CREATE INDEX batch_operation_key ON runtime.batch_operation (tenant_id, batch_operation_key);
CREATE INDEX batch_operation_start ON runtime.batch_operation (tenant_id, start_date, batch_operation_key);
CREATE INDEX batch_operation_end ON runtime.batch_operation
    USING brin (end_date) WITH (pages_per_range = 32, autosummarize = on);

CREATE INDEX batch_operation_item_key
    ON runtime.batch_operation_item (tenant_id, batch_operation_item_key);
CREATE INDEX batch_operation_item_operation
    ON runtime.batch_operation_item (tenant_id, batch_operation_key, batch_operation_item_key);
CREATE INDEX batch_operation_item_instance
    ON runtime.batch_operation_item (tenant_id, process_instance_key, batch_operation_item_key);

CREATE VIEW gnomon.batch_operation AS
SELECT
    partition_id, batch_operation_key, tenant_id, operation_type, state, start_date, end_date, actor_type,
    actor_id, operations_total_count, operations_failed_count, operations_completed_count, failure
FROM runtime.batch_operation;

CREATE VIEW gnomon.batch_operation_item AS
SELECT
    partition_id, batch_operation_item_key, tenant_id, batch_operation_key, operation_type, item_key,
    process_instance_key, root_process_instance_key, state, processed_date, error_message
FROM runtime.batch_operation_item;

ALTER TABLE history.audit_entry
    ADD COLUMN batch_operation_key bigint,
    ADD COLUMN batch_operation_type text COLLATE "C";

CREATE OR REPLACE VIEW gnomon.audit_entry AS
SELECT
    partition_id, audit_entry_key, tenant_id, timestamp, operation_type, result, actor_type, actor_id,
    entity_type, entity_key, process_definition_key, process_instance_key, operation_reference, request_id,
    reason, detail, entity_id, related_entity_type, related_entity_id, element_instance_key,
    batch_operation_key, batch_operation_type
FROM history.audit_entry;
