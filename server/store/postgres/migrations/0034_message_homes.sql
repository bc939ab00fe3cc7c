-- Additive: older nodes do not read the column, and partitions that they add are no homes.
-- Messages have their homes in the partitions that there were first: a home may not move while something waits there.

ALTER TABLE gnomon.partition ADD COLUMN has_messages boolean NOT NULL DEFAULT true;
ALTER TABLE gnomon.partition ALTER COLUMN has_messages SET DEFAULT false;
