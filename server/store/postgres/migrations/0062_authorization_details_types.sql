-- Additive
-- Types of authorization details that clients may ask for.

CREATE TABLE identity.authorization_details_type (
    tenant_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    revision bigint NOT NULL,
    expires_at timestamptz,
    content json NOT NULL,
    name text COLLATE "C",
    PRIMARY KEY (tenant_id, id)
);

CREATE UNIQUE INDEX authorization_details_type_name ON identity.authorization_details_type (tenant_id, name);
CREATE INDEX authorization_details_type_expires_at
    ON identity.authorization_details_type (expires_at) WHERE expires_at IS NOT NULL;
