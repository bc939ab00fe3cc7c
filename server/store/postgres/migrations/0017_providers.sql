-- Upstream providers, people as they know them, and the sessions of those.

CREATE TABLE identity.provider (
    tenant_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    revision bigint NOT NULL,
    expires_at timestamptz,
    content json NOT NULL,
    PRIMARY KEY (tenant_id, id)
);

CREATE INDEX provider_expires_at ON identity.provider (expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE identity.provider_link (
    tenant_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    revision bigint NOT NULL,
    expires_at timestamptz,
    content json NOT NULL,
    provider_id text COLLATE "C",
    user_id text COLLATE "C",
    PRIMARY KEY (tenant_id, id)
);

CREATE INDEX provider_link_provider_id ON identity.provider_link (tenant_id, provider_id, id) WHERE provider_id IS NOT NULL;
CREATE INDEX provider_link_user_id ON identity.provider_link (tenant_id, user_id, id) WHERE user_id IS NOT NULL;
CREATE INDEX provider_link_expires_at ON identity.provider_link (expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE identity.upstream_login (
    tenant_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    revision bigint NOT NULL,
    expires_at timestamptz,
    content json NOT NULL,
    PRIMARY KEY (tenant_id, id)
);

CREATE INDEX upstream_login_expires_at ON identity.upstream_login (expires_at) WHERE expires_at IS NOT NULL;

ALTER TABLE identity.session ADD COLUMN upstream_sub text COLLATE "C", ADD COLUMN upstream_sid text COLLATE "C";

CREATE INDEX session_upstream_sub ON identity.session (tenant_id, upstream_sub, id) WHERE upstream_sub IS NOT NULL;
CREATE INDEX session_upstream_sid ON identity.session (tenant_id, upstream_sid, id) WHERE upstream_sid IS NOT NULL;
