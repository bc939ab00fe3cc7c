-- What the provider keeps: a table for each kind of record, which is found by its id and by the columns behind `content`.
-- They hold a text, NULL where it is empty, or several; `content` is the whole record and exactly what was written.

CREATE SCHEMA identity;

CREATE TABLE identity.address_failures (
    tenant_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    revision bigint NOT NULL,
    expires_at timestamptz,
    content json NOT NULL,
    PRIMARY KEY (tenant_id, id)
);

CREATE INDEX address_failures_expires_at ON identity.address_failures (expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE identity.authorization_code (
    tenant_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    revision bigint NOT NULL,
    expires_at timestamptz,
    content json NOT NULL,
    PRIMARY KEY (tenant_id, id)
);

CREATE INDEX authorization_code_expires_at ON identity.authorization_code (expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE identity.authorization_request (
    tenant_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    revision bigint NOT NULL,
    expires_at timestamptz,
    content json NOT NULL,
    session_id text COLLATE "C",
    PRIMARY KEY (tenant_id, id)
);

CREATE INDEX authorization_request_session_id ON identity.authorization_request (tenant_id, session_id, id) WHERE session_id IS NOT NULL;
CREATE INDEX authorization_request_expires_at ON identity.authorization_request (expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE identity.back_channel_logout (
    tenant_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    revision bigint NOT NULL,
    expires_at timestamptz,
    content json NOT NULL,
    due text COLLATE "C",
    PRIMARY KEY (tenant_id, id)
);

CREATE INDEX back_channel_logout_due ON identity.back_channel_logout (tenant_id, due, id) WHERE due IS NOT NULL;
CREATE INDEX back_channel_logout_expires_at ON identity.back_channel_logout (expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE identity.client (
    tenant_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    revision bigint NOT NULL,
    expires_at timestamptz,
    content json NOT NULL,
    PRIMARY KEY (tenant_id, id)
);

CREATE INDEX client_expires_at ON identity.client (expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE identity.device (
    tenant_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    revision bigint NOT NULL,
    expires_at timestamptz,
    content json NOT NULL,
    user_id text COLLATE "C",
    PRIMARY KEY (tenant_id, id)
);

CREATE INDEX device_user_id ON identity.device (tenant_id, user_id, id) WHERE user_id IS NOT NULL;
CREATE INDEX device_expires_at ON identity.device (expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE identity.device_code (
    tenant_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    revision bigint NOT NULL,
    expires_at timestamptz,
    content json NOT NULL,
    user_code_hash text COLLATE "C",
    PRIMARY KEY (tenant_id, id)
);

CREATE UNIQUE INDEX device_code_user_code_hash ON identity.device_code (tenant_id, user_code_hash);
CREATE INDEX device_code_expires_at ON identity.device_code (expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE identity.device_start (
    tenant_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    revision bigint NOT NULL,
    expires_at timestamptz,
    content json NOT NULL,
    PRIMARY KEY (tenant_id, id)
);

CREATE INDEX device_start_expires_at ON identity.device_start (expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE identity.event (
    tenant_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    revision bigint NOT NULL,
    expires_at timestamptz,
    content json NOT NULL,
    PRIMARY KEY (tenant_id, id)
);

CREATE INDEX event_expires_at ON identity.event (expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE identity.key_set (
    tenant_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    revision bigint NOT NULL,
    expires_at timestamptz,
    content json NOT NULL,
    PRIMARY KEY (tenant_id, id)
);

CREATE INDEX key_set_expires_at ON identity.key_set (expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE identity.leader (
    tenant_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    revision bigint NOT NULL,
    expires_at timestamptz,
    content json NOT NULL,
    PRIMARY KEY (tenant_id, id)
);

CREATE INDEX leader_expires_at ON identity.leader (expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE identity.logout_request (
    tenant_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    revision bigint NOT NULL,
    expires_at timestamptz,
    content json NOT NULL,
    PRIMARY KEY (tenant_id, id)
);

CREATE INDEX logout_request_expires_at ON identity.logout_request (expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE identity.pushed_request (
    tenant_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    revision bigint NOT NULL,
    expires_at timestamptz,
    content json NOT NULL,
    PRIMARY KEY (tenant_id, id)
);

CREATE INDEX pushed_request_expires_at ON identity.pushed_request (expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE identity.revoked_token (
    tenant_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    revision bigint NOT NULL,
    expires_at timestamptz,
    content json NOT NULL,
    PRIMARY KEY (tenant_id, id)
);

CREATE INDEX revoked_token_expires_at ON identity.revoked_token (expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE identity.root_secret (
    tenant_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    revision bigint NOT NULL,
    expires_at timestamptz,
    content json NOT NULL,
    PRIMARY KEY (tenant_id, id)
);

CREATE INDEX root_secret_expires_at ON identity.root_secret (expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE identity.session (
    tenant_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    revision bigint NOT NULL,
    expires_at timestamptz,
    content json NOT NULL,
    sid text COLLATE "C",
    user_id text COLLATE "C",
    PRIMARY KEY (tenant_id, id)
);

CREATE UNIQUE INDEX session_sid ON identity.session (tenant_id, sid);
CREATE INDEX session_user_id ON identity.session (tenant_id, user_id, id) WHERE user_id IS NOT NULL;
CREATE INDEX session_expires_at ON identity.session (expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE identity.spent_id (
    tenant_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    revision bigint NOT NULL,
    expires_at timestamptz,
    content json NOT NULL,
    PRIMARY KEY (tenant_id, id)
);

CREATE INDEX spent_id_expires_at ON identity.spent_id (expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE identity.token_set (
    tenant_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    revision bigint NOT NULL,
    expires_at timestamptz,
    content json NOT NULL,
    user_id text COLLATE "C",
    sid text COLLATE "C",
    device_id text COLLATE "C",
    client_id text COLLATE "C",
    PRIMARY KEY (tenant_id, id)
);

CREATE INDEX token_set_user_id ON identity.token_set (tenant_id, user_id, id) WHERE user_id IS NOT NULL;
CREATE INDEX token_set_sid ON identity.token_set (tenant_id, sid, id) WHERE sid IS NOT NULL;
CREATE INDEX token_set_device_id ON identity.token_set (tenant_id, device_id, id) WHERE device_id IS NOT NULL;
CREATE INDEX token_set_client_id ON identity.token_set (tenant_id, client_id, id) WHERE client_id IS NOT NULL;
CREATE INDEX token_set_expires_at ON identity.token_set (expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE identity."user" (
    tenant_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    revision bigint NOT NULL,
    expires_at timestamptz,
    content json NOT NULL,
    email text COLLATE "C",
    preferred_username text COLLATE "C",
    groups text[] COLLATE "C" NOT NULL,
    roles text[] COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant_id, id)
);

CREATE UNIQUE INDEX user_email ON identity."user" (tenant_id, email);
CREATE UNIQUE INDEX user_preferred_username ON identity."user" (tenant_id, preferred_username);
CREATE INDEX user_groups ON identity."user" USING gin (groups);
CREATE INDEX user_roles ON identity."user" USING gin (roles);
CREATE INDEX user_expires_at ON identity."user" (expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE identity.user_code_attempts (
    tenant_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    revision bigint NOT NULL,
    expires_at timestamptz,
    content json NOT NULL,
    PRIMARY KEY (tenant_id, id)
);

CREATE INDEX user_code_attempts_expires_at ON identity.user_code_attempts (expires_at) WHERE expires_at IS NOT NULL;
