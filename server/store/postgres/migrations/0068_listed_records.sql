-- Additive. Clients, groups, roles, tenants, applications, mapping rules and authorizations are found by the texts that
-- lists, searches and look-ups of rights use. The columns are made from the record by the database, so that they are right
-- whichever version of the program writes it. Like all texts, they have U+FFFD for NUL.

ALTER TABLE identity.client
    ADD COLUMN words tsvector GENERATED ALWAYS AS (
        identity.words_of(tenant_id, ARRAY[id, identity.text_of(content, 'name')])
    ) STORED,
    ADD COLUMN oauth_scopes text[] COLLATE "C" GENERATED ALWAYS AS (
        identity.texts_of(content, 'oauth_scopes')
    ) STORED,
    ADD COLUMN default_scopes text[] COLLATE "C" GENERATED ALWAYS AS (
        identity.texts_of(content, 'default_scopes')
    ) STORED,
    ADD COLUMN authorization_details_types text[] COLLATE "C" GENERATED ALWAYS AS (
        identity.texts_of(content, 'authorization_details_types')
    ) STORED;

CREATE INDEX client_words ON identity.client USING gin (words);
CREATE INDEX client_oauth_scopes ON identity.client USING gin (oauth_scopes);
CREATE INDEX client_default_scopes ON identity.client USING gin (default_scopes);
CREATE INDEX client_authorization_details_types ON identity.client USING gin (authorization_details_types);

ALTER TABLE identity."group"
    ADD COLUMN roles text[] COLLATE "C" GENERATED ALWAYS AS (identity.texts_of(content, 'roles')) STORED,
    ADD COLUMN tenant_ids text[] COLLATE "C" GENERATED ALWAYS AS (identity.texts_of(content, 'tenant_ids')) STORED,
    ADD COLUMN shown_name text COLLATE "C" GENERATED ALWAYS AS (
        coalesce(nullif(identity.text_of(content, 'display_name'), ''), identity.text_of(content, 'name'))
    ) STORED,
    ADD COLUMN words tsvector GENERATED ALWAYS AS (
        identity.words_of(tenant_id, ARRAY[
            identity.text_of(content, 'name'), identity.text_of(content, 'display_name')
        ])
    ) STORED;

CREATE INDEX group_roles ON identity."group" USING gin (roles);
CREATE INDEX group_tenant_ids ON identity."group" USING gin (tenant_ids);
CREATE INDEX group_shown_name ON identity."group" (tenant_id, shown_name);
CREATE INDEX group_words ON identity."group" USING gin (words);

ALTER TABLE identity.role
    ADD COLUMN tenant_ids text[] COLLATE "C" GENERATED ALWAYS AS (identity.texts_of(content, 'tenant_ids')) STORED,
    ADD COLUMN shown_name text COLLATE "C" GENERATED ALWAYS AS (
        coalesce(nullif(identity.text_of(content, 'display_name'), ''), identity.text_of(content, 'name'))
    ) STORED,
    ADD COLUMN words tsvector GENERATED ALWAYS AS (
        identity.words_of(tenant_id, ARRAY[
            identity.text_of(content, 'name'), identity.text_of(content, 'display_name')
        ])
    ) STORED;

CREATE INDEX role_tenant_ids ON identity.role USING gin (tenant_ids);
CREATE INDEX role_shown_name ON identity.role (tenant_id, shown_name);
CREATE INDEX role_words ON identity.role USING gin (words);

ALTER TABLE identity.tenant
    ADD COLUMN name text COLLATE "C" GENERATED ALWAYS AS (identity.text_of(content, 'name')) STORED,
    ADD COLUMN deleted_at timestamptz GENERATED ALWAYS AS (identity.time_of(content, 'deleted_at')) STORED,
    ADD COLUMN words tsvector GENERATED ALWAYS AS (
        identity.words_of(tenant_id, ARRAY[id, identity.text_of(content, 'name'), coalesce(hostname, '')])
    ) STORED;

