-- Proofs that people gave once more before they change their account.

CREATE TABLE identity.modification_token (
    tenant_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    revision bigint NOT NULL,
    expires_at timestamptz,
    content json NOT NULL,
    PRIMARY KEY (tenant_id, id)
);

CREATE INDEX modification_token_expires_at ON identity.modification_token (expires_at) WHERE expires_at IS NOT NULL;
