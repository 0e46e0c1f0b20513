-- +goose Up
-- Since when a queued step waits for a worker: provisioners are added by that. What is queued now was rung for since it was.
-- What a server of the version before queues has 0, or when it was queued the last time but one.
ALTER TABLE steps ADD COLUMN queued_at BIGINT NOT NULL DEFAULT 0;
UPDATE steps SET queued_at = rung_at WHERE state = 'queued';
CREATE INDEX steps_queued ON steps (tenant, queued_at) WHERE state = 'queued';

-- +goose Down
DROP INDEX steps_queued;
ALTER TABLE steps DROP COLUMN queued_at;
