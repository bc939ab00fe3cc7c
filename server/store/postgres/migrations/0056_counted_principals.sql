-- Additive. The number of all users and clients of a tenant is counted in an index alone: some bytes a row, since equal
-- entries of an index are kept together.

CREATE INDEX user_lives ON identity."user" (tenant_id, expires_at);
CREATE INDEX client_lives ON identity.client (tenant_id, expires_at);
