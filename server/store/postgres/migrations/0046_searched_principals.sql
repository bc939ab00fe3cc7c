-- Searches of users and clients by what the process API shows. The columns are made from the record by the database, so
-- that they are right whichever version of the program writes it. Like all texts, they have U+FFFD for NUL.

CREATE FUNCTION identity.text_of(content json, member text) RETURNS text
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN coalesce(replace(content::text, '\u0000', '\ufffd')::json ->> member, '');

CREATE FUNCTION identity.texts_of(content json, member text) RETURNS text[]
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN ARRAY(
        SELECT json_array_elements_text(
            coalesce(replace(content::text, '\u0000', '\ufffd')::json -> member, '[]'::json)
        )
    );

ALTER TABLE identity."user"
    ADD COLUMN username text COLLATE "C" GENERATED ALWAYS AS (
        coalesce(
            preferred_username,
            CASE WHEN email ~ '^[A-Za-z0-9_@.+-]+$' AND char_length(email) <= 256 THEN email END,
            id
        )
    ) STORED,
    ADD COLUMN name text COLLATE "C" GENERATED ALWAYS AS (
        nullif(btrim(
            identity.text_of(content, 'given_name') || ' ' || identity.text_of(content, 'family_name'), ' '
        ), '')
    ) STORED,
    ADD COLUMN tenant_ids text[] COLLATE "C" GENERATED ALWAYS AS (identity.texts_of(content, 'tenant_ids')) STORED;

CREATE INDEX user_username ON identity."user" (tenant_id, username);
CREATE INDEX user_name_start ON identity."user" (tenant_id, left(name, 64)) WHERE name IS NOT NULL;
CREATE INDEX user_name_missing ON identity."user" (tenant_id, username) WHERE name IS NULL;
CREATE INDEX user_email_start ON identity."user" (tenant_id, left(email, 64)) WHERE email IS NOT NULL;
CREATE INDEX user_tenant_ids ON identity."user" USING gin (tenant_ids);

ALTER TABLE identity.client
    ADD COLUMN groups text[] COLLATE "C" GENERATED ALWAYS AS (identity.texts_of(content, 'groups')) STORED,
    ADD COLUMN roles text[] COLLATE "C" GENERATED ALWAYS AS (identity.texts_of(content, 'roles')) STORED,
    ADD COLUMN tenant_ids text[] COLLATE "C" GENERATED ALWAYS AS (identity.texts_of(content, 'tenant_ids')) STORED;

CREATE INDEX client_groups ON identity.client USING gin (groups);
CREATE INDEX client_roles ON identity.client USING gin (roles);
CREATE INDEX client_tenant_ids ON identity.client USING gin (tenant_ids);
