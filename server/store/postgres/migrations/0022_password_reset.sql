-- Requests for a new password that wait to be looked up, and from where people signed in.

CREATE TABLE identity.reset_request (
    tenant_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    revision bigint NOT NULL,
    expires_at timestamptz,
    content json NOT NULL,
    due text COLLATE "C",
    PRIMARY KEY (tenant_id, id)
);

CREATE INDEX reset_request_due ON identity.reset_request (tenant_id, due, id) WHERE due IS NOT NULL;
CREATE INDEX reset_request_expires_at ON identity.reset_request (expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE identity.sign_in_places (
    tenant_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    revision bigint NOT NULL,
    expires_at timestamptz,
    content json NOT NULL,
    PRIMARY KEY (tenant_id, id)
);

CREATE INDEX sign_in_places_expires_at ON identity.sign_in_places (expires_at) WHERE expires_at IS NOT NULL;
