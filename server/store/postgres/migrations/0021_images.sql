-- Uploaded images of clients, people and providers.

CREATE TABLE identity.image (
    tenant_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    revision bigint NOT NULL,
    expires_at timestamptz,
    content json NOT NULL,
    owner text COLLATE "C",
    PRIMARY KEY (tenant_id, id)
);

CREATE INDEX image_owner ON identity.image (tenant_id, owner, id) WHERE owner IS NOT NULL;
CREATE INDEX image_expires_at ON identity.image (expires_at) WHERE expires_at IS NOT NULL;
