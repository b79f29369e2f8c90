SELECT (
    SELECT count(*)
    FROM layover.places AS held
    WHERE held.name = places.name AND held.held_at IS NOT NULL AND held.execution_id <> places.execution_id
)
FROM layover.places AS places
WHERE places.execution_id = $1::uuid
