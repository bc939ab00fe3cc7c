-- Codes that were not redeemed yet are found by person and client, so that they go with the consent.

ALTER TABLE identity.authorization_code ADD COLUMN pair text COLLATE "C";
CREATE INDEX authorization_code_pair ON identity.authorization_code (tenant_id, pair, id) WHERE pair IS NOT NULL;

ALTER TABLE identity.device_code ADD COLUMN pair text COLLATE "C";
CREATE INDEX device_code_pair ON identity.device_code (tenant_id, pair, id) WHERE pair IS NOT NULL;
