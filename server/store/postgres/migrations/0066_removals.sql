-- Additive
-- Removals of owners, until all records that belong to them are removed.

CREATE TABLE identity.removal (
    tenant_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    revision bigint NOT NULL,
    expires_at timestamptz,
    content json NOT NULL,
    reserved text COLLATE "C",
    next_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, id)
);

CREATE INDEX removal_expires_at ON identity.removal (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX removal_reserved ON identity.removal (tenant_id, reserved, id) WHERE reserved IS NOT NULL;
CREATE INDEX removal_next_at ON identity.removal (tenant_id, next_at, id);

-- The text at a path of a record that no column has, NULL for none. Like all texts, it has U+FFFD for NUL.
CREATE FUNCTION identity.owner_of(content json, path text[]) RETURNS text
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN nullif(replace(content::text, '\u0000', '\ufffd')::json #>> path, '');
