-- Tasks of the retry queue are found by the time of their next attempt, without reading those that wait.
-- Nodes of an older version write no such time: their tasks are due at once.

ALTER TABLE identity.back_channel_logout ADD COLUMN next_at timestamptz NOT NULL DEFAULT clock_timestamp();
ALTER TABLE identity.queued_letter ADD COLUMN next_at timestamptz NOT NULL DEFAULT clock_timestamp();
ALTER TABLE identity.reset_request ADD COLUMN next_at timestamptz NOT NULL DEFAULT clock_timestamp();

CREATE INDEX back_channel_logout_next_at ON identity.back_channel_logout (tenant_id, next_at, id);
CREATE INDEX queued_letter_next_at ON identity.queued_letter (tenant_id, next_at, id);
CREATE INDEX reset_request_next_at ON identity.reset_request (tenant_id, next_at, id);
