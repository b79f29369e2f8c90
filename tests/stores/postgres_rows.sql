-- Some thousand executions of all kinds, one each 1,000 seconds from the beginning of 1970 on, with all that belongs to
-- them; the server counts the rows at the end.
INSERT INTO layover.versions (workflow, number, hash, document, created_at)
SELECT 'w' || w, n, 'h' || w || '-' || n, '\x7b7d', 0
FROM generate_series(1, 20) AS w, generate_series(1, 5) AS n;

INSERT INTO layover.heads (
    execution_id, created_at, wake_at, missing_since, priority, last_seq, last_epoch, epoch, commands_seq,
    commands_done, takeovers, workflow, status, owner, missing, unindexed
)
SELECT
    lpad(to_hex(x), 32, '0')::uuid, x * 1000000,
    CASE WHEN x % 4 = 0 THEN x END,
    CASE WHEN x % 50 = 1 THEN x END,
    0, 7, 1, 1, 1, 1, 0,
    'w' || 1 + x % 20,
    CASE WHEN x % 4 = 0 THEN 'running' WHEN x % 20 = 1 THEN 'paused' ELSE 'completed' END,
    CASE WHEN x % 8 = 0 THEN 'me' END,
    CASE WHEN x % 50 = 1 THEN ARRAY['t' || x % 7] END,
    x % 30 = 0
FROM generate_series(1::bigint, 6000) AS x;

INSERT INTO layover.executions (execution_id, created_at, finished_at, parent_id, version_id, tags, input)
SELECT
    execution_id, created_at,
    CASE WHEN status = 'completed' THEN created_at + 1 END,
    CASE WHEN created_at % 5000000 = 0 THEN lpad(to_hex(created_at / 5000000), 32, '0')::uuid END,
    1 + (created_at / 1000000) % 100,
    CASE WHEN created_at % 3000000 = 0 THEN ARRAY['t' || (created_at / 1000000) % 100] END,
    CASE WHEN created_at % 4000000 > 0 THEN jsonb_build_object('n', (created_at / 1000000) % 100, 'kind', 'order') END
FROM layover.heads;

INSERT INTO layover.events (execution_id, at, seq, era, count, body)
SELECT execution_id, created_at, 2 * n, created_at / 604800000, 2, '\x5b5d'
FROM layover.heads, generate_series(0, 3) AS n;

INSERT INTO layover.snapshots (execution_id, seq, body)
SELECT execution_id, 1, '\x7b7d' FROM layover.heads WHERE created_at % 2000000 = 0;

INSERT INTO layover.pause_points (execution_id, opened_at, id, workflow, kind, status, body)
SELECT
    execution_id, created_at, execution_id::text || n, workflow, 'approval',
    CASE WHEN status = 'paused' THEN 'open' ELSE 'done' END, '\x7b7d'
FROM layover.heads, generate_series(1, 2) AS n;

INSERT INTO layover.commands (execution_id, at, n, source_n, kind, source, body)
SELECT execution_id, 0, n, n, 'Pause', 'api', '\x7b7d' FROM layover.heads, generate_series(1, 2) AS n;

INSERT INTO layover.outbox (sender, due_at, n, destination, kind, body)
SELECT execution_id, created_at, n, 'd' || n % 2, 'start', '\x7b7d'
FROM layover.heads, generate_series(1, 3) AS n
WHERE status = 'running';

INSERT INTO layover.tokens (execution_id, hash, point)
SELECT execution_id, sha256(execution_id::text::bytea), execution_id::text || 1 FROM layover.heads;

INSERT INTO layover.progress (execution_id, at, attempt, node, body)
SELECT execution_id, 0, 1, 'n' || n, '\x7b7d' FROM layover.heads, generate_series(1, 2) AS n WHERE status = 'running';

INSERT INTO layover.node_logs (execution_id, at, attempt, lines, dropped, id, node, body)
SELECT execution_id, 0, 1, 1, 0, 'c' || n, 'n' || n, '\x7b7d' FROM layover.heads, generate_series(1, 3) AS n;

