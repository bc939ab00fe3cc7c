-- What reads see of ended process instances, and the audit log: insert only, by buckets of days that retention drops.

CREATE SCHEMA history;

CREATE TABLE history.process_instance (
    bucket date NOT NULL,
    partition_id smallint NOT NULL,
    process_instance_key bigint NOT NULL,
    tenant_id text COLLATE "C" NOT NULL,
    process_definition_key bigint NOT NULL,
    process_definition_id text COLLATE "C" NOT NULL,
    process_definition_name text COLLATE "C",
    process_definition_version bigint NOT NULL,
    process_definition_version_tag text COLLATE "C",
    start_date timestamptz NOT NULL,
    end_date timestamptz,
    state text COLLATE "C" NOT NULL,
    has_incident boolean NOT NULL,
    parent_process_instance_key bigint,
    parent_element_instance_key bigint,
    root_process_instance_key bigint,
    tags text[] COLLATE "C" NOT NULL,
    business_id text COLLATE "C",
    PRIMARY KEY (partition_id, process_instance_key, bucket),
    -- A search for active ones does not come here.
    CONSTRAINT process_instance_ended CHECK (state <> 'ACTIVE')
) PARTITION BY RANGE (bucket);

CREATE TABLE history.element_instance (
    bucket date NOT NULL,
    partition_id smallint NOT NULL,
    element_instance_key bigint NOT NULL,
    tenant_id text COLLATE "C" NOT NULL,
    process_instance_key bigint NOT NULL,
    process_definition_key bigint NOT NULL,
    process_definition_id text COLLATE "C" NOT NULL,
    element_id text COLLATE "C" NOT NULL,
    element_name text COLLATE "C" NOT NULL,
    type text COLLATE "C" NOT NULL,
    element_instance_scope_key bigint NOT NULL,
    start_date timestamptz NOT NULL,
    end_date timestamptz,
    state text COLLATE "C" NOT NULL,
    has_incident boolean NOT NULL,
    incident_key bigint,
    root_process_instance_key bigint,
    PRIMARY KEY (partition_id, element_instance_key, bucket)
) PARTITION BY RANGE (bucket);

CREATE TABLE history.job (
    bucket date NOT NULL,
    partition_id smallint NOT NULL,
    job_key bigint NOT NULL,
    tenant_id text COLLATE "C" NOT NULL,
    type text COLLATE "C" NOT NULL,
    retries bigint NOT NULL,
    custom_headers jsonb NOT NULL,
    element_id text COLLATE "C" NOT NULL,
    element_instance_key bigint NOT NULL,
    process_instance_key bigint NOT NULL,
    process_definition_key bigint NOT NULL,
    process_definition_id text COLLATE "C" NOT NULL,
    creation_time timestamptz NOT NULL,
    last_update_time timestamptz NOT NULL,
    worker text COLLATE "C" NOT NULL,
    deadline timestamptz,
    end_time timestamptz,
    state text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL,
    listener_event_type text COLLATE "C" NOT NULL,
    error_code text COLLATE "C",
    error_message text COLLATE "C",
    has_failed_with_retries_left boolean NOT NULL,
    denied_reason text COLLATE "C",
    is_denied boolean,
    root_process_instance_key bigint,
    PRIMARY KEY (partition_id, job_key, bucket)
) PARTITION BY RANGE (bucket);

CREATE TABLE history.variable (
    bucket date NOT NULL,
    partition_id smallint NOT NULL,
    variable_key bigint NOT NULL,
    tenant_id text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    scope_key bigint NOT NULL,
    process_instance_key bigint NOT NULL,
    value text COLLATE "C" NOT NULL,
    root_process_instance_key bigint,
    PRIMARY KEY (partition_id, variable_key, bucket)
) PARTITION BY RANGE (bucket);

CREATE TABLE history.incident (
    bucket date NOT NULL,
    partition_id smallint NOT NULL,
    incident_key bigint NOT NULL,
    tenant_id text COLLATE "C" NOT NULL,
    process_definition_key bigint NOT NULL,
    process_definition_id text COLLATE "C" NOT NULL,
    process_instance_key bigint NOT NULL,
    element_id text COLLATE "C" NOT NULL,
    element_instance_key bigint NOT NULL,
    job_key bigint,
    error_type text COLLATE "C" NOT NULL,
    error_message text COLLATE "C" NOT NULL,
    creation_time timestamptz NOT NULL,
    state text COLLATE "C" NOT NULL,
    tags text[] COLLATE "C" NOT NULL,
    root_process_instance_key bigint,
    PRIMARY KEY (partition_id, incident_key, bucket)
) PARTITION BY RANGE (bucket);

CREATE TABLE history.audit_entry (
    bucket date NOT NULL,
    partition_id smallint NOT NULL,
    audit_entry_key bigint NOT NULL,
    tenant_id text COLLATE "C" NOT NULL,
    timestamp timestamptz NOT NULL,
    operation_type text COLLATE "C" NOT NULL,
    result text COLLATE "C" NOT NULL,
    actor_type text COLLATE "C" NOT NULL,
    actor_id text COLLATE "C" NOT NULL,
    entity_type text COLLATE "C" NOT NULL,
    entity_key bigint,
    process_definition_key bigint,
    process_instance_key bigint,
    operation_reference bigint,
    request_id text COLLATE "C",
    reason text COLLATE "C",
    detail text COLLATE "C",
    PRIMARY KEY (partition_id, audit_entry_key, bucket)
) PARTITION BY RANGE (bucket);
