-- Additive: pages are read and written as before, those of more than 2 KB take less processor time and more space.
-- PostgreSQL's own compression takes 30 milliseconds a megabyte, most of the time of a commit with large values.

ALTER TABLE gnomon.document ALTER COLUMN content SET STORAGE EXTERNAL;
