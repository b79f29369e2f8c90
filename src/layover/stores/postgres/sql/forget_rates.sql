-- One that is being used at this moment is passed over: nobody waits for us, and we wait for nobody.
DELETE FROM layover.rates
WHERE name = ANY (
    ARRAY(
        SELECT unused.name
        FROM layover.rates AS unused
        WHERE unused.used_until <= $1::bigint
        FOR UPDATE SKIP LOCKED
    )
)
RETURNING name
