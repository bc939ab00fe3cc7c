-- Additive. Tenants that are being removed, as each partition has marked them: it refuses their commands.

-- `number` identifies the removal; `is_clean` is set once the partition holds nothing of the tenant, after all have marked it.
CREATE TABLE gnomon.removed_tenant (
    partition_id smallint NOT NULL,
    tenant_id text COLLATE "C" NOT NULL,
    number bigint NOT NULL,
    is_clean boolean NOT NULL DEFAULT false,
    PRIMARY KEY (partition_id, tenant_id)
);
