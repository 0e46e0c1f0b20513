-- +goose Up
-- The operation of the same cluster that was asked for next; 0 for none. What nothing has followed can still be rolled
-- back, and is so by itself where its requester wanted that.
ALTER TABLE operations ADD COLUMN followed_by BIGINT NOT NULL DEFAULT 0;
UPDATE operations SET followed_by = coalesce((SELECT min(l.id) FROM operations l WHERE l.cluster = operations.cluster AND l.id > operations.id), 0);
CREATE INDEX operations_to_roll_back ON operations (id) WHERE on_failure = 'roll_back' AND status IN ('failed', 'cancelled') AND followed_by = 0;
-- What a tenant's queue shows.
CREATE INDEX operations_going_on ON operations (tenant, id) WHERE status IN ('waiting', 'running', 'paused', 'cancelling');
-- A roll-back that failed is tried again by itself, as a delete is.
DROP INDEX operations_to_retry;
CREATE INDEX operations_to_retry ON operations (ended_at) WHERE kind IN ('delete', 'roll_back') AND status = 'failed';

-- +goose Down
DROP INDEX operations_to_retry;
CREATE INDEX operations_to_retry ON operations (ended_at) WHERE kind = 'delete' AND status = 'failed';
DROP INDEX operations_going_on;
DROP INDEX operations_to_roll_back;
ALTER TABLE operations DROP COLUMN followed_by;
