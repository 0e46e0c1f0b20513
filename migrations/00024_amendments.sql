-- +goose Up
-- What becomes of a node: 0 it stays, 1 it is given back by an operation that has not succeeded yet, 2 it is gone for good and
-- no part of its cluster any more. Its row stays, since receipts and reports name it.
ALTER TABLE nodes ADD COLUMN leaving BIGINT NOT NULL DEFAULT 0;

-- What amendments, and their roll-backs, made of their clusters, until the cluster is gone.
CREATE TABLE changes (
    operation  BIGINT PRIMARY KEY,
    tenant     TEXT NOT NULL,
    cluster    TEXT NOT NULL,
    definition TEXT NOT NULL, -- JSON: the cluster's as it was before; '' where the operation left it as it was
    was        TEXT NOT NULL, -- JSON: the rest of what was before
    made       TEXT NOT NULL, -- JSON: the same, as the operation made it
    reserves   BIGINT NOT NULL -- whether it says what is reserved
);
CREATE INDEX changes_by_cluster ON changes (cluster, operation);

-- +goose Down
DROP TABLE changes;
ALTER TABLE nodes DROP COLUMN leaving;
