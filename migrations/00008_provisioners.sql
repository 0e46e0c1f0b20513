-- +goose Up
CREATE TABLE provisioner_tokens (
    name       TEXT PRIMARY KEY,
    hash       BLOB NOT NULL,     -- SHA-256 of the token; the token itself is nowhere
    created_by TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    used_at    BIGINT NOT NULL    -- when a provisioner last registered with it
);
CREATE UNIQUE INDEX provisioner_tokens_by_hash ON provisioner_tokens (hash);

-- One row for each registration. Rows of those that have ended are kept for a day, for people to look at.
CREATE TABLE provisioners (
    id            TEXT PRIMARY KEY,
    name          TEXT NOT NULL,
    host          TEXT NOT NULL,
    version       TEXT NOT NULL,
    token         TEXT NOT NULL,   -- name of the token that it registered with; '' for one inside a server
    tags          TEXT NOT NULL,   -- JSON
    slots         BIGINT NOT NULL,
    state         TEXT NOT NULL,
    registered_at BIGINT NOT NULL,
    seen_at       BIGINT NOT NULL,
    ended_at      BIGINT NOT NULL
);
CREATE INDEX provisioners_by_state ON provisioners (state);

-- Which tenants each provisioner runs a worker for, and with how many slots.
CREATE TABLE provisioner_shares (
    provisioner TEXT NOT NULL,
    tenant      TEXT NOT NULL,
    slots       BIGINT NOT NULL,
    idle_since  BIGINT NOT NULL,   -- 0 while the tenant has steps
    PRIMARY KEY (provisioner, tenant)
);

-- +goose Down
DROP TABLE provisioner_shares;
DROP TABLE provisioners;
DROP TABLE provisioner_tokens;
