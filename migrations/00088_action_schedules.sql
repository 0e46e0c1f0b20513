-- +goose Up
-- Whether lines of a command's output were left out on a node.
ALTER TABLE run_exits ADD COLUMN cut BIGINT NOT NULL DEFAULT 0;

-- Actions of clusters' templates that are run again and again. ask is JSON: the action, its parameters and nodes. every is an interval or a
-- crontab's five fields by the clock of zone. due_at is when the next run is due, 0 while it's paused; version grows with each claim and change.
CREATE TABLE action_schedules (
    cluster TEXT NOT NULL,
    name TEXT NOT NULL,
    tenant TEXT NOT NULL,
    ask TEXT NOT NULL,
    every TEXT NOT NULL,
    zone TEXT NOT NULL,
    due_at BIGINT NOT NULL,
    version BIGINT NOT NULL DEFAULT 0,
    created_by TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    last_at BIGINT NOT NULL DEFAULT 0,
    last_operation BIGINT NOT NULL DEFAULT 0,
    last_result TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (cluster, name)
);
CREATE INDEX action_schedules_due ON action_schedules (due_at) WHERE due_at > 0;

-- +goose Down
DROP TABLE action_schedules;
ALTER TABLE run_exits DROP COLUMN cut;
