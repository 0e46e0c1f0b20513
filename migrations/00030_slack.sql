-- +goose Up
-- What a chat has said is done once, however often it is sent, and by whichever server.
CREATE TABLE chat_once (
    key TEXT PRIMARY KEY, -- a digest of what was said
    at  BIGINT NOT NULL
);
CREATE INDEX chat_once_at ON chat_once (at);

-- A card is a message of a chat that shows how far an operation is. Those that have ended are dropped.
CREATE TABLE chat_cards (
    id        INTEGER PRIMARY KEY AUTOINCREMENT,
    kind      TEXT NOT NULL,            -- slack
    tenant    TEXT NOT NULL,
    cluster   TEXT NOT NULL,
    operation BIGINT NOT NULL,
    channel   TEXT NOT NULL,
    person    TEXT NOT NULL,            -- who asked, as the chat knows them; told directly where the channel is closed to us
    message   TEXT NOT NULL DEFAULT '', -- the chat's name of the message; '' until it was posted
    shown     TEXT NOT NULL DEFAULT '', -- the state that it shows
    shown_at  BIGINT NOT NULL DEFAULT 0,
    at        BIGINT NOT NULL,
    UNIQUE (kind, operation, channel)
);

-- +goose Down
DROP TABLE chat_cards;
DROP TABLE chat_once;
