-- Generic resources as they are deployed: files that workers need and the engine does not read.
--
-- `gnomon.definition_document` holds what partitions know of them, without the content.

CREATE TABLE runtime.resource (
    partition_id smallint NOT NULL,
    resource_key bigint NOT NULL,
    tenant_id text COLLATE "C" NOT NULL,
    resource_id text COLLATE "C" NOT NULL,
    version bigint NOT NULL,
    version_tag text COLLATE "C",
    resource_name text COLLATE "C" NOT NULL,
    content text COLLATE "C" NOT NULL,
    deployment_key bigint NOT NULL,
    deployment_time timestamptz NOT NULL,
    is_latest_version boolean NOT NULL,
    is_deleted boolean NOT NULL,
    PRIMARY KEY (partition_id, resource_key)
) WITH (fillfactor = 90);

CREATE INDEX resource_key ON runtime.resource (tenant_id, resource_key);

CREATE VIEW gnomon.resource AS
SELECT
    partition_id, resource_key, tenant_id, resource_id, version, version_tag, resource_name, content,
    deployment_key, deployment_time, is_latest_version, is_deleted
FROM runtime.resource;
