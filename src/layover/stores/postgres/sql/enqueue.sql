-- Heads are locked first, in the order of their ids; what is decided comes from the locked rows. What another command
-- of the same source wrote while we waited for the lock is not seen here: then the whole statement is refused by
-- `commands_by_source`, and seen when it is run again.
WITH given AS MATERIALIZED (
    SELECT
        execution_id, kind, body, source, source_n, place,
        min(place) OVER (
            PARTITION BY execution_id, source, source_n, CASE WHEN source = '' THEN place END
        ) AS first_place
    FROM unnest($1::uuid[], $2::text[], $3::bytea[], $4::text[], $5::integer[])
    WITH ORDINALITY AS given (execution_id, kind, body, source, source_n, place)
),
locked AS MATERIALIZED (
    SELECT execution_id, status, owner, wake_at, commands_seq
    FROM layover.heads
    WHERE execution_id = ANY ($1::uuid[])
    ORDER BY execution_id
    FOR NO KEY UPDATE
),
seen AS MATERIALIZED (
    SELECT given.place, commands.n
    FROM given
    INNER JOIN layover.commands AS commands
        ON commands.execution_id = given.execution_id
        AND commands.source = given.source
        AND commands.source_n = given.source_n
    WHERE given.source <> ''
),
fresh AS MATERIALIZED (
    SELECT
        given.execution_id, given.kind, given.body, given.source, given.source_n, given.place,
        locked.commands_seq
        + (row_number() OVER (PARTITION BY given.execution_id ORDER BY given.place))::integer AS n
    FROM given
    INNER JOIN locked ON locked.execution_id = given.execution_id
    LEFT JOIN seen ON seen.place = given.place
    WHERE
        locked.status NOT IN ('completed', 'failed', 'cancelled')
        AND seen.place IS NULL
        AND given.place = given.first_place
),
taken AS (
    -- What nobody repeats is told apart by its place.
    INSERT INTO layover.commands (execution_id, n, at, kind, body, source, source_n)
    SELECT execution_id, n, $6::bigint, kind, body, source, CASE WHEN source = '' THEN n ELSE source_n END
    FROM fresh
    RETURNING execution_id, n
),
woken AS (
    UPDATE layover.heads AS heads
    SET
        commands_seq = last.n,
        wake_at = CASE WHEN locked.owner IS NULL THEN $6::bigint ELSE locked.wake_at END
    FROM (SELECT execution_id, max(n) AS n FROM taken GROUP BY execution_id) AS last
    INNER JOIN locked ON locked.execution_id = last.execution_id
    WHERE heads.execution_id = last.execution_id
)
-- audited
SELECT
    locked.status,
    locked.owner,
    coalesce(seen.n, fresh.n) AS n,
    seen.n IS NOT NULL OR given.place <> given.first_place AS repeated
FROM given
LEFT JOIN locked ON locked.execution_id = given.execution_id
LEFT JOIN seen ON seen.place = given.place
LEFT JOIN fresh ON fresh.place = given.first_place
ORDER BY given.place
