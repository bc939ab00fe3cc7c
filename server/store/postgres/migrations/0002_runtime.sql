-- What reads see of live process instances: small and hot. Columns are the fields of server.store.entities. Pages keep
-- room for the changes of their rows, so that these stay in their page and no index is written.

CREATE SCHEMA runtime;

CREATE TABLE runtime.process_definition (
    partition_id smallint NOT NULL,
    process_definition_key bigint NOT NULL,
    tenant_id text COLLATE "C" NOT NULL,
    process_definition_id text COLLATE "C" NOT NULL,
    version bigint NOT NULL,
    name text COLLATE "C",
    version_tag text COLLATE "C",
    resource_name text COLLATE "C" NOT NULL,
    xml text COLLATE "C" NOT NULL,
    has_start_form boolean NOT NULL,
    is_latest_version boolean NOT NULL,
    state text COLLATE "C" NOT NULL,
    deployment_key bigint NOT NULL,
    deployment_time timestamptz NOT NULL,
    PRIMARY KEY (partition_id, process_definition_key)
);

CREATE TABLE runtime.process_instance (
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
    PRIMARY KEY (partition_id, process_instance_key)
) WITH (fillfactor = 70);

CREATE TABLE runtime.element_instance (
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
    PRIMARY KEY (partition_id, element_instance_key)
) WITH (fillfactor = 70);

CREATE TABLE runtime.job (
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
    PRIMARY KEY (partition_id, job_key)
) WITH (fillfactor = 50);

CREATE TABLE runtime.variable (
    partition_id smallint NOT NULL,
    variable_key bigint NOT NULL,
    tenant_id text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    scope_key bigint NOT NULL,
    process_instance_key bigint NOT NULL,
    value text COLLATE "C" NOT NULL,
    root_process_instance_key bigint,
    PRIMARY KEY (partition_id, variable_key)
) WITH (fillfactor = 80);

CREATE TABLE runtime.incident (
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
    PRIMARY KEY (partition_id, incident_key)
) WITH (fillfactor = 70);
