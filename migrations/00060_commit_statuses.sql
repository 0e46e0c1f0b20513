-- +goose Up
-- Whether a build's commit shows how its cluster is, at the build system's own API.
ALTER TABLE build_hooks ADD COLUMN status_token BLOB NOT NULL DEFAULT x'';  -- sealed; empty: no statuses are written
ALTER TABLE build_hooks ADD COLUMN status_api TEXT NOT NULL DEFAULT '';     -- where the API is; empty: the system's own
ALTER TABLE build_callbacks ADD COLUMN kind TEXT NOT NULL DEFAULT 'callback'; -- callback, or status: a commit's status

-- When a build's end was, by the sender's own clock; 0: it didn't say. Jobs that are created later belong to another run of the build.
ALTER TABLE build_ends ADD COLUMN ended_at BIGINT NOT NULL DEFAULT 0;

-- +goose Down
DELETE FROM build_callbacks WHERE kind = 'status';
ALTER TABLE build_ends DROP COLUMN ended_at;
ALTER TABLE build_callbacks DROP COLUMN kind;
ALTER TABLE build_hooks DROP COLUMN status_api;
ALTER TABLE build_hooks DROP COLUMN status_token;
