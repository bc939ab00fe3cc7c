-- Additive
-- Erasures of the data of persons, by the pseudonym that takes the place of the person.

CREATE TABLE identity.erasure (
    tenant_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    revision bigint NOT NULL,
    expires_at timestamptz,
    content json NOT NULL,
    user_id text COLLATE "C",
    asked_by text COLLATE "C",
    next_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, id)
);

CREATE UNIQUE INDEX erasure_user_id ON identity.erasure (tenant_id, user_id);
CREATE INDEX erasure_asked_by ON identity.erasure (tenant_id, asked_by, id) WHERE asked_by IS NOT NULL;
CREATE INDEX erasure_next_at ON identity.erasure (tenant_id, next_at, id);
CREATE INDEX erasure_expires_at ON identity.erasure (expires_at) WHERE expires_at IS NOT NULL;
