-- Domains by which people sign in; they belong to the deployment, so that no two tenants have the same verified one.

CREATE TABLE identity.sign_in_domain (
    tenant_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    revision bigint NOT NULL,
    expires_at timestamptz,
    content json NOT NULL,
    verified_name text COLLATE "C",
    owner text COLLATE "C",
    PRIMARY KEY (tenant_id, id)
);

CREATE UNIQUE INDEX sign_in_domain_verified_name ON identity.sign_in_domain (tenant_id, verified_name);
CREATE INDEX sign_in_domain_owner ON identity.sign_in_domain (tenant_id, owner, id) WHERE owner IS NOT NULL;
CREATE INDEX sign_in_domain_expires_at ON identity.sign_in_domain (expires_at) WHERE expires_at IS NOT NULL;
