-- Additive
-- Pending links of accounts to upstream providers, for a few minutes each.

CREATE TABLE identity.pending_link (
    tenant_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    revision bigint NOT NULL,
    expires_at timestamptz,
    content json NOT NULL,
    PRIMARY KEY (tenant_id, id)
);

CREATE INDEX pending_link_expires_at ON identity.pending_link (expires_at) WHERE expires_at IS NOT NULL;
