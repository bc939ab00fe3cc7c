-- Additive: nodes without format numbers go on beside nodes that have them, and their rows count as format 1.

-- The formats that a node reads, the one that it writes, and how many partitions it gave back because it cannot read them.
ALTER TABLE gnomon.node
    ADD COLUMN oldest_format smallint NOT NULL DEFAULT 1,
    ADD COLUMN latest_format smallint NOT NULL DEFAULT 1,
    ADD COLUMN written_format smallint NOT NULL DEFAULT 1,
    ADD COLUMN unreadable smallint NOT NULL DEFAULT 0;

ALTER TABLE gnomon.outbox ADD COLUMN format smallint NOT NULL DEFAULT 1;

-- The latest format that all nodes read, in one row; it never falls. Without a row it is 1.
CREATE TABLE gnomon.cluster_format (
    is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
    format smallint NOT NULL
);

INSERT INTO gnomon.cluster_format (format) VALUES (1);
