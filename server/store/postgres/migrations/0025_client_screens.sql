-- Sign-in and sign-out screens of clients; the id is the client's.

CREATE TABLE identity.client_screens (
    tenant_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    revision bigint NOT NULL,
    expires_at timestamptz,
    content json NOT NULL,
    PRIMARY KEY (tenant_id, id)
);

CREATE INDEX client_screens_expires_at ON identity.client_screens (expires_at) WHERE expires_at IS NOT NULL;
