-- What people let clients have.

CREATE TABLE identity.consent (
    tenant_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    revision bigint NOT NULL,
    expires_at timestamptz,
    content json NOT NULL,
    pair text COLLATE "C",
    user_id text COLLATE "C",
    client_id text COLLATE "C",
    PRIMARY KEY (tenant_id, id)
);

CREATE UNIQUE INDEX consent_pair ON identity.consent (tenant_id, pair);
CREATE INDEX consent_user_id ON identity.consent (tenant_id, user_id, id) WHERE user_id IS NOT NULL;
CREATE INDEX consent_client_id ON identity.consent (tenant_id, client_id, id) WHERE client_id IS NOT NULL;
CREATE INDEX consent_expires_at ON identity.consent (expires_at) WHERE expires_at IS NOT NULL;
