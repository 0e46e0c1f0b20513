-- +goose Up
-- Where a build is to be told how its cluster stands.
ALTER TABLE builds ADD COLUMN callback BLOB NOT NULL DEFAULT x'';       -- the address, sealed; empty where nobody is told, or wants to be any more
ALTER TABLE builds ADD COLUMN callback_name TEXT NOT NULL DEFAULT '';   -- random: what the address is sealed for
ALTER TABLE builds ADD COLUMN callback_shown TEXT NOT NULL DEFAULT '';  -- the address without what may be secret
ALTER TABLE builds ADD COLUMN callback_why TEXT NOT NULL DEFAULT '';    -- why nobody is told
CREATE INDEX builds_by_callback ON builds (callback_name) WHERE callback_name <> '';

-- What it is told: one row for each state. The next one of a build begins when the one before has ended.
CREATE TABLE build_callbacks (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    build      BIGINT NOT NULL,
    tenant     TEXT NOT NULL,
    state      TEXT NOT NULL,    -- of the build: ready, refused, failed or ended
    payload    TEXT NOT NULL,    -- JSON: how the build stood then
    outcome    TEXT NOT NULL,    -- waiting, delivered or failed
    attempts   BIGINT NOT NULL,
    queued_at  BIGINT NOT NULL,
    next_at    BIGINT NOT NULL,
    ended_at   BIGINT NOT NULL,
    holder     TEXT NOT NULL,
    held_until BIGINT NOT NULL,
    status     BIGINT NOT NULL,  -- of the last attempt, like the rest; 0: no answer
    took       BIGINT NOT NULL,
    code       TEXT NOT NULL,
    error      TEXT NOT NULL
);
CREATE INDEX build_callbacks_of ON build_callbacks (build, id);
CREATE INDEX build_callbacks_waiting ON build_callbacks (build, id) WHERE outcome = 'waiting';

-- +goose Down
DROP TABLE build_callbacks;
DROP INDEX builds_by_callback;
ALTER TABLE builds DROP COLUMN callback_why;
ALTER TABLE builds DROP COLUMN callback_shown;
ALTER TABLE builds DROP COLUMN callback_name;
ALTER TABLE builds DROP COLUMN callback;
