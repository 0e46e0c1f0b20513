-- +goose Up
-- When clusters go to sleep and wake. Times are five fields as in crontab, by the clock of a zone; "" for never.
CREATE TABLE cluster_schedules (
    cluster    TEXT PRIMARY KEY,
    tenant     TEXT NOT NULL,
    sleep      TEXT NOT NULL,
    wake       TEXT NOT NULL,
    zone       TEXT NOT NULL,
    since      BIGINT NOT NULL, -- what came until then was done or left out
    due_at     BIGINT NOT NULL, -- when to look at it next, 0 for never
    changed_at BIGINT NOT NULL,
    changed_by TEXT NOT NULL
);
CREATE INDEX cluster_schedules_due ON cluster_schedules (due_at) WHERE due_at > 0;

-- +goose Down
DROP TABLE cluster_schedules;
