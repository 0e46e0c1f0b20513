-- +goose Up
CREATE TABLE settings (
    name  TEXT PRIMARY KEY,
    value TEXT NOT NULL
);
CREATE TABLE counters (
    name  TEXT PRIMARY KEY,
    value BIGINT NOT NULL
);
CREATE TABLE users (
    tenant        TEXT NOT NULL,
    name          TEXT NOT NULL,
    role          TEXT NOT NULL,
    password_hash TEXT NOT NULL,
    created_at    BIGINT NOT NULL, -- all times: Unix microseconds, 0 for none
    PRIMARY KEY (tenant, name)
);
CREATE TABLE tokens (
    hash       BLOB PRIMARY KEY,   -- SHA-256 of the token; the token itself is nowhere
    tenant     TEXT NOT NULL,
    user_name  TEXT NOT NULL,
    label      TEXT NOT NULL,
    created_at BIGINT NOT NULL
);
CREATE TABLE sessions (
    token      TEXT PRIMARY KEY,
    data       BLOB NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE INDEX sessions_by_expiry ON sessions (expires_at);
CREATE TABLE audit (
    seq       INTEGER PRIMARY KEY,
    at        BIGINT NOT NULL,
    tenant    TEXT NOT NULL,
    user_name TEXT NOT NULL,
    act       TEXT NOT NULL,
    object    TEXT NOT NULL,
    detail    TEXT NOT NULL
);
CREATE INDEX audit_by_tenant ON audit (tenant, seq);

-- +goose Down
DROP TABLE audit;
DROP TABLE sessions;
DROP TABLE tokens;
DROP TABLE users;
DROP TABLE counters;
DROP TABLE settings;
