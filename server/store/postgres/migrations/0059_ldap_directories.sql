-- Additive
-- LDAP directories of tenants, and which accounts belong to their entries.

CREATE TABLE identity.ldap_directory (
    tenant_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    revision bigint NOT NULL,
    expires_at timestamptz,
    content json NOT NULL,
    PRIMARY KEY (tenant_id, id)
);

CREATE INDEX ldap_directory_expires_at ON identity.ldap_directory (expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE identity.ldap_link (
    tenant_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    revision bigint NOT NULL,
    expires_at timestamptz,
    content json NOT NULL,
    directory_id text COLLATE "C",
    user_id text COLLATE "C",
    PRIMARY KEY (tenant_id, id)
);

CREATE INDEX ldap_link_expires_at ON identity.ldap_link (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX ldap_link_directory_id ON identity.ldap_link (tenant_id, directory_id, id) WHERE directory_id IS NOT NULL;
CREATE INDEX ldap_link_user_id ON identity.ldap_link (tenant_id, user_id, id) WHERE user_id IS NOT NULL;
