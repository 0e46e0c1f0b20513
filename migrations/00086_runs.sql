-- +goose Up
-- Commands that operations run on nodes, and the exit codes of their steps.
CREATE TABLE runs (
    operation BIGINT PRIMARY KEY,
    tenant    TEXT NOT NULL,
    cluster   TEXT NOT NULL,
    run       TEXT NOT NULL -- JSON
);
CREATE TABLE run_exits (
    operation BIGINT NOT NULL,
    step      BIGINT NOT NULL,
    tenant    TEXT NOT NULL,
    code      BIGINT NOT NULL,
    PRIMARY KEY (operation, step)
);

-- +goose Down
DROP TABLE run_exits;
DROP TABLE runs;
