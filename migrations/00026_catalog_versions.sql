-- +goose Up
-- Every state in which a catalog entry was published, written when it changed. Settings of providers are no part of it.
CREATE TABLE catalog_versions (
    kind   TEXT NOT NULL,
    name   TEXT NOT NULL,
    number BIGINT NOT NULL, -- 1, 2, 3 … of each entry
    hash   TEXT NOT NULL,   -- SHA-256 of the text, in hex
    text   TEXT NOT NULL,   -- JSON
    published_at BIGINT NOT NULL,
    published_by TEXT NOT NULL, -- the server that did so first
    PRIMARY KEY (kind, name, number)
);

-- +goose Down
DROP TABLE catalog_versions;
