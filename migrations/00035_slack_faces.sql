-- +goose Up
-- What people are told directly in a chat: one row for each notice and person, so that it is told once.
CREATE TABLE chat_tells (
    id        INTEGER PRIMARY KEY AUTOINCREMENT,
    kind      TEXT NOT NULL, -- slack
    team      TEXT NOT NULL, -- the chat's id of the workspace
    person    TEXT NOT NULL, -- as the chat knows them there
    tenant    TEXT NOT NULL,
    user_name TEXT NOT NULL,
    notice    BIGINT NOT NULL,
    state     TEXT NOT NULL, -- waiting, sending, told or dropped
    tries     BIGINT NOT NULL DEFAULT 0,
    next_at   BIGINT NOT NULL,
    began_at  BIGINT NOT NULL DEFAULT 0, -- when it was first sent
    at        BIGINT NOT NULL,
    UNIQUE (kind, team, person, notice)
);
CREATE INDEX chat_tells_due ON chat_tells (kind, team, next_at) WHERE state IN ('waiting', 'sending');
CREATE INDEX chat_tells_at ON chat_tells (at);

-- A person's own page in a chat, as it was shown last. Stale since when something on it may have changed; 0: not.
CREATE TABLE chat_homes (
    kind      TEXT NOT NULL,
    team      TEXT NOT NULL,
    person    TEXT NOT NULL,
    tenant    TEXT NOT NULL,
    user_name TEXT NOT NULL, -- '' of those who are linked to no account
    shown     TEXT NOT NULL, -- a digest
    shown_at  BIGINT NOT NULL,
    opened_at BIGINT NOT NULL,
    stale     BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (kind, team, person)
);
CREATE INDEX chat_homes_by_user ON chat_homes (tenant, user_name);
CREATE INDEX chat_homes_stale ON chat_homes (kind, team, stale) WHERE stale > 0;

-- Up to where notices and events were looked through for both. What was before is told to nobody.
INSERT INTO settings (name, value) SELECT 'chat_noticed', '' || COALESCE(max(id), 0) FROM notices;
INSERT INTO settings (name, value) SELECT 'chat_events', '' || COALESCE(max(seq), 0) FROM events;

-- The message beneath a card that tells how its steps ended, and what it shows.
ALTER TABLE chat_cards ADD COLUMN thread TEXT NOT NULL DEFAULT '';
ALTER TABLE chat_cards ADD COLUMN told TEXT NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE chat_cards DROP COLUMN told;
ALTER TABLE chat_cards DROP COLUMN thread;
DELETE FROM settings WHERE name IN ('chat_noticed', 'chat_events');
DROP TABLE chat_homes;
DROP TABLE chat_tells;
