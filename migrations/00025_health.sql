-- +goose Up
-- Clusters that are looked after, and how they are. A round is claimed by holding it; its number is the fence.
CREATE TABLE health_rounds (
    cluster    TEXT PRIMARY KEY,
    tenant     TEXT NOT NULL,
    provider   TEXT NOT NULL,
    policy     TEXT NOT NULL,   -- JSON
    due_at     BIGINT NOT NULL, -- of the next round; while one is held, when it is given up
    began_at   BIGINT NOT NULL, -- of the latest round
    round      BIGINT NOT NULL,
    holder     TEXT NOT NULL,   -- the worker that has it; '' for nobody
    looked_at  BIGINT NOT NULL, -- when the latest round ended
    state      TEXT NOT NULL,
    since      BIGINT NOT NULL,
    ill        BIGINT NOT NULL, -- nodes that are sick or unreachable
    repair_at  BIGINT NOT NULL, -- when to see to a repair; 0: there is no need
    repair     BIGINT NOT NULL, -- the operation that was begun for it last
    failures   BIGINT NOT NULL, -- repairs in a row that did not succeed
    note       TEXT NOT NULL    -- what automatic repair waits for
);
CREATE INDEX health_rounds_due ON health_rounds (due_at, tenant, provider);
CREATE INDEX health_rounds_repairs ON health_rounds (repair_at) WHERE repair_at > 0;
CREATE INDEX health_rounds_of_tenant ON health_rounds (tenant);

-- Nodes of which there is more to say than that they are healthy.
CREATE TABLE node_health (
    cluster  TEXT NOT NULL,
    node     TEXT NOT NULL,
    number   BIGINT NOT NULL,
    state    TEXT NOT NULL,
    since    BIGINT NOT NULL,
    machine  TEXT NOT NULL,     -- that it was found of
    rounds   BIGINT NOT NULL,   -- in a row that it was ill
    misses   BIGINT NOT NULL,   -- in a row that it was not reached
    reasons  TEXT NOT NULL,     -- JSON
    counts   TEXT NOT NULL,     -- JSON: failures in a row, by service
    PRIMARY KEY (cluster, node)
);

-- +goose Down
DROP TABLE node_health;
DROP TABLE health_rounds;
