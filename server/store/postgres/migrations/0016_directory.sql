-- Mapping rules, and the version of the directory, which all processes share.

CREATE TABLE identity.mapping_rule (
    tenant_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    revision bigint NOT NULL,
    expires_at timestamptz,
    content json NOT NULL,
    PRIMARY KEY (tenant_id, id)
);

CREATE INDEX mapping_rule_expires_at ON identity.mapping_rule (expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE identity.directory_version (
    tenant_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    revision bigint NOT NULL,
    expires_at timestamptz,
    content json NOT NULL,
    PRIMARY KEY (tenant_id, id)
);

CREATE INDEX directory_version_expires_at ON identity.directory_version (expires_at) WHERE expires_at IS NOT NULL;
