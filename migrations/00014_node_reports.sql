-- +goose Up
-- What a node was found to be when it was bootstrapped last.
CREATE TABLE node_reports (
    cluster TEXT NOT NULL,
    node    TEXT NOT NULL,
    tenant  TEXT NOT NULL,
    at      BIGINT NOT NULL,
    report  TEXT NOT NULL, -- JSON
    PRIMARY KEY (cluster, node)
);

-- +goose Down
DROP TABLE node_reports;
