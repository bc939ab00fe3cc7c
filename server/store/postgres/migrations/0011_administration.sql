-- API keys, and addresses that are blocked.

CREATE TABLE identity.api_key (
    tenant_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    revision bigint NOT NULL,
    expires_at timestamptz,
    content json NOT NULL,
    PRIMARY KEY (tenant_id, id)
);

CREATE INDEX api_key_expires_at ON identity.api_key (expires_at) WHERE expires_at IS NOT NULL;

ALTER TABLE identity.address_failures ADD COLUMN block text COLLATE "C";

CREATE INDEX address_failures_block ON identity.address_failures (tenant_id, block, id) WHERE block IS NOT NULL;