CREATE INDEX tenant_name ON identity.tenant (tenant_id, name);
CREATE INDEX tenant_deleted_at ON identity.tenant (tenant_id, deleted_at);
CREATE INDEX tenant_words ON identity.tenant USING gin (words);

ALTER TABLE identity.saml_application ADD COLUMN words tsvector GENERATED ALWAYS AS (
    identity.words_of(tenant_id, ARRAY[id, coalesce(entity_id, '')])
) STORED;

CREATE INDEX saml_application_words ON identity.saml_application USING gin (words);

ALTER TABLE identity.scim_application ADD COLUMN words tsvector GENERATED ALWAYS AS (
    identity.words_of(tenant_id, ARRAY[id])
) STORED;

CREATE INDEX scim_application_words ON identity.scim_application USING gin (words);

ALTER TABLE identity.mapping_rule
    ADD COLUMN name text COLLATE "C" GENERATED ALWAYS AS (identity.text_of(content, 'name')) STORED,
    ADD COLUMN claim_name text COLLATE "C" GENERATED ALWAYS AS (identity.text_of(content, 'claim_name')) STORED,
    ADD COLUMN claim_value text COLLATE "C" GENERATED ALWAYS AS (identity.text_of(content, 'claim_value')) STORED,
    ADD COLUMN claim text COLLATE "C" GENERATED ALWAYS AS (
        identity.text_of(content, 'claim_name') || '=' || identity.text_of(content, 'claim_value')
    ) STORED,
    ADD COLUMN roles text[] COLLATE "C" GENERATED ALWAYS AS (identity.texts_of(content, 'roles')) STORED,
    ADD COLUMN groups text[] COLLATE "C" GENERATED ALWAYS AS (identity.texts_of(content, 'groups')) STORED,
    ADD COLUMN tenant_ids text[] COLLATE "C" GENERATED ALWAYS AS (identity.texts_of(content, 'tenant_ids')) STORED;

CREATE INDEX mapping_rule_name ON identity.mapping_rule (tenant_id, name);
CREATE INDEX mapping_rule_claim_name ON identity.mapping_rule (tenant_id, claim_name);
CREATE INDEX mapping_rule_claim_value ON identity.mapping_rule (tenant_id, claim_value);
CREATE INDEX mapping_rule_claim ON identity.mapping_rule (tenant_id, claim);
CREATE INDEX mapping_rule_roles ON identity.mapping_rule USING gin (roles);
CREATE INDEX mapping_rule_groups ON identity.mapping_rule USING gin (groups);
CREATE INDEX mapping_rule_tenant_ids ON identity.mapping_rule USING gin (tenant_ids);

ALTER TABLE identity.directory_authorization
    ADD COLUMN owner_type text COLLATE "C" GENERATED ALWAYS AS (identity.text_of(content, 'owner_type')) STORED,
    ADD COLUMN owner_id text COLLATE "C" GENERATED ALWAYS AS (identity.text_of(content, 'owner_id')) STORED,
    ADD COLUMN resource_type text COLLATE "C" GENERATED ALWAYS AS (identity.text_of(content, 'resource_type')) STORED,
    ADD COLUMN resource_id text COLLATE "C" GENERATED ALWAYS AS (identity.text_of(content, 'resource_id')) STORED,
    ADD COLUMN resource_property_name text COLLATE "C" GENERATED ALWAYS AS (
        nullif(identity.text_of(content, 'resource_property_name'), '')
    ) STORED;

CREATE INDEX directory_authorization_owner_type ON identity.directory_authorization (tenant_id, owner_type);
CREATE INDEX directory_authorization_owner_id ON identity.directory_authorization (tenant_id, owner_id);
CREATE INDEX directory_authorization_resource_type ON identity.directory_authorization (tenant_id, resource_type);
CREATE INDEX directory_authorization_resource_id ON identity.directory_authorization (tenant_id, resource_id);
CREATE INDEX directory_authorization_resource_property_name
    ON identity.directory_authorization (tenant_id, resource_property_name) WHERE resource_property_name IS NOT NULL;
