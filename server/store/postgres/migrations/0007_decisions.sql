-- Requirements graphs and decisions as they are deployed, and how decisions were evaluated.
--
-- `gnomon.definition_document` holds the graphs beside the processes, by their key. Evaluations are rows of their own,
-- written once; those that no process instance asked for leave when they are old.

CREATE TABLE runtime.decision_requirements (
    partition_id smallint NOT NULL,
    decision_requirements_key bigint NOT NULL,
    tenant_id text COLLATE "C" NOT NULL,
    decision_requirements_id text COLLATE "C" NOT NULL,
    decision_requirements_name text COLLATE "C" NOT NULL,
    version bigint NOT NULL,
    resource_name text COLLATE "C" NOT NULL,
    xml text COLLATE "C" NOT NULL,
    deployment_key bigint NOT NULL,
    deployment_time timestamptz NOT NULL,
    PRIMARY KEY (partition_id, decision_requirements_key)
);

CREATE TABLE runtime.decision_definition (
    partition_id smallint NOT NULL,
    decision_definition_key bigint NOT NULL,
    tenant_id text COLLATE "C" NOT NULL,
    decision_definition_id text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    version bigint NOT NULL,
    decision_requirements_key bigint NOT NULL,
    decision_requirements_id text COLLATE "C" NOT NULL,
    decision_requirements_name text COLLATE "C" NOT NULL,
    decision_requirements_version bigint NOT NULL,
    is_latest_version boolean NOT NULL,
    PRIMARY KEY (partition_id, decision_definition_key)
) WITH (fillfactor = 90);

CREATE TABLE runtime.decision_instance (
    partition_id smallint NOT NULL,
    decision_instance_key bigint NOT NULL,
    tenant_id text COLLATE "C" NOT NULL,
    decision_evaluation_key bigint NOT NULL,
    decision_evaluation_instance_key text COLLATE "C" NOT NULL,
    decision_definition_key bigint NOT NULL,
    decision_definition_id text COLLATE "C" NOT NULL,
    decision_definition_name text COLLATE "C" NOT NULL,
    decision_definition_type text COLLATE "C" NOT NULL,
    decision_definition_version bigint NOT NULL,
    decision_requirements_key bigint NOT NULL,
    root_decision_definition_key bigint NOT NULL,
    evaluation_date timestamptz NOT NULL,
    result text COLLATE "C" NOT NULL,
    inputs text COLLATE "C" NOT NULL,
    rules text COLLATE "C" NOT NULL,
    evaluation_failure text COLLATE "C",
    state text COLLATE "C" NOT NULL,
    process_definition_key bigint,
    process_instance_key bigint,
    element_instance_key bigint,
    root_process_instance_key bigint,
    PRIMARY KEY (partition_id, decision_instance_key)
);

CREATE INDEX decision_requirements_key
    ON runtime.decision_requirements (tenant_id, decision_requirements_key);

CREATE INDEX decision_definition_key ON runtime.decision_definition (tenant_id, decision_definition_key);
CREATE INDEX decision_definition_latest
    ON runtime.decision_definition (tenant_id, decision_definition_key) WHERE is_latest_version;
CREATE INDEX decision_definition_requirements
    ON runtime.decision_definition (tenant_id, decision_requirements_key, decision_definition_key);

CREATE INDEX decision_instance_key ON runtime.decision_instance (tenant_id, decision_instance_key);
CREATE INDEX decision_instance_evaluation
    ON runtime.decision_instance (tenant_id, decision_evaluation_key, decision_instance_key);
CREATE INDEX decision_instance_definition
    ON runtime.decision_instance (tenant_id, decision_definition_key, decision_instance_key);
CREATE INDEX decision_instance_date
    ON runtime.decision_instance (tenant_id, evaluation_date, decision_instance_key);
CREATE INDEX decision_instance_failed
    ON runtime.decision_instance (tenant_id, decision_instance_key) WHERE state = 'FAILED';
CREATE INDEX decision_instance_age ON runtime.decision_instance
    USING brin (evaluation_date) WITH (pages_per_range = 32, autosummarize = on);

CREATE VIEW gnomon.decision_requirements AS
SELECT
    partition_id, decision_requirements_key, tenant_id, decision_requirements_id, decision_requirements_name,
    version, resource_name, xml, deployment_key, deployment_time
FROM runtime.decision_requirements;

CREATE VIEW gnomon.decision_definition AS
SELECT
    partition_id, decision_definition_key, tenant_id, decision_definition_id, name, version,
    decision_requirements_key, decision_requirements_id, decision_requirements_name,
    decision_requirements_version, is_latest_version
FROM runtime.decision_definition;

CREATE VIEW gnomon.decision_instance AS
SELECT
    partition_id, decision_instance_key, tenant_id, decision_evaluation_key, decision_evaluation_instance_key,
    decision_definition_key, decision_definition_id, decision_definition_name, decision_definition_type,
    decision_definition_version, decision_requirements_key, root_decision_definition_key, evaluation_date,
    result, inputs, rules, evaluation_failure, state, process_definition_key,
    process_instance_key, element_instance_key, root_process_instance_key
FROM runtime.decision_instance;
