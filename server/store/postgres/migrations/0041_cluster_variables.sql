-- Cluster variables; those of no tenant are those of all tenants. What partitions know of them is in `gnomon.definition_document`.

CREATE TABLE runtime.cluster_variable (
    partition_id smallint NOT NULL,
    cluster_variable_key bigint NOT NULL,
    tenant_id text COLLATE "C",
    name text COLLATE "C" NOT NULL,
    value text COLLATE "C" NOT NULL,
    scope text COLLATE "C" NOT NULL,
    PRIMARY KEY (partition_id, cluster_variable_key)
) WITH (fillfactor = 70);

CREATE INDEX cluster_variable_key ON runtime.cluster_variable (tenant_id, cluster_variable_key);

CREATE VIEW gnomon.cluster_variable AS
SELECT partition_id, cluster_variable_key, tenant_id, name, value, scope
FROM runtime.cluster_variable;
