-- What searches find rows by: the tenant first, then what is asked for, then the key, by which all orders end. It is left
-- out where many rows have the same values: those take little room, are counted in the index, and read in another order.
--
-- An index refuses the row of an entry that is too long for it. So of a text of any length there is either the start, or
-- the whole in an index that leaves long ones out; searches spell these expressions in the same way.
-- Live rows change: nothing that their usual updates change is indexed, so that these stay in their page.

CREATE INDEX process_definition_key ON runtime.process_definition (tenant_id, process_definition_key);
CREATE INDEX process_definition_id
    ON runtime.process_definition (tenant_id, process_definition_id, process_definition_key)
    WHERE (char_length(process_definition_id) > 256) IS NOT TRUE;
CREATE INDEX process_definition_latest
    ON runtime.process_definition (tenant_id, process_definition_key) WHERE is_latest_version;

CREATE INDEX process_instance_key ON runtime.process_instance (tenant_id, process_instance_key);
CREATE INDEX process_instance_start ON runtime.process_instance (tenant_id, start_date, process_instance_key);
CREATE INDEX process_instance_definition ON runtime.process_instance (tenant_id, process_definition_key);
CREATE INDEX process_instance_business
    ON runtime.process_instance (tenant_id, left(business_id, 64), process_instance_key);
CREATE INDEX process_instance_parent
    ON runtime.process_instance (tenant_id, parent_process_instance_key, process_instance_key)
    WHERE parent_process_instance_key IS NOT NULL;
CREATE INDEX process_instance_incident
    ON runtime.process_instance (tenant_id, process_instance_key) WHERE has_incident;

CREATE INDEX element_instance_key ON runtime.element_instance (tenant_id, element_instance_key);
CREATE INDEX element_instance_instance
    ON runtime.element_instance (tenant_id, process_instance_key, element_instance_key);
CREATE INDEX element_instance_incident
    ON runtime.element_instance (tenant_id, element_instance_key) WHERE has_incident;

CREATE INDEX job_key ON runtime.job (tenant_id, job_key);
CREATE INDEX job_instance ON runtime.job (tenant_id, process_instance_key, job_key);
CREATE INDEX job_type ON runtime.job (tenant_id, type) WHERE (char_length(type) > 256) IS NOT TRUE;

CREATE INDEX variable_key ON runtime.variable (tenant_id, variable_key);
CREATE INDEX variable_instance ON runtime.variable (tenant_id, process_instance_key, variable_key);
CREATE INDEX variable_scope ON runtime.variable (tenant_id, scope_key, variable_key);
CREATE INDEX variable_name ON runtime.variable (tenant_id, name) WHERE (char_length(name) > 256) IS NOT TRUE;

CREATE INDEX incident_key ON runtime.incident (tenant_id, incident_key);
CREATE INDEX incident_instance ON runtime.incident (tenant_id, process_instance_key, incident_key);
CREATE INDEX incident_definition ON runtime.incident (tenant_id, process_definition_key);
CREATE INDEX incident_creation ON runtime.incident (tenant_id, creation_time, incident_key);

CREATE INDEX process_instance_key ON history.process_instance (tenant_id, process_instance_key);
CREATE INDEX process_instance_start ON history.process_instance (tenant_id, start_date, process_instance_key);
CREATE INDEX process_instance_end ON history.process_instance (tenant_id, end_date, process_instance_key);
CREATE INDEX process_instance_definition
    ON history.process_instance (tenant_id, process_definition_key, state);
CREATE INDEX process_instance_process
    ON history.process_instance (tenant_id, process_definition_id, state)
    WHERE (char_length(process_definition_id) > 256) IS NOT TRUE;
CREATE INDEX process_instance_business
    ON history.process_instance (tenant_id, left(business_id, 64), process_instance_key);
CREATE INDEX process_instance_parent
    ON history.process_instance (tenant_id, parent_process_instance_key, process_instance_key)
    WHERE parent_process_instance_key IS NOT NULL;
CREATE INDEX process_instance_incident
    ON history.process_instance (tenant_id, process_instance_key) WHERE has_incident;

CREATE INDEX element_instance_key ON history.element_instance (tenant_id, element_instance_key);
CREATE INDEX element_instance_instance
    ON history.element_instance (tenant_id, process_instance_key, element_instance_key);
CREATE INDEX element_instance_start ON history.element_instance (tenant_id, start_date, element_instance_key);
CREATE INDEX element_instance_end ON history.element_instance
    USING brin (end_date) WITH (pages_per_range = 32, autosummarize = on);
