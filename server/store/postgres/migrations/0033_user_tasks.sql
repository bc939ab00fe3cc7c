-- Additive: tables of their own, and a column that older programs leave empty.
-- Native user tasks, live and ended, and which of them an entry of the audit log is about.

CREATE TABLE runtime.user_task (
    partition_id smallint NOT NULL,
    user_task_key bigint NOT NULL,
    tenant_id text COLLATE "C" NOT NULL,
    name text COLLATE "C",
    element_id text COLLATE "C" NOT NULL,
    element_instance_key bigint NOT NULL,
    process_instance_key bigint NOT NULL,
    process_name text COLLATE "C",
    process_definition_key bigint NOT NULL,
    process_definition_id text COLLATE "C" NOT NULL,
    process_definition_version bigint NOT NULL,
    creation_date timestamptz NOT NULL,
    custom_headers jsonb NOT NULL,
    completion_date timestamptz,
    state text COLLATE "C" NOT NULL,
    assignee text COLLATE "C",
    candidate_groups text[] COLLATE "C" NOT NULL,
    candidate_users text[] COLLATE "C" NOT NULL,
    due_date timestamptz,
    follow_up_date timestamptz,
    priority bigint NOT NULL,
    external_form_reference text COLLATE "C",
    form_key bigint,
    tags text[] COLLATE "C" NOT NULL,
    root_process_instance_key bigint,
    PRIMARY KEY (partition_id, user_task_key)
) WITH (fillfactor = 70);

CREATE TABLE history.user_task (
    bucket date NOT NULL,
    partition_id smallint NOT NULL,
    user_task_key bigint NOT NULL,
    tenant_id text COLLATE "C" NOT NULL,
    name text COLLATE "C",
    element_id text COLLATE "C" NOT NULL,
    element_instance_key bigint NOT NULL,
    process_instance_key bigint NOT NULL,
    process_name text COLLATE "C",
    process_definition_key bigint NOT NULL,
    process_definition_id text COLLATE "C" NOT NULL,
    process_definition_version bigint NOT NULL,
    creation_date timestamptz NOT NULL,
    custom_headers jsonb NOT NULL,
    completion_date timestamptz,
    state text COLLATE "C" NOT NULL,
    assignee text COLLATE "C",
    candidate_groups text[] COLLATE "C" NOT NULL,
    candidate_users text[] COLLATE "C" NOT NULL,
    due_date timestamptz,
    follow_up_date timestamptz,
    priority bigint NOT NULL,
    external_form_reference text COLLATE "C",
    form_key bigint,
    tags text[] COLLATE "C" NOT NULL,
    root_process_instance_key bigint,
    PRIMARY KEY (partition_id, user_task_key, bucket)
) PARTITION BY RANGE (bucket);

-- Names of people and groups have 256 characters at most, so that every one stands in an index as it is.
CREATE INDEX user_task_key ON runtime.user_task (tenant_id, user_task_key);
CREATE INDEX user_task_instance ON runtime.user_task (tenant_id, process_instance_key, user_task_key);
CREATE INDEX user_task_element ON runtime.user_task (tenant_id, element_instance_key);
CREATE INDEX user_task_definition ON runtime.user_task (tenant_id, process_definition_key);
CREATE INDEX user_task_assignee ON runtime.user_task (tenant_id, assignee, user_task_key);
CREATE INDEX user_task_creation ON runtime.user_task (tenant_id, creation_date, user_task_key);
CREATE INDEX user_task_due ON runtime.user_task (tenant_id, due_date, user_task_key);
CREATE INDEX user_task_follow_up ON runtime.user_task (tenant_id, follow_up_date, user_task_key);
CREATE INDEX user_task_priority ON runtime.user_task (tenant_id, priority, user_task_key);

CREATE INDEX user_task_key ON history.user_task (tenant_id, user_task_key);
CREATE INDEX user_task_instance ON history.user_task (tenant_id, process_instance_key, user_task_key);
CREATE INDEX user_task_element ON history.user_task (tenant_id, element_instance_key);
CREATE INDEX user_task_definition ON history.user_task (tenant_id, process_definition_key, state);
CREATE INDEX user_task_assignee ON history.user_task (tenant_id, assignee, user_task_key);
CREATE INDEX user_task_state ON history.user_task (tenant_id, state, user_task_key);
CREATE INDEX user_task_creation ON history.user_task (tenant_id, creation_date, user_task_key);
CREATE INDEX user_task_completion ON history.user_task (tenant_id, completion_date, user_task_key);
CREATE INDEX user_task_due ON history.user_task (tenant_id, due_date, user_task_key);
CREATE INDEX user_task_follow_up ON history.user_task (tenant_id, follow_up_date, user_task_key);
CREATE INDEX user_task_priority ON history.user_task (tenant_id, priority, user_task_key);

-- Without this extension searches for candidates and tags read the tenant's rows.
DO $$
BEGIN
    CREATE EXTENSION IF NOT EXISTS btree_gin;
    CREATE INDEX user_task_candidates ON runtime.user_task
        USING gin (tenant_id, candidate_groups, candidate_users) WITH (gin_pending_list_limit = 256);
    CREATE INDEX user_task_candidates ON history.user_task
        USING gin (tenant_id, candidate_groups, candidate_users, tags) WITH (gin_pending_list_limit = 256);
EXCEPTION
    WHEN undefined_file OR undefined_object OR feature_not_supported OR insufficient_privilege THEN
        RAISE NOTICE 'searches for candidates will not use btree_gin: %', SQLERRM;
END $$;

CREATE VIEW gnomon.user_task AS
SELECT
    partition_id, user_task_key, tenant_id, name, element_id, element_instance_key, process_instance_key,
    process_name, process_definition_key, process_definition_id, process_definition_version, creation_date,
    custom_headers, completion_date, state, assignee, candidate_groups, candidate_users, due_date,
    follow_up_date, priority, external_form_reference, form_key, tags, root_process_instance_key
FROM runtime.user_task
UNION ALL
SELECT
    partition_id, user_task_key, tenant_id, name, element_id, element_instance_key, process_instance_key,
    process_name, process_definition_key, process_definition_id, process_definition_version, creation_date,
    custom_headers, completion_date, state, assignee, candidate_groups, candidate_users, due_date,
    follow_up_date, priority, external_form_reference, form_key, tags, root_process_instance_key
FROM history.user_task;

ALTER TABLE history.audit_entry ADD COLUMN element_instance_key bigint;

CREATE OR REPLACE VIEW gnomon.audit_entry AS
SELECT
    partition_id, audit_entry_key, tenant_id, timestamp, operation_type, result, actor_type, actor_id,
    entity_type, entity_key, process_definition_key, process_instance_key, operation_reference, request_id,
    reason, detail, entity_id, related_entity_type, related_entity_id, element_instance_key
FROM history.audit_entry;
