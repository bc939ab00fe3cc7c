-- Additive. Searches of users by the beginnings of words. The column is made from the record by the database, so that it is right
-- whichever version of the program writes it. Each word is in lower case where it is ASCII, and has at most 64 characters. The
-- tenant stands before it, so that the index leads to no users of others.

CREATE FUNCTION identity.words_of(tenant_id text, texts text[]) RETURNS tsvector
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN array_to_tsvector(ARRAY(
        SELECT tenant_id || '/' || left(translate(word, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz'), 64)
        FROM unnest(texts) AS whole,
            LATERAL (
                SELECT whole
                UNION ALL
                SELECT regexp_split_to_table(whole COLLATE "C", '[ @.+_''-]+')
            ) AS parts (word)
        WHERE word <> ''
    ));

ALTER TABLE identity."user" ADD COLUMN words tsvector GENERATED ALWAYS AS (
    identity.words_of(tenant_id, ARRAY[
        coalesce(email, ''),
        coalesce(preferred_username, ''),
        identity.text_of(content, 'given_name'),
        identity.text_of(content, 'family_name')
    ])
) STORED;

CREATE INDEX user_words ON identity."user" USING gin (words);