CREATE INDEX element_instance_definition
    ON history.element_instance (tenant_id, process_definition_key, state);
CREATE INDEX element_instance_element
    ON history.element_instance (tenant_id, process_definition_key, element_id, state, has_incident)
    WHERE (char_length(element_id) > 256) IS NOT TRUE;
CREATE INDEX element_instance_process
    ON history.element_instance (tenant_id, process_definition_id, type, state)
    WHERE (char_length(process_definition_id) > 256) IS NOT TRUE;
CREATE INDEX element_instance_long
    ON history.element_instance (tenant_id, process_definition_key) WHERE char_length(element_id) > 256;
CREATE INDEX element_instance_incident
    ON history.element_instance (tenant_id, element_instance_key) WHERE has_incident;
CREATE INDEX element_instance_active
    ON history.element_instance (tenant_id, element_instance_key) WHERE state = 'ACTIVE';

CREATE INDEX job_key ON history.job (tenant_id, job_key);
CREATE INDEX job_instance ON history.job (tenant_id, process_instance_key, job_key);
CREATE INDEX job_end ON history.job (tenant_id, end_time, job_key);
CREATE INDEX job_times ON history.job
    USING brin (creation_time, last_update_time, deadline) WITH (pages_per_range = 32, autosummarize = on);
CREATE INDEX job_state ON history.job (tenant_id, state);
CREATE INDEX job_type ON history.job (tenant_id, type, state) WHERE (char_length(type) > 256) IS NOT TRUE;
CREATE INDEX job_worker ON history.job (tenant_id, worker) WHERE (char_length(worker) > 256) IS NOT TRUE;

CREATE INDEX variable_key ON history.variable (tenant_id, variable_key);
CREATE INDEX variable_instance ON history.variable (tenant_id, process_instance_key, variable_key);
CREATE INDEX variable_scope ON history.variable (tenant_id, scope_key, variable_key);
CREATE INDEX variable_name
    ON history.variable (tenant_id, name, left(value, 64)) WHERE (char_length(name) > 256) IS NOT TRUE;
CREATE INDEX variable_long ON history.variable (tenant_id, variable_key) WHERE char_length(value) > 8191;

CREATE INDEX incident_key ON history.incident (tenant_id, incident_key);
CREATE INDEX incident_instance ON history.incident (tenant_id, process_instance_key, incident_key);
CREATE INDEX incident_definition ON history.incident (tenant_id, process_definition_key, state);
CREATE INDEX incident_creation ON history.incident (tenant_id, creation_time, incident_key);

CREATE INDEX audit_entry_time ON history.audit_entry (tenant_id, timestamp, audit_entry_key);
CREATE INDEX audit_entry_refused
    ON history.audit_entry (tenant_id, timestamp, audit_entry_key) WHERE result = 'FAIL';
CREATE INDEX audit_entry_actor
    ON history.audit_entry (tenant_id, actor_id, timestamp, audit_entry_key)
    WHERE (char_length(actor_id) > 256) IS NOT TRUE;
CREATE INDEX audit_entry_entity
    ON history.audit_entry (tenant_id, entity_key, audit_entry_key) WHERE entity_key IS NOT NULL;
CREATE INDEX audit_entry_instance
    ON history.audit_entry (tenant_id, process_instance_key, audit_entry_key)
    WHERE process_instance_key IS NOT NULL;

-- Tags, and texts that are looked for by a part of them. Without these extensions searches read the tenant's rows.
DO $$
BEGIN
    CREATE EXTENSION IF NOT EXISTS pg_trgm;
    CREATE EXTENSION IF NOT EXISTS btree_gin;
    CREATE INDEX process_definition_text ON runtime.process_definition
        USING gin (tenant_id, process_definition_id gin_trgm_ops, name gin_trgm_ops);
    CREATE INDEX process_instance_text ON history.process_instance
        USING gin (tenant_id, business_id gin_trgm_ops, tags) WITH (gin_pending_list_limit = 256);
    CREATE INDEX job_text ON history.job
        USING gin (tenant_id, error_message gin_trgm_ops) WITH (gin_pending_list_limit = 256)
        WHERE error_message IS NOT NULL;
    CREATE INDEX incident_text ON history.incident
        USING gin (tenant_id, error_message gin_trgm_ops, tags) WITH (gin_pending_list_limit = 256);
EXCEPTION
    WHEN undefined_file OR undefined_object OR feature_not_supported OR insufficient_privilege THEN
        RAISE NOTICE 'searches will not use pg_trgm and btree_gin: %', SQLERRM;
END $$;
