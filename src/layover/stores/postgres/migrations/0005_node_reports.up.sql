-- compatible
-- What nodes report while they run. The last progress of each call, which is gone when the call has ended: after a crash
-- of the server nobody needs it, so it is not logged.
CREATE UNLOGGED TABLE layover.progress (
    execution_id uuid NOT NULL,
    at bigint NOT NULL,
    attempt integer NOT NULL,
    node text NOT NULL,
    body bytea NOT NULL,
    PRIMARY KEY (execution_id, node)
);

-- The log lines of calls in compressed chunks, each of one attempt; ids are in the order of time.
CREATE TABLE layover.node_logs (
    execution_id uuid NOT NULL,
    at bigint NOT NULL,
    attempt integer NOT NULL,
    lines integer NOT NULL,
    dropped integer NOT NULL,
    id text NOT NULL,
    node text NOT NULL,
    body bytea NOT NULL,
    PRIMARY KEY (execution_id, id)
);
