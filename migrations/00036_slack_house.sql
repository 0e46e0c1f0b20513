-- +goose Up
-- Workspaces of chats that Muster was installed into.
CREATE TABLE chat_workspaces (
    kind          TEXT NOT NULL,            -- slack
    team          TEXT NOT NULL,            -- the chat's id of it; of an installation for a whole organisation that one's
    enterprise    TEXT NOT NULL,
    name          TEXT NOT NULL,
    tenant        TEXT NOT NULL,            -- whose it is
    app           TEXT NOT NULL,
    bot           TEXT NOT NULL,            -- the bot's own id as a person of the chat
    scopes        TEXT NOT NULL,
    fixed         BIGINT NOT NULL,          -- 1: its token is a setting of the servers, and not kept here
    email         BIGINT NOT NULL DEFAULT 0, -- 1: people are linked by their verified addresses
    state         TEXT NOT NULL,            -- connected, broken or removed
    why           TEXT NOT NULL,
    access        BLOB NOT NULL,            -- sealed, like the next; empty where there is none
    refresh       BLOB NOT NULL,
    version       BIGINT NOT NULL,          -- of the tokens
    expires_at    BIGINT NOT NULL,          -- when access ends; 0: never
    holder        TEXT NOT NULL DEFAULT '', -- who refreshes it
    held_until    BIGINT NOT NULL DEFAULT 0,
    installed_by  TEXT NOT NULL,
    installed_at  BIGINT NOT NULL,
    changed_at    BIGINT NOT NULL,
    event_at      BIGINT NOT NULL DEFAULT 0, -- when it was heard from last
    error         TEXT NOT NULL DEFAULT '',  -- the last one
    error_at      BIGINT NOT NULL DEFAULT 0,
    calls         BIGINT NOT NULL DEFAULT 0, -- made in the minute before calls_at
    calls_at      BIGINT NOT NULL DEFAULT 0,
    limited_until BIGINT NOT NULL DEFAULT 0, -- the chat takes no calls before
    PRIMARY KEY (kind, team)
);

-- Installations that were begun: what comes back with one proves that the same sign-in began it.
CREATE TABLE chat_installs (
    hash       BLOB PRIMARY KEY,
    tenant     TEXT NOT NULL,
    user_name  TEXT NOT NULL,
    session    BIGINT NOT NULL,
    at         BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    used_at    BIGINT NOT NULL
);

-- Channels that belong to another tenant than their workspace. Somebody of both sides has to want it.
CREATE TABLE chat_channels (
    kind    TEXT NOT NULL,
    team    TEXT NOT NULL,
    channel TEXT NOT NULL,
    name    TEXT NOT NULL,
    tenant  TEXT NOT NULL,
    host    TEXT NOT NULL, -- who agreed for the workspace's tenant; '' while nobody has
    guest   TEXT NOT NULL, -- who agreed for the channel's tenant
    at      BIGINT NOT NULL,
    PRIMARY KEY (kind, team, channel)
);
CREATE INDEX chat_channels_by_tenant ON chat_channels (tenant);

-- Where the requests of a tenant are shown to those who approve them.
CREATE TABLE chat_approvals (
    tenant  TEXT PRIMARY KEY,
    kind    TEXT NOT NULL,
    team    TEXT NOT NULL,
    channel TEXT NOT NULL,
    set_by  TEXT NOT NULL,
    set_at  BIGINT NOT NULL
);

-- A message there that shows a request. It is kept for a while after the end was shown, so that it is not made anew.
CREATE TABLE chat_reviews (
    id       INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant   TEXT NOT NULL,
    request  BIGINT NOT NULL,
    kind     TEXT NOT NULL,
    team     TEXT NOT NULL,
    channel  TEXT NOT NULL,
    message  TEXT NOT NULL DEFAULT '',
    shown    TEXT NOT NULL DEFAULT '',
    shown_at BIGINT NOT NULL DEFAULT 0,
    ended    BIGINT NOT NULL DEFAULT 0,
    at       BIGINT NOT NULL,
    UNIQUE (request)
);
CREATE INDEX chat_reviews_open ON chat_reviews (kind, team, id) WHERE ended = 0;

-- How servers are connected to a chat that they do not wait to be called by.
CREATE TABLE chat_links (
    server  TEXT PRIMARY KEY,
    kind    TEXT NOT NULL,
    state   TEXT NOT NULL, -- connected, connecting or down
    since   BIGINT NOT NULL,
    seen_at BIGINT NOT NULL,
    error   TEXT NOT NULL
);

-- Cards are shown in the workspace in which they were asked for.
ALTER TABLE chat_cards ADD COLUMN team TEXT NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE chat_cards DROP COLUMN team;
DROP TABLE chat_links;
DROP TABLE chat_reviews;
DROP TABLE chat_approvals;
DROP TABLE chat_channels;
DROP TABLE chat_installs;
DROP TABLE chat_workspaces;
