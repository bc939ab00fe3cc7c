-- Additive. Finds the tenants that are being removed, and makes removals of their records depend on that.

ALTER TABLE identity.tenant ADD COLUMN removal text COLLATE "C";

CREATE INDEX tenant_removal ON identity.tenant (tenant_id, removal, id) WHERE removal IS NOT NULL;
