-- Additive
-- SCIM applications of tenants, and the users and groups that their services have.

CREATE TABLE identity.scim_application (
    tenant_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    revision bigint NOT NULL,
    expires_at timestamptz,
    content json NOT NULL,
    next_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, id)
);

CREATE INDEX scim_application_expires_at ON identity.scim_application (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX scim_application_next_at ON identity.scim_application (tenant_id, next_at, id);

CREATE TABLE identity.scim_resource (
    tenant_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    revision bigint NOT NULL,
    expires_at timestamptz,
    content json NOT NULL,
    remote text COLLATE "C",
    application text COLLATE "C",
    refused_by text COLLATE "C",
    PRIMARY KEY (tenant_id, id)
);

CREATE INDEX scim_resource_expires_at ON identity.scim_resource (expires_at) WHERE expires_at IS NOT NULL;
CREATE UNIQUE INDEX scim_resource_remote ON identity.scim_resource (tenant_id, remote);
CREATE INDEX scim_resource_application ON identity.scim_resource (tenant_id, application, id);
CREATE INDEX scim_resource_refused_by ON identity.scim_resource (tenant_id, refused_by, id) WHERE refused_by IS NOT NULL;
