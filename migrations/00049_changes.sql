-- +goose Up
-- What services' own tools would change on nodes, as the latest comparison found it.
CREATE TABLE service_changes (
    cluster TEXT NOT NULL,
    node    TEXT NOT NULL,
    service TEXT NOT NULL,
    tenant  TEXT NOT NULL,
    at      BIGINT NOT NULL,
    changes TEXT NOT NULL, -- JSON
    PRIMARY KEY (cluster, node, service)
);

-- +goose Down
DROP TABLE service_changes;
