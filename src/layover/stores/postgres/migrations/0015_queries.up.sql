-- compatible
-- Filters of lists that users keep under a name.
CREATE TABLE layover.saved_views (
    changed_at bigint NOT NULL,
    "user" text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    body bytea NOT NULL,
    PRIMARY KEY ("user", name)
);

-- One row for each event, for tools that read the database. A payload is json and no jsonb, which takes no U+0000; type
-- and node are its first members, and are taken from its text, since `->>` would read all of it and stop at U+0000.
CREATE VIEW layover.event_rows AS
SELECT
    e.execution_id,
    e.seq + each.place::integer - 1 AS seq,
    e.at,
    substring(each.payload::text FROM '^\{"t":"([a-z_]+)"') AS type,
    substring(each.payload::text FROM '^\{"t":"[a-z_]+","n":"([^"]*)"') AS node,
    each.payload
FROM layover.events AS e
CROSS JOIN LATERAL json_array_elements(convert_from(e.body, 'UTF8')::json) WITH ORDINALITY AS each (payload, place);
