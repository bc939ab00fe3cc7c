-- Additive: ended process instances whose rows are being deleted. Commits note them, and the owner of their partition deletes
-- their rows in steps; `bucket` is where these lie, once the row of the process instance itself is gone.

CREATE TABLE gnomon.history_deletion (
    partition_id smallint NOT NULL,
    process_instance_key bigint NOT NULL,
    tenant_id text COLLATE "C" NOT NULL,
    bucket date,
    PRIMARY KEY (partition_id, process_instance_key)
) WITH (fillfactor = 70);

-- How many steps deleted rows of a week: with what arrived, it tells whether a week is as it was.
ALTER TABLE history.arrivals ADD COLUMN deletions bigint NOT NULL DEFAULT 0;