INSERT INTO layover.waits (execution_id, name, key, point)
SELECT execution_id, 'n' || opened_at / 1000000 % 10, 'k' || opened_at / 1000000 % 1000, id FROM layover.pause_points;

INSERT INTO layover.signals (id, at, dispatched, name, key, data)
SELECT 's' || x, x, x % 100 > 0, 'n' || x % 10, 'k' || x % 1000, '\x6e756c6c' FROM generate_series(1, 5000) AS x;

INSERT INTO layover.places (execution_id, rank, held_at, admitted, name)
SELECT execution_id, created_at, CASE WHEN created_at % 3000000 = 0 THEN 1 END, TRUE, 's' || created_at / 1000000 % 7
FROM layover.heads
WHERE status = 'running';

INSERT INTO layover.rates (name, used_until) SELECT 'r' || x, x FROM generate_series(1, 3000) AS x;

INSERT INTO layover.keys (id, created_at, hash, prefix, name, "user", roles, created_by)
SELECT 'k' || x, x, sha256(('k' || x)::bytea), 'lay_' || x, 'key ' || x, 'u' || x % 100, '["viewer"]', 'admin'
FROM generate_series(1, 3000) AS x;

INSERT INTO layover.audit (at, id, "user", act, target, execution_id, credential, request_id, details)
SELECT
    x / 3, 'a' || x, 'u' || x % 100, 'act' || x % 10, 't' || x % 1000, CASE WHEN x % 2 = 0 THEN 'e' || x % 1000 END,
    'key', 'r' || x, '\x7b7d'
FROM generate_series(1, 5000) AS x;

INSERT INTO layover.replies (until, status, scope, key, fingerprint, body)
SELECT x, 200, 's' || x % 100, 'k' || x, sha256(('f' || x)::bytea), '\x7b7d' FROM generate_series(1, 5000) AS x;

INSERT INTO layover.standings (workflow, changed_at, state, reason, changed_by)
SELECT 'w' || x, x, 'active', '', 'admin' FROM generate_series(1, 3000) AS x;

INSERT INTO layover.triggers (
    id, workflow, name, type, config, timing, topic, state, reason, seq, epoch, next_at, cursor, failures
)
SELECT
    lpad(to_hex(x), 32, '0')::uuid, 'w' || x % 500, 't' || x, 'schedule', '\x7b7d', '',
    CASE WHEN x % 10 = 0 THEN 's' || x ELSE '' END, 'active', '', 1, 0, CASE WHEN x % 3 = 0 THEN x END, '\x7b7d', 0
FROM generate_series(1, 5000) AS x;

INSERT INTO layover.trigger_inputs (
    trigger_id, input_id, state, at, received_at, due_at, forget_at, attempts, reason, execution_id, seq
)
SELECT
    lpad(to_hex(1 + x % 200), 32, '0')::uuid, 'i' || x, CASE WHEN x % 100 = 0 THEN 'pending' ELSE 'started' END, x, x, x,
    x + 1000, 0, '', lpad(to_hex(1 + x % 6000), 32, '0')::uuid, x
FROM generate_series(1, 6000) AS x;

INSERT INTO layover.trigger_tokens (hash, trigger_id, made_at, until)
SELECT encode(sha256(id::text::bytea), 'hex'), id, 1, NULL FROM layover.triggers;
INSERT INTO layover.trigger_events (trigger_id, seq, at, kind, body)
SELECT trigger_id, seq, at, 'TriggerInputReceived', '\x7b7d' FROM layover.trigger_inputs;

INSERT INTO layover.destinations (
    name, config, state, reason, failures, failing_since, open_until, opened, free_at, changed_at
)
SELECT 'd' || x, '', 'active', '', 0, NULL, NULL, 0, 0, 0 FROM generate_series(1, 500) AS x;

