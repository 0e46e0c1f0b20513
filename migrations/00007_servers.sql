-- +goose Up
-- What several servers on one database need to know of each other. A server alone, on SQLite, leaves these empty.
CREATE TABLE writers (
    id    TEXT PRIMARY KEY, -- one for each run of a server
    batch BIGINT NOT NULL,  -- the last one that it committed
    at    BIGINT NOT NULL   -- when it began
);
CREATE TABLE leases (
    name   TEXT PRIMARY KEY,
    holder TEXT NOT NULL,
    until  BIGINT NOT NULL  -- by the database's own clock
);

-- +goose Down
DROP TABLE leases;
DROP TABLE writers;
