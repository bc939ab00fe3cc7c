-- Additive: erasures of variables of process instances. Commits note them, and the owner of their partition rewrites the
-- rows that no commit changes any more; `names` is a JSON array, empty for all variables.

CREATE TABLE gnomon.variable_erasure (
    partition_id smallint NOT NULL,
    erasure_key bigint NOT NULL,
    tenant_id text COLLATE "C" NOT NULL,
    process_instance_key bigint NOT NULL,
    names text COLLATE "C" NOT NULL,
    moment timestamptz NOT NULL,
    PRIMARY KEY (partition_id, erasure_key)
);

-- Called process instances by the first one of their hierarchy: an erasure includes them.
CREATE INDEX process_instance_root
    ON runtime.process_instance (tenant_id, root_process_instance_key, process_instance_key)
    WHERE parent_process_instance_key IS NOT NULL;
CREATE INDEX process_instance_root
    ON history.process_instance (tenant_id, root_process_instance_key, process_instance_key)
    WHERE parent_process_instance_key IS NOT NULL;