INSERT INTO layover.deliveries (
    id, execution_id, n, created_at, due_at, settled_at, epoch, attempts, awaited, leads, workflow, lane, destination,
    kind, point, "user", address, state, reason, body, history
)
SELECT
    lpad(to_hex(x), 32, '0')::uuid, CASE WHEN x % 20 > 0 THEN lpad(to_hex(1 + x % 2000), 32, '0')::uuid END, x, x, x,
    CASE WHEN x % 4 > 0 THEN x END, 0, 0, x % 100 = 0, x % 8 = 0, 'w' || x % 500, 'l' || x % 1000, 'd' || x % 20,
    'pause.opened', '', '', '', CASE x % 4 WHEN 0 THEN 'pending' WHEN 1 THEN 'dead' ELSE 'sent' END, '',
    CASE WHEN x % 3 = 0 THEN '\x7b7d'::bytea ELSE '' END, '\x5b5d'
FROM generate_series(1, 8000) AS x;

INSERT INTO layover.links (execution_id, made_at, expires_at, revoked_at, hash, point, "user")
SELECT execution_id, opened_at, NULL, NULL, sha256(id::bytea), id, 'u' FROM layover.pause_points;

INSERT INTO layover.people ("user", roles, body, changed_at)
SELECT 'u' || x, ARRAY['r' || x % 100], '\x7b7d', x FROM generate_series(1, 3000) AS x;

INSERT INTO layover.batches (
    id, act, wanted, arguments, caller, "user", state, code, reason, created_at, ended_at, due_at, epoch, "interval",
    free_at, share, watch, canary, watch_until, cursor, position, total, done, skipped, failed
)
SELECT
    lpad(to_hex(x), 32, '0')::uuid, 'pause', '\x7b7d', '\x7b7d', '\x7b7d', 'u' || x % 10,
    CASE WHEN x % 20 = 0 THEN 'running' ELSE 'completed' END, '', '', x, CASE WHEN x % 20 > 0 THEN x END, x, 1, 0, 0, 0,
    0, 0, NULL, '', 0, 0, 0, 0, 0
FROM generate_series(1, 3000) AS x;

INSERT INTO layover.batch_items (batch_id, n, target, parent, pin, state, code, reason, at)
SELECT
    lpad(to_hex(1 + x / 1000), 32, '0')::uuid, x, 't' || x, '', '', CASE WHEN x % 50 = 0 THEN 'failed' ELSE 'done' END, '',
    '', x
FROM generate_series(1, 20000) AS x;
INSERT INTO layover.sessions (id, hash, kind, "user", roles, created_at, expires_at, scopes, opened_by, key_id)
SELECT
    'b' || x, sha256(x::text::bytea), CASE WHEN x % 9 = 0 THEN 'link' ELSE 'session' END, 'u' || x % 300, '[]', x, x,
    NULL, '', ''
FROM generate_series(1, 6000) AS x;

INSERT INTO layover.search_terms (created_at, execution_id, term)
SELECT h.created_at, h.execution_id, substring(sha256((n || '/' || h.created_at / 1000000 % 900)::bytea) FROM 1 FOR 17)
FROM layover.heads AS h
CROSS JOIN generate_series(1, 5) AS n
ON CONFLICT DO NOTHING;

INSERT INTO layover.indexed_executions (execution_id, terms)
SELECT execution_id, string_agg(term, ''::bytea ORDER BY term) FROM layover.search_terms GROUP BY execution_id;

ANALYZE layover.search_terms, layover.indexed_executions, layover.versions, layover.heads, layover.executions, layover.events, layover.snapshots, layover.pause_points,
layover.commands, layover.outbox, layover.tokens, layover.waits, layover.signals, layover.places, layover.rates,
layover.keys, layover.audit, layover.replies, layover.standings, layover.triggers,
layover.trigger_inputs, layover.trigger_events, layover.trigger_tokens, layover.destinations,
layover.deliveries, layover.people, layover.batches, layover.batch_items, layover.links, layover.sessions;
