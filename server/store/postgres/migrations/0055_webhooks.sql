-- Additive
-- Webhooks of tenants, and how far events are delivered to them.

CREATE TABLE identity.webhook (
    tenant_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    revision bigint NOT NULL,
    expires_at timestamptz,
    content json NOT NULL,
    name text COLLATE "C",
    next_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, id)
);

CREATE UNIQUE INDEX webhook_name ON identity.webhook (tenant_id, name);
CREATE INDEX webhook_expires_at ON identity.webhook (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX webhook_next_at ON identity.webhook (tenant_id, next_at, id);
