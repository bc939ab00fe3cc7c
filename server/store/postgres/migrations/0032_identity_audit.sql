-- Additive: columns that older programs leave out, and that they read nowhere.
-- Changes of identity in the audit log. Their entities have ids instead of keys, and their entries are written by the
-- statement of the change itself, which no partition commits: the partition of these rows is 0, their keys are numbers.

ALTER TABLE history.audit_entry
    ADD COLUMN entity_id text COLLATE "C",
    ADD COLUMN related_entity_type text COLLATE "C",
    ADD COLUMN related_entity_id text COLLATE "C";

CREATE INDEX audit_entry_identity
    ON history.audit_entry (tenant_id, left(entity_id, 64), timestamp, audit_entry_key)
    WHERE entity_id IS NOT NULL;

CREATE OR REPLACE VIEW gnomon.audit_entry AS
SELECT
    partition_id, audit_entry_key, tenant_id, timestamp, operation_type, result, actor_type, actor_id,
    entity_type, entity_key, process_definition_key, process_instance_key, operation_reference, request_id,
    reason, detail, entity_id, related_entity_type, related_entity_id
FROM history.audit_entry;

-- The last of these numbers, in one row: writers take turns at it, so that numbers rise from commit to commit. Without a
-- row it is 0.
CREATE TABLE gnomon.identity_audit (
    is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
    number bigint NOT NULL
) WITH (fillfactor = 50);
