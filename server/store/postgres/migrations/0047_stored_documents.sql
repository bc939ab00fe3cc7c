-- Additive: documents that tenants store. The engine knows nothing of them.

CREATE TABLE gnomon.stored_document (
    tenant_id text COLLATE "C" NOT NULL,
    document_id text COLLATE "C" NOT NULL,
    content_type text COLLATE "C" NOT NULL,
    file_name text COLLATE "C" NOT NULL,
    content_hash text COLLATE "C" NOT NULL,
    size bigint NOT NULL,
    created_at timestamptz NOT NULL,
    expires_at timestamptz,
    process_definition_id text COLLATE "C",
    process_instance_key bigint,
    custom_properties bytea NOT NULL,
    link_id bytea NOT NULL UNIQUE,
    link_key bytea NOT NULL,
    content bytea NOT NULL,
    PRIMARY KEY (tenant_id, document_id)
);

-- Most files are compressed already.
ALTER TABLE gnomon.stored_document ALTER COLUMN content SET STORAGE EXTERNAL;

CREATE INDEX stored_document_expiry ON gnomon.stored_document (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX stored_document_tenant_expiry ON gnomon.stored_document (tenant_id, expires_at) WHERE expires_at IS NOT NULL;

-- What each tenant has in all.
CREATE TABLE gnomon.stored_document_usage (
    tenant_id text COLLATE "C" PRIMARY KEY,
    documents bigint NOT NULL,
    bytes bigint NOT NULL
) WITH (fillfactor = 50);
