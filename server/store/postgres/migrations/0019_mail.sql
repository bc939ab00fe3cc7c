-- Letters that wait for the mail server, and links in letters that people were sent.

CREATE TABLE identity.queued_letter (
    tenant_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    revision bigint NOT NULL,
    expires_at timestamptz,
    content json NOT NULL,
    due text COLLATE "C",
    PRIMARY KEY (tenant_id, id)
);

CREATE INDEX queued_letter_due ON identity.queued_letter (tenant_id, due, id) WHERE due IS NOT NULL;
CREATE INDEX queued_letter_expires_at ON identity.queued_letter (expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE identity.link (
    tenant_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    revision bigint NOT NULL,
    expires_at timestamptz,
    content json NOT NULL,
    holder text COLLATE "C",
    PRIMARY KEY (tenant_id, id)
);

CREATE INDEX link_holder ON identity.link (tenant_id, holder, id) WHERE holder IS NOT NULL;
CREATE INDEX link_expires_at ON identity.link (expires_at) WHERE expires_at IS NOT NULL;
