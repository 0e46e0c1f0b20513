-- +goose Up
-- With how many nodes an operation is gone on with at the least where not all machines come, whether the others are asked for again
-- later, and of which failure (its ended_at) it was found that it cannot be gone on with.
ALTER TABLE operations ADD COLUMN at_least BIGINT NOT NULL DEFAULT 0;
ALTER TABLE operations ADD COLUMN no_top_up BIGINT NOT NULL DEFAULT 0;
ALTER TABLE operations ADD COLUMN judged_at BIGINT NOT NULL DEFAULT 0;
CREATE INDEX operations_to_go_on ON operations (id) WHERE on_failure IN ('go_on', 'go_on_or_roll_back') AND status = 'failed' AND followed_by = 0
    AND judged_at < ended_at;

-- Clusters that have fewer nodes than were wanted, since only some of the machines came.
CREATE TABLE top_ups (
    cluster   TEXT PRIMARY KEY,
    tenant    TEXT NOT NULL,
    wanted    BIGINT NOT NULL,            -- nodes
    off       BIGINT NOT NULL,            -- 1: nobody wants them any more
    due_at    BIGINT NOT NULL,            -- of the next try; 0: none now
    tried_at  BIGINT NOT NULL DEFAULT 0,  -- the last one
    tries     BIGINT NOT NULL DEFAULT 0,  -- since the cluster last grew
    operation BIGINT NOT NULL DEFAULT 0,  -- that was begun last; 0: none
    request   BIGINT NOT NULL DEFAULT 0,  -- that waits for approval; 0: none
    note      TEXT NOT NULL DEFAULT ''    -- what became of the last try
);
CREATE INDEX top_ups_due ON top_ups (due_at) WHERE due_at > 0;

-- +goose Down
DROP TABLE top_ups;
DROP INDEX operations_to_go_on;
ALTER TABLE operations DROP COLUMN judged_at;
ALTER TABLE operations DROP COLUMN no_top_up;
ALTER TABLE operations DROP COLUMN at_least;
