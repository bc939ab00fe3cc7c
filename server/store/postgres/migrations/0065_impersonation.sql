-- Additive
-- Permissions of users that support may sign in as them, and the sessions in which support does.

CREATE TABLE identity.support_access (
    tenant_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    revision bigint NOT NULL,
    expires_at timestamptz,
    content json NOT NULL,
    PRIMARY KEY (tenant_id, id)
);

CREATE INDEX support_access_expires_at ON identity.support_access (expires_at) WHERE expires_at IS NOT NULL;

ALTER TABLE identity.session ADD COLUMN impersonator_id text COLLATE "C", ADD COLUMN impersonated_id text COLLATE "C";

CREATE INDEX session_impersonator_id ON identity.session (tenant_id, impersonator_id, id) WHERE impersonator_id IS NOT NULL;
CREATE INDEX session_impersonated_id ON identity.session (tenant_id, impersonated_id, id) WHERE impersonated_id IS NOT NULL;
