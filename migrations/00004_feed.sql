-- +goose Up
CREATE TABLE events (
    seq       INTEGER PRIMARY KEY AUTOINCREMENT,
    at        BIGINT NOT NULL,
    tenant    TEXT NOT NULL,
    cluster   TEXT NOT NULL,
    operation BIGINT NOT NULL,
    kind      TEXT NOT NULL,
    node      TEXT NOT NULL,
    step      TEXT NOT NULL,
    status    TEXT NOT NULL,
    message   TEXT NOT NULL,
    done      BIGINT NOT NULL,
    total     BIGINT NOT NULL
);
CREATE INDEX events_by_cluster ON events (cluster, seq);
CREATE TABLE logs (
    seq       INTEGER PRIMARY KEY AUTOINCREMENT,
    at        BIGINT NOT NULL,
    tenant    TEXT NOT NULL,
    cluster   TEXT NOT NULL,
    operation BIGINT NOT NULL,
    idx       BIGINT NOT NULL,
    attempt   BIGINT NOT NULL,
    step      TEXT NOT NULL,
    node      TEXT NOT NULL,
    stream    TEXT NOT NULL,
    text      TEXT NOT NULL
);
CREATE INDEX logs_by_cluster ON logs (cluster, seq);

-- +goose Down
DROP TABLE logs;
DROP TABLE events;
