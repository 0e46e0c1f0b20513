-- +goose Up
-- Programs that want to act for somebody who says yes at the portal (RFC 8628). Nothing in here opens anything: of both codes only the hash
-- is kept, and the token is made when the program fetches it.
CREATE TABLE device_asks (
    hash        BLOB NOT NULL PRIMARY KEY, -- of the code that the program keeps
    user_hash   BLOB NOT NULL UNIQUE,      -- of the one that the person types
    host        TEXT NOT NULL,
    origin      TEXT NOT NULL,   -- the address that it asked from
    agent       TEXT NOT NULL,
    wanted      TEXT NOT NULL,   -- scopes that it asked for
    at          BIGINT NOT NULL,
    expires_at  BIGINT NOT NULL,
    polled_at   BIGINT NOT NULL, -- 0: not yet
    answer      TEXT NOT NULL,   -- '', allowed, denied
    answered_at BIGINT NOT NULL, -- 0: not yet
    tenant      TEXT NOT NULL,   -- of who answered; '' before
    user_name   TEXT NOT NULL,
    scopes      TEXT NOT NULL    -- that were given
);
CREATE INDEX device_asks_origin ON device_asks (origin, at);
CREATE INDEX device_asks_expires ON device_asks (expires_at);

-- +goose Down
DROP TABLE device_asks;
