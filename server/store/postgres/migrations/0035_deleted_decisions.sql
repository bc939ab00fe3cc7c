-- Additive: what is deleted is stored as such, because decision instances still name it.

ALTER TABLE runtime.decision_requirements ADD COLUMN is_deleted boolean NOT NULL DEFAULT false;
ALTER TABLE runtime.decision_definition ADD COLUMN is_deleted boolean NOT NULL DEFAULT false;

CREATE OR REPLACE VIEW gnomon.decision_requirements AS
SELECT
    partition_id, decision_requirements_key, tenant_id, decision_requirements_id, decision_requirements_name,
    version, resource_name, xml, deployment_key, deployment_time, is_deleted
FROM runtime.decision_requirements;

CREATE OR REPLACE VIEW gnomon.decision_definition AS
SELECT
    partition_id, decision_definition_key, tenant_id, decision_definition_id, name, version,
    decision_requirements_key, decision_requirements_id, decision_requirements_name,
    decision_requirements_version, is_latest_version, is_deleted
FROM runtime.decision_definition;
