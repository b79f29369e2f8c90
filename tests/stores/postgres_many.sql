-- So many executions that began in five weeks, one after the other, with all that belongs to them. Of each hundred one
-- is due, one is driven, three wait for a moment, five are paused and ninety are closed. Their ids are in no order.
INSERT INTO layover.versions (workflow, number, hash, document, created_at)
SELECT 'w' || w, n, 'h' || w || '-' || n, '\x7b7d', 0
FROM generate_series(1, 20) AS w, generate_series(1, 5) AS n;

INSERT INTO layover.heads (
    execution_id, created_at, wake_at, missing_since, priority, last_seq, last_epoch, epoch, commands_seq,
    commands_done, takeovers, workflow, status, owner, missing
)
SELECT
    md5(x::text)::uuid, x * ({now} / {count}),
    CASE
        WHEN x % 100 = 0 THEN {now} - x % 100000
        WHEN x % 100 = 1 THEN {now} + 30000
        WHEN x % 100 < 5 THEN {now} + x
    END,
    CASE WHEN x % 1000 = 2 THEN x END,
    0, 3, 1, 1,
    CASE WHEN x % 100 = 1 OR (x % 100 > 9 AND x % 3 = 0) THEN 1 ELSE 0 END,
    CASE WHEN x % 100 > 9 AND x % 3 = 0 THEN 1 ELSE 0 END,
    0,
    'w' || 1 + x % 20,
    CASE
        WHEN x % 100 < 2 THEN 'running'
        WHEN x % 100 < 5 THEN 'waiting'
        WHEN x % 100 < 10 THEN 'paused'
        ELSE 'completed'
    END,
    CASE WHEN x % 100 = 1 THEN 'me' WHEN x % 1000 = 0 THEN 'gone' END,
    CASE WHEN x % 1000 = 2 THEN ARRAY['unknown'] END
FROM generate_series(1::bigint, {count}) AS x;

INSERT INTO layover.executions (execution_id, created_at, finished_at, parent_id, version_id, tags, input)
SELECT
    md5(x::text)::uuid, x * ({now} / {count}),
    CASE WHEN x % 100 > 9 THEN x * ({now} / {count}) + 60000 END,
    CASE WHEN x % 5 = 4 THEN md5((x / 50)::text)::uuid END,
    1 + x % 100,
    CASE WHEN x % 20 = 7 THEN ARRAY['tag-' || x / 1000] END,
    CASE WHEN x % 20 = 8 THEN jsonb_build_object('customer', x / 1000, 'kind', 'order') END
FROM generate_series(1::bigint, {count}) AS x;

INSERT INTO layover.events (execution_id, at, seq, era, count, body)
SELECT
    md5(x::text)::uuid, x * ({now} / {count}), 2 * n, x * ({now} / {count}) / 604800000, 2,
    convert_to('["created", "started", "' || repeat('x', 60) || '"]', 'UTF8')
FROM generate_series(1::bigint, {count}) AS x, generate_series(0, 1) AS n;

INSERT INTO layover.snapshots (execution_id, seq, body)
SELECT md5(x::text)::uuid, 1, '\x7b7d' FROM generate_series(9, {count}, 10) AS x;

INSERT INTO layover.pause_points (execution_id, opened_at, id, workflow, kind, status, closed_at, body)
SELECT
    md5(x::text)::uuid, x * ({now} / {count}), 'p' || x, 'w' || 1 + x % 20, 'approval',
    CASE WHEN x % 100 < 10 THEN 'open' ELSE 'done' END,
    CASE WHEN x % 100 > 9 THEN x * ({now} / {count}) + 50000 END,
    convert_to(replace('{point}', 'its id', 'p' || x), 'UTF8')
FROM generate_series(1::bigint, {count}) AS x
WHERE x % 100 BETWEEN 5 AND 9 OR (x % 100 > 9 AND x % 3 = 0);

INSERT INTO layover.commands (execution_id, at, n, source_n, kind, source, body)
SELECT md5(x::text)::uuid, x * ({now} / {count}), 1, 1, 'Pause', 'api', '\x7b7d'
FROM generate_series(1::bigint, {count}) AS x
WHERE x % 100 = 1 OR (x % 100 > 9 AND x % 3 = 0);

INSERT INTO layover.outbox (sender, due_at, n, destination, kind, body)
SELECT
    md5(x::text)::uuid, CASE WHEN x % 100 = 0 THEN {now} - x % 100000 ELSE {now} + x END, 1, 'there', 'start', '\x7b7d'
FROM generate_series(1::bigint, {count}) AS x
WHERE x % 100 IN (0, 2, 3);

INSERT INTO layover.tokens (execution_id, hash, point)
SELECT md5(x::text)::uuid, sha256(('p' || x)::bytea), 'p' || x FROM generate_series(6, {count}, 100) AS x;

INSERT INTO layover.waits (execution_id, name, key, point)
SELECT md5(x::text)::uuid, 'paid', 'k' || x / 1000, 'p' || x FROM generate_series(7, {count}, 100) AS x;

INSERT INTO layover.signals (id, at, dispatched, name, key, data)
SELECT 's' || x, {now} - x, x > 10, 'paid', 'k' || x / 10, '\x6e756c6c' FROM generate_series(1, {count} / 100) AS x;

INSERT INTO layover.places (execution_id, rank, held_at, admitted, name)
SELECT md5(x::text)::uuid, x, x, TRUE, 'lane ' || x / 1000 FROM generate_series(1, {count}, 100) AS x;

INSERT INTO layover.rates (name, used_until) SELECT 'r' || x, x FROM generate_series(1, {count} / 1000) AS x;
