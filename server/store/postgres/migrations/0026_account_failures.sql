-- Network addresses from which sign-ins to one account failed; the id is a keyed hash of the account.

CREATE TABLE identity.account_failures (
    tenant_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    revision bigint NOT NULL,
    expires_at timestamptz,
    content json NOT NULL,
    PRIMARY KEY (tenant_id, id)
);

CREATE INDEX account_failures_expires_at ON identity.account_failures (expires_at) WHERE expires_at IS NOT NULL;
