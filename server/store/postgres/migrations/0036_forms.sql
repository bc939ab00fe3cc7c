-- Forms as they are deployed, and those that people start processes with.
--
-- `gnomon.definition_document` holds what partitions know of forms, without the schema.

CREATE TABLE runtime.form (
    partition_id smallint NOT NULL,
    form_key bigint NOT NULL,
    tenant_id text COLLATE "C" NOT NULL,
    form_id text COLLATE "C" NOT NULL,
    version bigint NOT NULL,
    version_tag text COLLATE "C",
    resource_name text COLLATE "C" NOT NULL,
    schema text COLLATE "C" NOT NULL,
    deployment_key bigint NOT NULL,
    deployment_time timestamptz NOT NULL,
    is_latest_version boolean NOT NULL,
    is_deleted boolean NOT NULL,
    PRIMARY KEY (partition_id, form_key)
) WITH (fillfactor = 90);

CREATE INDEX form_key ON runtime.form (tenant_id, form_key);
CREATE INDEX form_latest ON runtime.form (tenant_id, form_id) WHERE is_latest_version;

CREATE VIEW gnomon.form AS
SELECT
    partition_id, form_key, tenant_id, form_id, version, version_tag, resource_name, schema, deployment_key,
    deployment_time, is_latest_version, is_deleted
FROM runtime.form;

ALTER TABLE runtime.process_definition ADD COLUMN start_form_id text COLLATE "C";

CREATE OR REPLACE VIEW gnomon.process_definition AS
SELECT
    partition_id, process_definition_key, tenant_id, process_definition_id, version, name, version_tag,
    resource_name, xml, deployment_key, deployment_time, has_start_form, is_latest_version, state, start_form_id
FROM runtime.process_definition;
