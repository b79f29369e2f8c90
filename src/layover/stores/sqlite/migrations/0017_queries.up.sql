-- Filters of lists that users keep under a name.
CREATE TABLE saved_views (
    user TEXT NOT NULL,
    name TEXT NOT NULL,
    body BLOB NOT NULL,
    changed_at INTEGER NOT NULL,
    PRIMARY KEY (user, name)
) WITHOUT ROWID;

-- One row for each event, for tools that read the database. `execution_key` has the id as it is stored, and an index.
-- That an execution failed is an event of the execution and not of a node, though its payload names one.
CREATE VIEW event_rows AS
SELECT
    lower(
        substr(hex(e.execution_id), 1, 8) || '-' || substr(hex(e.execution_id), 9, 4) || '-'
        || substr(hex(e.execution_id), 13, 4) || '-' || substr(hex(e.execution_id), 17, 4) || '-'
        || substr(hex(e.execution_id), 21)
    ) AS execution_id,
    e.execution_id AS execution_key,
    e.seq + each.key AS seq,
    e.at AS at,
    json_extract(each.value, '$.t') AS type,
    CASE WHEN json_extract(each.value, '$.t') <> 'execution_failed' THEN json_extract(each.value, '$.n') END AS node,
    each.value AS payload
FROM events AS e, json_each(CAST(e.body AS TEXT)) AS each;
