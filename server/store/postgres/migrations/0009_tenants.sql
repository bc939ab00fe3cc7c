-- Tenants that are kept, beside those of the configuration; all belong to the deployment, whose tenant_id is empty.

CREATE TABLE identity.tenant (
    tenant_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    revision bigint NOT NULL,
    expires_at timestamptz,
    content json NOT NULL,
    hostname text COLLATE "C",
    PRIMARY KEY (tenant_id, id)
);

CREATE UNIQUE INDEX tenant_hostname ON identity.tenant (tenant_id, hostname);
CREATE INDEX tenant_expires_at ON identity.tenant (expires_at) WHERE expires_at IS NOT NULL;
