-- +goose Up
-- Machines made ahead of time. What is to be looked at next is due at a time; version grows with all that happens to a pool, so that nobody who
-- looked at it before forgets that.
CREATE TABLE pools (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant      TEXT NOT NULL,
    name        TEXT NOT NULL,
    hardware    TEXT NOT NULL,
    image       TEXT NOT NULL,
    provider    TEXT NOT NULL,
    zone        TEXT NOT NULL,   -- '' leaves it to the provider
    wanted      BIGINT NOT NULL,
    max_age     BIGINT NOT NULL, -- microseconds
    mode        TEXT NOT NULL,   -- on, off, drained, deleted
    made_by     TEXT NOT NULL,
    made_at     BIGINT NOT NULL,
    version     BIGINT NOT NULL,
    due_at      BIGINT NOT NULL, -- 0 for not before something happens
    failures    BIGINT NOT NULL, -- in a row
    retry_at    BIGINT NOT NULL,
    trouble     TEXT NOT NULL,   -- why it is not full, '' for nothing
    troubled_at BIGINT NOT NULL,
    told        BIGINT NOT NULL, -- whether people were told of this trouble
    ended_at    BIGINT NOT NULL  -- when it was deleted and had no machine any more
);
CREATE UNIQUE INDEX one_live_pool_of_a_name ON pools (tenant, name) WHERE ended_at = 0;
CREATE INDEX pools_due ON pools (due_at) WHERE due_at > 0;

-- Each machine stands in a cluster of its own, which has one node, no services and no lease, and which no list shows.
CREATE TABLE pool_machines (
    cluster     TEXT PRIMARY KEY,
    pool        BIGINT NOT NULL,
    tenant      TEXT NOT NULL,
    state       TEXT NOT NULL, -- making, ready, promised, handed, failed, leaving, gone
    shape       TEXT NOT NULL, -- what it is, as the catalog had it: only what is asked for by the same is given it
    zone        TEXT NOT NULL,
    made_at     BIGINT NOT NULL,
    ready_at    BIGINT NOT NULL,
    expires_at  BIGINT NOT NULL,
    ended_at    BIGINT NOT NULL, -- when it was handed out, or gone
    for_cluster TEXT NOT NULL,   -- for which node it is promised, or was handed out
    for_node    TEXT NOT NULL
);
CREATE INDEX pool_machines_of ON pool_machines (pool, state, ended_at);
CREATE INDEX pool_machines_ready ON pool_machines (tenant, shape, ready_at) WHERE state = 'ready';
CREATE INDEX pool_machines_for ON pool_machines (for_cluster, for_node) WHERE for_cluster <> '';

ALTER TABLE clusters ADD COLUMN pool BIGINT NOT NULL DEFAULT 0; -- whose machine it is, 0 for an ordinary cluster
-- From which pool the node's machine came, and, until it knows the keys of this cluster only, whose key opens it too.
ALTER TABLE nodes ADD COLUMN pool TEXT NOT NULL DEFAULT '';
ALTER TABLE nodes ADD COLUMN taken_from TEXT NOT NULL DEFAULT '';
ALTER TABLE reservations ADD COLUMN pool BIGINT NOT NULL DEFAULT 0; -- a machine of a pool, which counts as no cluster

-- +goose Down
ALTER TABLE reservations DROP COLUMN pool;
ALTER TABLE nodes DROP COLUMN taken_from;
ALTER TABLE nodes DROP COLUMN pool;
ALTER TABLE clusters DROP COLUMN pool;
DROP TABLE pool_machines;
DROP TABLE pools;
