-- Additive: a table beside the one that older programs read and write.
-- Documents of any kind, in pages. A process instance in the first format is a row of gnomon.instance_document, and moves
-- with its first commit in a later one.

CREATE TABLE gnomon.document (
    partition_id smallint NOT NULL,
    kind smallint NOT NULL,
    key bigint NOT NULL,
    page bigint NOT NULL,
    format smallint NOT NULL,
    content bytea NOT NULL,
    PRIMARY KEY (partition_id, kind, key, page)
) WITH (fillfactor = 70);

-- Every page, wherever it is stored.
CREATE VIEW gnomon.stored_page AS
SELECT partition_id, kind, key, page, format, content FROM gnomon.document
UNION ALL
SELECT partition_id, 1::smallint, process_instance_key, 0::bigint, 1::smallint, content
FROM gnomon.instance_document;
