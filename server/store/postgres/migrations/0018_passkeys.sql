-- Passkeys of people, and ceremonies that wait for an authenticator.

CREATE TABLE identity.passkey (
    tenant_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    revision bigint NOT NULL,
    expires_at timestamptz,
    content json NOT NULL,
    owned_name text COLLATE "C",
    user_id text COLLATE "C",
    PRIMARY KEY (tenant_id, id)
);

CREATE UNIQUE INDEX passkey_owned_name ON identity.passkey (tenant_id, owned_name);
CREATE INDEX passkey_user_id ON identity.passkey (tenant_id, user_id, id) WHERE user_id IS NOT NULL;
CREATE INDEX passkey_expires_at ON identity.passkey (expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE identity.ceremony (
    tenant_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    revision bigint NOT NULL,
    expires_at timestamptz,
    content json NOT NULL,
    PRIMARY KEY (tenant_id, id)
);

CREATE INDEX ceremony_expires_at ON identity.ceremony (expires_at) WHERE expires_at IS NOT NULL;
