-- +goose Up
-- Where in a chat a request was asked for. Once it is approved, the card of what runs is shown there. Requests that have ended have none.
CREATE TABLE chat_asks (
    request BIGINT NOT NULL PRIMARY KEY,
    kind    TEXT NOT NULL, -- slack
    team    TEXT NOT NULL,
    tenant  TEXT NOT NULL,
    channel TEXT NOT NULL,
    person  TEXT NOT NULL, -- who asked, as the chat knows them
    at      BIGINT NOT NULL
);

-- The newest card of a cluster in a channel. Cards are dropped when their operation ends; what happens to the cluster later is told beneath this one.
CREATE TABLE chat_places (
    kind    TEXT NOT NULL,
    team    TEXT NOT NULL,
    tenant  TEXT NOT NULL,
    cluster TEXT NOT NULL,
    channel TEXT NOT NULL,
    message TEXT NOT NULL, -- the chat's name of the card
    PRIMARY KEY (kind, cluster, channel)
);

-- The message beneath which something is told; '' where a person is told directly. The person is the channel then.
ALTER TABLE chat_tells ADD COLUMN thread TEXT NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE chat_tells DROP COLUMN thread;
DROP TABLE chat_places;
DROP TABLE chat_asks;
