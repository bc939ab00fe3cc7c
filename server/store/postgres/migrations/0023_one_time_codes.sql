-- Generators of one-time codes and recovery codes of people, and questions that wait for a code.

CREATE TABLE identity.code_factors (
    tenant_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    revision bigint NOT NULL,
    expires_at timestamptz,
    content json NOT NULL,
    sealed_under text[] COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant_id, id)
);

CREATE INDEX code_factors_sealed_under ON identity.code_factors USING gin (sealed_under);
CREATE INDEX code_factors_expires_at ON identity.code_factors (expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE identity.code_question (
    tenant_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    revision bigint NOT NULL,
    expires_at timestamptz,
    content json NOT NULL,
    PRIMARY KEY (tenant_id, id)
);

CREATE INDEX code_question_expires_at ON identity.code_question (expires_at) WHERE expires_at IS NOT NULL;
