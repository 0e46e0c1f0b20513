-- +goose Up
-- When the first of a step's tries began, of those since its operation was last resumed; 0 until one has failed.
ALTER TABLE steps ADD COLUMN tried_at BIGINT NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE steps DROP COLUMN tried_at;
