-- How often network addresses registered accounts lately.

CREATE TABLE identity.registration_attempts (
    tenant_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    revision bigint NOT NULL,
    expires_at timestamptz,
    content json NOT NULL,
    PRIMARY KEY (tenant_id, id)
);

CREATE INDEX registration_attempts_expires_at ON identity.registration_attempts (expires_at) WHERE expires_at IS NOT NULL;
