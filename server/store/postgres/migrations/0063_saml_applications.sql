-- Additive
-- SAML applications of tenants, and the keys with which tenants sign SAML messages.

CREATE TABLE identity.saml_application (
    tenant_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    revision bigint NOT NULL,
    expires_at timestamptz,
    content json NOT NULL,
    entity_id text COLLATE "C",
    PRIMARY KEY (tenant_id, id)
);

CREATE INDEX saml_application_expires_at ON identity.saml_application (expires_at) WHERE expires_at IS NOT NULL;
CREATE UNIQUE INDEX saml_application_entity_id ON identity.saml_application (tenant_id, entity_id);

CREATE TABLE identity.saml_signing_key (
    tenant_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    revision bigint NOT NULL,
    expires_at timestamptz,
    content json NOT NULL,
    PRIMARY KEY (tenant_id, id)
);

CREATE INDEX saml_signing_key_expires_at ON identity.saml_signing_key (expires_at) WHERE expires_at IS NOT NULL;
