-- Authorizations, found by their owner when it is removed.

CREATE TABLE identity.directory_authorization (
    tenant_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    revision bigint NOT NULL,
    expires_at timestamptz,
    content json NOT NULL,
    owner text COLLATE "C",
    PRIMARY KEY (tenant_id, id)
);

CREATE INDEX directory_authorization_owner ON identity.directory_authorization (tenant_id, owner, id) WHERE owner IS NOT NULL;
CREATE INDEX directory_authorization_expires_at ON identity.directory_authorization (expires_at) WHERE expires_at IS NOT NULL;

-- Whether the first administrator was created over the process API.

CREATE TABLE identity.setup (
    tenant_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    revision bigint NOT NULL,
    expires_at timestamptz,
    content json NOT NULL,
    PRIMARY KEY (tenant_id, id)
);

CREATE INDEX setup_expires_at ON identity.setup (expires_at) WHERE expires_at IS NOT NULL;
