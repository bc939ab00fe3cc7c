-- What partitions own, and how they own it. Every primary key of a partition's rows leads with the partition.

CREATE SCHEMA gnomon;

CREATE TABLE gnomon.node (
    node_id text COLLATE "C" PRIMARY KEY,
    address text COLLATE "C" NOT NULL,
    started_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL
);

-- One row is compared and set by every commit of its partition; the free space keeps that update in its page.
CREATE TABLE gnomon.partition (
    partition_id smallint PRIMARY KEY,
    epoch bigint NOT NULL DEFAULT 0,
    owner text COLLATE "C",
    address text COLLATE "C",
    expires_at timestamptz,
    position bigint NOT NULL DEFAULT 0,
    last_key bigint NOT NULL
) WITH (fillfactor = 10);

-- The truth for recovery: one packed document for each live process instance.
CREATE TABLE gnomon.instance_document (
    partition_id smallint NOT NULL,
    process_instance_key bigint NOT NULL,
    content bytea NOT NULL,
    PRIMARY KEY (partition_id, process_instance_key)
) WITH (fillfactor = 70);

-- Deployed definitions, packed; every partition reads all of them when it recovers.
CREATE TABLE gnomon.definition_document (
    partition_id smallint NOT NULL,
    process_definition_key bigint NOT NULL,
    content bytea NOT NULL,
    PRIMARY KEY (partition_id, process_definition_key)
);

-- Commands from one partition to another; they leave with the commit that carries them out.
CREATE TABLE gnomon.outbox (
    target smallint NOT NULL,
    source smallint NOT NULL,
    number bigint NOT NULL,
    command bytea NOT NULL,
    PRIMARY KEY (target, source, number)
);

CREATE TABLE gnomon.idempotency (
    partition_id smallint NOT NULL,
    tenant_id text COLLATE "C" NOT NULL,
    idempotency_key text COLLATE "C" NOT NULL,
    request_hash bytea NOT NULL,
    answer bytea NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, idempotency_key, partition_id)
);

CREATE INDEX idempotency_age ON gnomon.idempotency (created_at);

-- What quotas count.
CREATE TABLE gnomon.active_instances (
    partition_id smallint NOT NULL,
    tenant_id text COLLATE "C" NOT NULL,
    count bigint NOT NULL,
    PRIMARY KEY (partition_id, tenant_id)
) WITH (fillfactor = 50);
