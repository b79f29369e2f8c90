WITH newest AS MATERIALIZED (
    SELECT workflow, number, hash, document, created_at
    FROM layover.versions
    WHERE workflow = $1::text
    ORDER BY number DESC
    LIMIT 1
),
added AS (
    INSERT INTO layover.versions (workflow, number, hash, document, created_at)
    SELECT $1, coalesce((SELECT number FROM newest), 0) + 1, $2::text, $3::bytea, $4::bigint
    WHERE NOT EXISTS (SELECT 1 FROM newest WHERE hash = $2)
    ON CONFLICT (workflow, number) DO NOTHING
    RETURNING workflow, number, hash, document, created_at
)
SELECT workflow, number, hash, document, created_at FROM added
UNION ALL
SELECT workflow, number, hash, document, created_at FROM newest WHERE hash = $2
