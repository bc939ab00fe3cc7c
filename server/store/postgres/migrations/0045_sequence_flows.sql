-- Additive: a column that older programs leave empty.
-- The sequence flows by which an element instance was left.

ALTER TABLE runtime.element_instance ADD COLUMN sequence_flow_ids text[] COLLATE "C" NOT NULL DEFAULT '{}';
ALTER TABLE history.element_instance ADD COLUMN sequence_flow_ids text[] COLLATE "C" NOT NULL DEFAULT '{}';

CREATE OR REPLACE VIEW gnomon.element_instance AS
SELECT
    partition_id, element_instance_key, tenant_id, process_instance_key, process_definition_key,
    process_definition_id, element_id, element_name, type, element_instance_scope_key, start_date, end_date,
    state, has_incident, incident_key, root_process_instance_key, sequence_flow_ids
FROM runtime.element_instance
UNION ALL
SELECT
    partition_id, element_instance_key, tenant_id, process_instance_key, process_definition_key,
    process_definition_id, element_id, element_name, type, element_instance_scope_key, start_date, end_date,
    state, has_incident, incident_key, root_process_instance_key, sequence_flow_ids
FROM history.element_instance;
