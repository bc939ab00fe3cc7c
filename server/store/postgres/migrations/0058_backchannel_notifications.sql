-- Additive
-- Notifications of clients that a user has decided about their request.

CREATE TABLE identity.backchannel_notification (
    tenant_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    revision bigint NOT NULL,
    expires_at timestamptz,
    content json NOT NULL,
    due text COLLATE "C",
    next_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, id)
);

CREATE INDEX backchannel_notification_due ON identity.backchannel_notification (tenant_id, due, id) WHERE due IS NOT NULL;
CREATE INDEX backchannel_notification_expires_at ON identity.backchannel_notification (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX backchannel_notification_next_at ON identity.backchannel_notification (tenant_id, next_at, id);
