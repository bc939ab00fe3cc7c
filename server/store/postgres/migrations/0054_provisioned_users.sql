-- Additive. Users as provisioning clients find them. What follows from the record is made by the database, so that it is right
-- whichever version of the program writes it; ASCII letters alone are in lower case.

CREATE FUNCTION identity.lowered(text) RETURNS text
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN translate($1, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz');

-- A text of the member `provisioned`, NULL for none. Like all texts, it has U+FFFD for NUL.
CREATE FUNCTION identity.provisioned_text_of(content json, member text) RETURNS text
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN nullif(replace(content::text, '\u0000', '\ufffd')::json -> 'provisioned' ->> member, '');

-- The program writes times with their offset, so that none depends on the session.
CREATE FUNCTION identity.time_of(content json, member text) RETURNS timestamptz
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN nullif(identity.text_of(content, member), '')::timestamptz;

ALTER TABLE identity."user"
    ADD COLUMN provisioned_name text COLLATE "C",
    ADD COLUMN external_id text COLLATE "C" GENERATED ALWAYS AS (
        identity.provisioned_text_of(content, 'external_id')
    ) STORED,
    ADD COLUMN display_name_key text COLLATE "C" GENERATED ALWAYS AS (
        identity.lowered(left(coalesce(
            identity.provisioned_text_of(content, 'display_name'),
            nullif(btrim(
                identity.text_of(content, 'given_name') || ' ' || identity.text_of(content, 'family_name'), ' '
            ), '')
        ), 256))
    ) STORED,
    ADD COLUMN is_enabled boolean GENERATED ALWAYS AS (
        identity.text_of(content, 'is_enabled') <> 'false'
    ) STORED,
    ADD COLUMN last_modified_at timestamptz GENERATED ALWAYS AS (
        coalesce(identity.time_of(content, 'changed_at'), identity.time_of(content, 'created_at'))
    ) STORED;

ALTER TABLE identity."user"
    ADD COLUMN account_name text COLLATE "C" GENERATED ALWAYS AS (
        coalesce(provisioned_name, preferred_username, email)
    ) STORED;

CREATE UNIQUE INDEX user_provisioned_name ON identity."user" (tenant_id, provisioned_name);
CREATE INDEX user_account_name ON identity."user" (tenant_id, account_name);
CREATE INDEX user_external_id ON identity."user" (tenant_id, external_id);
CREATE INDEX user_display_name_key ON identity."user" (tenant_id, display_name_key);
CREATE INDEX user_is_enabled ON identity."user" (tenant_id, is_enabled, id);
CREATE INDEX user_last_modified_at ON identity."user" (tenant_id, last_modified_at);
