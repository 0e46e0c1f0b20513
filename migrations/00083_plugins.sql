-- +goose Up
-- What admins of the installation decided about programs of plugins, by the name of the file: the SHA-256 that it must have, in hex, or 'removed'.
CREATE TABLE plugins (
    name TEXT PRIMARY KEY,
    sha256 TEXT NOT NULL,
    changed_by TEXT NOT NULL,
    changed_at BIGINT NOT NULL
);

-- +goose Down
DROP TABLE plugins;
