-- +goose Up
-- Where a tenant's notices are sent to.
CREATE TABLE hooks (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant     TEXT NOT NULL,
    name       TEXT NOT NULL,
    url        BLOB NOT NULL,    -- sealed: the addresses of many chats are secrets
    shown      TEXT NOT NULL,    -- the URL without what may be secret
    kinds      TEXT NOT NULL,    -- ',lease,alarm,'; '' is all
    format     TEXT NOT NULL,
    recipient  TEXT NOT NULL,
    secret     BLOB NOT NULL,    -- sealed
    secret_at  BIGINT NOT NULL,
    old_secret BLOB NOT NULL,    -- sealed; the one before, which signs too until old_until
    old_until  BIGINT NOT NULL,
    enabled    BIGINT NOT NULL,
    stopped    TEXT NOT NULL,    -- why Muster stopped it by itself; '' where it did not
    failures   BIGINT NOT NULL,  -- deliveries in a row
    since      BIGINT NOT NULL,  -- notices after this number are for it
    last_id    BIGINT NOT NULL,  -- of the latest attempt: its delivery, and how it went
    last_at    BIGINT NOT NULL,
    last_took  BIGINT NOT NULL,
    last_status BIGINT NOT NULL,
    last_code  TEXT NOT NULL,
    last_error TEXT NOT NULL,
    created_by TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    changed_at BIGINT NOT NULL,
    UNIQUE (tenant, name)
);

-- A notice on its way to one hook. The next one of a hook begins when the one before has ended.
CREATE TABLE hook_deliveries (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    hook       BIGINT NOT NULL,
    tenant     TEXT NOT NULL,
    notice     BIGINT NOT NULL,  -- 0: a test
    state      TEXT NOT NULL,    -- waiting, delivered or failed
    attempts   BIGINT NOT NULL,
    queued_at  BIGINT NOT NULL,
    next_at    BIGINT NOT NULL,
    ended_at   BIGINT NOT NULL,
    holder     TEXT NOT NULL,
    held_until BIGINT NOT NULL,
    status     BIGINT NOT NULL,  -- of the last attempt, like the rest; 0: no answer
    took       BIGINT NOT NULL,
    code       TEXT NOT NULL,
    error      TEXT NOT NULL,
    request    TEXT NOT NULL
);
CREATE INDEX hook_deliveries_by_hook ON hook_deliveries (hook, id);
CREATE INDEX hook_deliveries_waiting ON hook_deliveries (hook, id) WHERE state = 'waiting' AND notice > 0;
CREATE INDEX hook_deliveries_tests ON hook_deliveries (id) WHERE state = 'waiting' AND notice = 0;

CREATE TABLE hook_attempts (
    delivery BIGINT NOT NULL,
    attempt  BIGINT NOT NULL,
    at       BIGINT NOT NULL,
    took     BIGINT NOT NULL,
    status   BIGINT NOT NULL,
    code     TEXT NOT NULL,
    error    TEXT NOT NULL,
    response TEXT NOT NULL,
    PRIMARY KEY (delivery, attempt)
);

-- Up to which notice deliveries have been made, for all hooks.
INSERT INTO settings (name, value) VALUES ('hooks_noticed', '0');

-- +goose Down
DELETE FROM settings WHERE name = 'hooks_noticed';
DROP TABLE hook_attempts;
DROP TABLE hook_deliveries;
DROP TABLE hooks;
