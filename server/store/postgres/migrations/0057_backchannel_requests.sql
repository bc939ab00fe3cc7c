-- Additive
-- Requests of clients to users who are elsewhere, and how many of them wait for a user.

CREATE TABLE identity.backchannel_request (
    tenant_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    revision bigint NOT NULL,
    expires_at timestamptz,
    content json NOT NULL,
    user_id text COLLATE "C",
    pair text COLLATE "C",
    PRIMARY KEY (tenant_id, id)
);

CREATE INDEX backchannel_request_user_id ON identity.backchannel_request (tenant_id, user_id, id) WHERE user_id IS NOT NULL;
CREATE INDEX backchannel_request_pair ON identity.backchannel_request (tenant_id, pair, id) WHERE pair IS NOT NULL;
CREATE INDEX backchannel_request_expires_at ON identity.backchannel_request (expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE identity.open_request (
    tenant_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    revision bigint NOT NULL,
    expires_at timestamptz,
    content json NOT NULL,
    PRIMARY KEY (tenant_id, id)
);

CREATE INDEX open_request_expires_at ON identity.open_request (expires_at) WHERE expires_at IS NOT NULL;
