-- Additive. Starts under way of tenants with a quota: what they reserve counts like active process instances.

-- Raised by every reservation, so that of two that read the same counts one reads again.
CREATE TABLE gnomon.quota (
    tenant_id text COLLATE "C" PRIMARY KEY,
    version bigint NOT NULL
) WITH (fillfactor = 50);

-- Removed by the commit of its starts. One of an earlier epoch than that of its partition counts no more.
CREATE TABLE gnomon.quota_reservation (
    partition_id smallint NOT NULL,
    epoch bigint NOT NULL,
    number bigint NOT NULL,
    tenant_id text COLLATE "C" NOT NULL,
    count bigint NOT NULL,
    PRIMARY KEY (partition_id, epoch, number, tenant_id)
);

CREATE INDEX active_instances_tenant ON gnomon.active_instances (tenant_id);
