-- +goose Up
CREATE TABLE operations (
    id         INTEGER PRIMARY KEY,
    tenant     TEXT NOT NULL,
    cluster    TEXT NOT NULL,
    kind       TEXT NOT NULL,
    status     TEXT NOT NULL,
    plan_hash  TEXT NOT NULL,
    requester  TEXT NOT NULL,
    message    TEXT NOT NULL,
    total      BIGINT NOT NULL, -- steps that act
    done       BIGINT NOT NULL, -- of those, succeeded
    unfinished BIGINT NOT NULL, -- steps, joins included, that have not succeeded
    active     BIGINT NOT NULL, -- steps that are ready, queued or running: at 0 the operation ends
    expected   BIGINT NOT NULL, -- microseconds
    created_at BIGINT NOT NULL,
    started_at BIGINT NOT NULL,
    ended_at   BIGINT NOT NULL
);
CREATE INDEX operations_by_cluster ON operations (cluster, id);
CREATE UNIQUE INDEX one_running_operation_of_a_cluster ON operations (cluster) WHERE status IN ('running', 'cancelling');

CREATE TABLE steps (
    operation  BIGINT NOT NULL,
    idx        BIGINT NOT NULL,
    tenant     TEXT NOT NULL,
    cluster    TEXT NOT NULL,
    step       TEXT NOT NULL,
    node       TEXT NOT NULL,
    action     TEXT NOT NULL,
    service    TEXT NOT NULL,
    is_join    BIGINT NOT NULL,
    state      TEXT NOT NULL,
    needs_left BIGINT NOT NULL,
    rank       BIGINT NOT NULL, -- microseconds to the end of the plan
    attempt    BIGINT NOT NULL, -- begun so far; the fence
    tries      BIGINT NOT NULL, -- begun since the operation was last resumed
    worker     TEXT NOT NULL,
    deadline   BIGINT NOT NULL, -- of the claim
    not_before BIGINT NOT NULL,
    rung_at    BIGINT NOT NULL, -- queued: when the doorbell was rung; 0 is the outbox
    error_code TEXT NOT NULL,
    error      TEXT NOT NULL,
    started_at BIGINT NOT NULL,
    ended_at   BIGINT NOT NULL,
    PRIMARY KEY (operation, idx)
) WITHOUT ROWID;
CREATE UNIQUE INDEX one_step_at_a_time_on_a_node ON steps (cluster, node) WHERE state IN ('queued', 'running');
CREATE INDEX steps_to_claim ON steps (tenant, rank DESC, operation, idx) WHERE state = 'queued';
CREATE INDEX steps_to_ring ON steps (rung_at) WHERE state = 'queued';
CREATE INDEX steps_ready ON steps (operation, node) WHERE state = 'ready';
CREATE INDEX steps_running ON steps (deadline) WHERE state = 'running';

CREATE TABLE edges (
    operation BIGINT NOT NULL,
    from_idx  BIGINT NOT NULL, -- is needed by
    to_idx    BIGINT NOT NULL,
    PRIMARY KEY (operation, from_idx, to_idx)
) WITHOUT ROWID;

-- +goose Down
DROP TABLE edges;
DROP TABLE steps;
DROP TABLE operations;
