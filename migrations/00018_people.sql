-- +goose Up
-- A tenant that was deleted keeps its row, so that nobody else ever gets its name and with it its records.
CREATE TABLE tenants (
    name        TEXT PRIMARY KEY,
    about       TEXT NOT NULL,
    slots       BIGINT NOT NULL, -- most slots of its workers at the same time; 0: as many as the server says for all
    created_at  BIGINT NOT NULL,
    created_by  TEXT NOT NULL,
    copied_from TEXT NOT NULL,
    closing_at  BIGINT NOT NULL  -- when it was deleted
);
INSERT INTO tenants (name, about, slots, created_at, created_by, copied_from, closing_at)
    SELECT name, '', 0, 0, '', '', 0 FROM (SELECT 'default' AS name UNION SELECT tenant FROM users UNION SELECT tenant FROM clusters) AS those;

ALTER TABLE users ADD COLUMN full_name TEXT NOT NULL DEFAULT '';
ALTER TABLE users ADD COLUMN email TEXT NOT NULL DEFAULT '';
ALTER TABLE users ADD COLUMN created_by TEXT NOT NULL DEFAULT '';
ALTER TABLE users ADD COLUMN disabled_at BIGINT NOT NULL DEFAULT 0;
ALTER TABLE users ADD COLUMN must_change BIGINT NOT NULL DEFAULT 0; -- the password, before anything else
ALTER TABLE users ADD COLUMN password_at BIGINT NOT NULL DEFAULT 0; -- when it was last set
ALTER TABLE users ADD COLUMN seen_at BIGINT NOT NULL DEFAULT 0;
CREATE INDEX users_by_role ON users (role, tenant);

CREATE TABLE user_groups (
    tenant     TEXT NOT NULL,
    name       TEXT NOT NULL,
    about      TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    created_by TEXT NOT NULL,
    PRIMARY KEY (tenant, name)
);
-- A membership for each source that says so; '' where people set it here. What comes from elsewhere needs no row in user_groups.
CREATE TABLE memberships (
    tenant     TEXT NOT NULL,
    user_name  TEXT NOT NULL,
    group_name TEXT NOT NULL,
    source     TEXT NOT NULL,
    PRIMARY KEY (tenant, user_name, group_name, source)
);
CREATE INDEX memberships_by_group ON memberships (tenant, group_name, user_name);

-- Tokens get a number by which people name them, scopes, an end, and a trace of their use.
CREATE TABLE api_tokens (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    hash       BLOB NOT NULL,     -- SHA-256 of the token; the token itself is nowhere
    tenant     TEXT NOT NULL,
    user_name  TEXT NOT NULL,
    label      TEXT NOT NULL,
    scopes     TEXT NOT NULL,     -- separated by spaces; '' for all that the role may
    created_by TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,   -- 0: it holds until it is revoked or replaced
    used_at    BIGINT NOT NULL,
    used_from  TEXT NOT NULL
);
INSERT INTO api_tokens (hash, tenant, user_name, label, scopes, created_by, created_at, expires_at, used_at, used_from)
    SELECT hash, tenant, user_name, label, '', user_name, created_at, 0, 0, '' FROM tokens;
DROP TABLE tokens;
CREATE UNIQUE INDEX api_tokens_by_hash ON api_tokens (hash);
CREATE UNIQUE INDEX api_tokens_by_label ON api_tokens (tenant, user_name, label);

-- +goose Down
CREATE TABLE tokens (
    hash       BLOB PRIMARY KEY,
    tenant     TEXT NOT NULL,
    user_name  TEXT NOT NULL,
    label      TEXT NOT NULL,
    created_at BIGINT NOT NULL
);
INSERT INTO tokens (hash, tenant, user_name, label, created_at) SELECT hash, tenant, user_name, label, created_at FROM api_tokens;
DROP TABLE api_tokens;
DROP TABLE memberships;
DROP TABLE user_groups;
DROP INDEX users_by_role;
ALTER TABLE users DROP COLUMN seen_at;
ALTER TABLE users DROP COLUMN password_at;
ALTER TABLE users DROP COLUMN must_change;
ALTER TABLE users DROP COLUMN disabled_at;
ALTER TABLE users DROP COLUMN created_by;
ALTER TABLE users DROP COLUMN email;
ALTER TABLE users DROP COLUMN full_name;
DROP TABLE tenants;
