-- What searches over many rows need besides their indexes.

-- How many process instances came to each week of history, and how many left with it: what tells whether a week is as it
-- was, so that what was counted in it still holds. Movers write it, commits do not.
CREATE TABLE history.arrivals (
    partition_id smallint NOT NULL,
    week date NOT NULL,
    arrived bigint NOT NULL,
    dropped bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (partition_id, week)
) WITH (fillfactor = 50);

INSERT INTO history.arrivals (partition_id, week, arrived)
SELECT partition_id, date_trunc('week', bucket)::date, count(*) FROM history.process_instance GROUP BY 1, 2;

-- A worker's jobs may all lie far behind the first keys of a week, so that they have to be read by their own.
DROP INDEX history.job_worker;
CREATE INDEX job_worker ON history.job (tenant_id, worker, job_key) WHERE (char_length(worker) > 256) IS NOT TRUE;
