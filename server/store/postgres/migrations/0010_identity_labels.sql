-- What people and clients are sorted by: groups, roles, scopes, and attributes beyond the standard ones.

CREATE TABLE identity."group" (
    tenant_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    revision bigint NOT NULL,
    expires_at timestamptz,
    content json NOT NULL,
    name text COLLATE "C",
    PRIMARY KEY (tenant_id, id)
);

CREATE UNIQUE INDEX group_name ON identity."group" (tenant_id, name);
CREATE INDEX group_expires_at ON identity."group" (expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE identity.role (
    tenant_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    revision bigint NOT NULL,
    expires_at timestamptz,
    content json NOT NULL,
    name text COLLATE "C",
    PRIMARY KEY (tenant_id, id)
);

CREATE UNIQUE INDEX role_name ON identity.role (tenant_id, name);
CREATE INDEX role_expires_at ON identity.role (expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE identity.scope (
    tenant_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    revision bigint NOT NULL,
    expires_at timestamptz,
    content json NOT NULL,
    name text COLLATE "C",
    PRIMARY KEY (tenant_id, id)
);

CREATE UNIQUE INDEX scope_name ON identity.scope (tenant_id, name);
CREATE INDEX scope_expires_at ON identity.scope (expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE identity.user_attribute (
    tenant_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    revision bigint NOT NULL,
    expires_at timestamptz,
    content json NOT NULL,
    PRIMARY KEY (tenant_id, id)
);

CREATE INDEX user_attribute_expires_at ON identity.user_attribute (expires_at) WHERE expires_at IS NOT NULL;
