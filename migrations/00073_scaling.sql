-- +goose Up
-- Clusters with scaling rules. due_at is when to see to one; claimed_until keeps other servers from it meanwhile.
CREATE TABLE cluster_scaling (
    cluster       TEXT PRIMARY KEY,
    tenant        TEXT NOT NULL,
    rules         TEXT NOT NULL,   -- JSON: the template's, and the owner's instead of them
    scripts       BIGINT NOT NULL, -- 1: nodes are asked in the rounds of health checks
    state         TEXT NOT NULL,   -- JSON
    measured      TEXT NOT NULL,   -- JSON: what nodes said last; '' for nothing
    changed_by    TEXT NOT NULL,   -- who set the owner's rules
    changed_at    BIGINT NOT NULL,
    due_at        BIGINT NOT NULL, -- 0: after a measurement
    claimed_until BIGINT NOT NULL,
    version       BIGINT NOT NULL  -- grows with each claim and change
);
CREATE INDEX cluster_scaling_due ON cluster_scaling (due_at) WHERE due_at > 0;
CREATE INDEX cluster_scaling_of_tenant ON cluster_scaling (tenant);

CREATE TABLE scaling_history (
    cluster TEXT NOT NULL,
    id      BIGINT NOT NULL, -- grows within a cluster
    tenant  TEXT NOT NULL,
    at      BIGINT NOT NULL,
    entry   TEXT NOT NULL,   -- JSON
    PRIMARY KEY (cluster, id)
);
CREATE INDEX scaling_history_of_tenant ON scaling_history (tenant);

-- +goose Down
DROP TABLE scaling_history;
DROP TABLE cluster_scaling;
DELETE FROM cluster_health WHERE idle_only = 1 AND NOT EXISTS (SELECT 1 FROM cluster_idle i WHERE i.cluster = cluster_health.cluster);
