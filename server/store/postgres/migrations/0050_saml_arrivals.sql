-- Responses of SAML providers that wait for the browser, at most one for each pending sign-in.

CREATE TABLE identity.saml_arrival (
    tenant_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    revision bigint NOT NULL,
    expires_at timestamptz,
    content json NOT NULL,
    PRIMARY KEY (tenant_id, id)
);

CREATE INDEX saml_arrival_expires_at ON identity.saml_arrival (expires_at) WHERE expires_at IS NOT NULL;
