-- Sign-ins for services behind a proxy.

CREATE TABLE identity.forward_request (
    tenant_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    revision bigint NOT NULL,
    expires_at timestamptz,
    content json NOT NULL,
    PRIMARY KEY (tenant_id, id)
);

CREATE INDEX forward_request_expires_at ON identity.forward_request (expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE identity.forward_session (
    tenant_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    revision bigint NOT NULL,
    expires_at timestamptz,
    content json NOT NULL,
    PRIMARY KEY (tenant_id, id)
);

CREATE INDEX forward_session_expires_at ON identity.forward_session (expires_at) WHERE expires_at IS NOT NULL;
