-- What searches read: live rows and ended ones together. Columns stand in the order of the tables.

CREATE VIEW gnomon.process_definition AS
SELECT
    partition_id, process_definition_key, tenant_id, process_definition_id, version, name, version_tag,
    resource_name, xml, deployment_key, deployment_time, has_start_form, is_latest_version, state
FROM runtime.process_definition;

CREATE VIEW gnomon.process_instance AS
SELECT
    partition_id, process_instance_key, tenant_id, process_definition_key, process_definition_id,
    process_definition_name, process_definition_version, process_definition_version_tag, start_date,
    end_date, state, has_incident, parent_process_instance_key, parent_element_instance_key,
    root_process_instance_key, tags, business_id
FROM runtime.process_instance
UNION ALL
SELECT
    partition_id, process_instance_key, tenant_id, process_definition_key, process_definition_id,
    process_definition_name, process_definition_version, process_definition_version_tag, start_date,
    end_date, state, has_incident, parent_process_instance_key, parent_element_instance_key,
    root_process_instance_key, tags, business_id
FROM history.process_instance;

CREATE VIEW gnomon.element_instance AS
SELECT
    partition_id, element_instance_key, tenant_id, process_instance_key, process_definition_key,
    process_definition_id, element_id, element_name, type, element_instance_scope_key, start_date, end_date,
    state, has_incident, incident_key, root_process_instance_key
FROM runtime.element_instance
UNION ALL
SELECT
    partition_id, element_instance_key, tenant_id, process_instance_key, process_definition_key,
    process_definition_id, element_id, element_name, type, element_instance_scope_key, start_date, end_date,
    state, has_incident, incident_key, root_process_instance_key
FROM history.element_instance;

CREATE VIEW gnomon.job AS
SELECT
    partition_id, job_key, tenant_id, type, retries, custom_headers, element_id, element_instance_key,
    process_instance_key, process_definition_key, process_definition_id, creation_time, last_update_time,
    worker, deadline, end_time, state, kind, listener_event_type, error_code, error_message,
    has_failed_with_retries_left, denied_reason, is_denied, root_process_instance_key
FROM runtime.job
UNION ALL
SELECT
    partition_id, job_key, tenant_id, type, retries, custom_headers, element_id, element_instance_key,
    process_instance_key, process_definition_key, process_definition_id, creation_time, last_update_time,
    worker, deadline, end_time, state, kind, listener_event_type, error_code, error_message,
    has_failed_with_retries_left, denied_reason, is_denied, root_process_instance_key
FROM history.job;

CREATE VIEW gnomon.variable AS
SELECT
    partition_id, variable_key, tenant_id, name, scope_key, process_instance_key, value,
    root_process_instance_key
FROM runtime.variable
UNION ALL
SELECT
    partition_id, variable_key, tenant_id, name, scope_key, process_instance_key, value,
    root_process_instance_key
FROM history.variable;

CREATE VIEW gnomon.incident AS
SELECT
    partition_id, incident_key, tenant_id, process_definition_key, process_definition_id,
    process_instance_key, element_id, element_instance_key, job_key, error_type, error_message,
    creation_time, state, tags, root_process_instance_key
FROM runtime.incident
UNION ALL
SELECT
    partition_id, incident_key, tenant_id, process_definition_key, process_definition_id,
    process_instance_key, element_id, element_instance_key, job_key, error_type, error_message,
    creation_time, state, tags, root_process_instance_key
FROM history.incident;

CREATE VIEW gnomon.audit_entry AS
SELECT
    partition_id, audit_entry_key, tenant_id, timestamp, operation_type, result, actor_type, actor_id,
    entity_type, entity_key, process_definition_key, process_instance_key, operation_reference, request_id,
    reason, detail
FROM history.audit_entry;
