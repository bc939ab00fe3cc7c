-- Additive
-- Terms of use: their versions, texts and acceptances.

CREATE TABLE identity.terms_version (
    tenant_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    revision bigint NOT NULL,
    expires_at timestamptz,
    content json NOT NULL,
    PRIMARY KEY (tenant_id, id)
);

CREATE INDEX terms_version_expires_at ON identity.terms_version (expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE identity.terms_text (
    tenant_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    revision bigint NOT NULL,
    expires_at timestamptz,
    content json NOT NULL,
    PRIMARY KEY (tenant_id, id)
);

CREATE INDEX terms_text_expires_at ON identity.terms_text (expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE identity.terms_acceptance (
    tenant_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    revision bigint NOT NULL,
    expires_at timestamptz,
    content json NOT NULL,
    user_id text COLLATE "C",
    PRIMARY KEY (tenant_id, id)
);

CREATE INDEX terms_acceptance_expires_at ON identity.terms_acceptance (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX terms_acceptance_user_id ON identity.terms_acceptance (tenant_id, user_id, id) WHERE user_id IS NOT NULL;
