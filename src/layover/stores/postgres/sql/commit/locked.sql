locked AS MATERIALIZED (
    SELECT
        g.*, h.created_at, h.owner AS has_owner, h.epoch AS has_epoch, h.last_seq AS has_seq,
        h.commands_seq AS has_commands,
        h.owner IS NOT DISTINCT FROM g.owner AND h.epoch = g.epoch AND h.last_seq = g.expected
            AND h.commands_seq = g.seen AS passed
    FROM given_moves AS g
    JOIN layover.heads AS h ON h.execution_id = g.execution_id
    WHERE {new_heads_are_there}
    ORDER BY h.execution_id
    FOR NO KEY UPDATE OF h
)
