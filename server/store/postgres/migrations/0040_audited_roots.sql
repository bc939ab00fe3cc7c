-- Additive: a column that older programs leave empty.
-- The process instance at the top of the calls that led to the one of an entry of the audit log.

ALTER TABLE history.audit_entry ADD COLUMN root_process_instance_key bigint;

CREATE OR REPLACE VIEW gnomon.audit_entry AS
SELECT
    partition_id, audit_entry_key, tenant_id, timestamp, operation_type, result, actor_type, actor_id,
    entity_type, entity_key, process_definition_key, process_instance_key, operation_reference, request_id,
    reason, detail, entity_id, related_entity_type, related_entity_id, element_instance_key,
    batch_operation_key, batch_operation_type, form_key, root_process_instance_key
FROM history.audit_entry;
