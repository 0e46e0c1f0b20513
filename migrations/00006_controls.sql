-- +goose Up
-- Operations can be paused and cancelled, and count what waits and runs of them, so that they take turns.
ALTER TABLE operations ADD COLUMN on_failure TEXT NOT NULL DEFAULT '';
ALTER TABLE operations ADD COLUMN undoes BIGINT NOT NULL DEFAULT 0;
ALTER TABLE operations ADD COLUMN queued BIGINT NOT NULL DEFAULT 0;  -- of the active ones
ALTER TABLE operations ADD COLUMN running BIGINT NOT NULL DEFAULT 0; -- of the active ones
ALTER TABLE operations ADD COLUMN claims BIGINT NOT NULL DEFAULT 0;  -- so far; the node's epoch comes from it
ALTER TABLE operations ADD COLUMN turn BIGINT NOT NULL DEFAULT 0;    -- among equals the smallest first: what gives back, then what is short
UPDATE operations SET turn = CASE WHEN kind = 'delete' THEN 0 ELSE total END,
    queued = (SELECT count(*) FROM steps s WHERE s.operation = operations.id AND s.state = 'queued'),
    running = (SELECT count(*) FROM steps s WHERE s.operation = operations.id AND s.state = 'running');
CREATE INDEX operations_to_claim ON operations (tenant, running, turn, id) WHERE queued > 0;
DROP INDEX one_running_operation_of_a_cluster;
CREATE UNIQUE INDEX one_running_operation_of_a_cluster ON operations (cluster) WHERE status IN ('running', 'paused', 'cancelling');

DROP INDEX steps_to_claim;
CREATE INDEX steps_to_claim ON steps (operation, rank DESC, idx) WHERE state = 'queued';
-- The rules choose among a node's ready steps, so these need no order.
DROP INDEX steps_ready;
CREATE INDEX steps_ready ON steps (cluster, node) WHERE state = 'ready';

-- One row may tell of many steps or nodes: JSON, see app/store/feed.go. '' where the row tells of one thing.
ALTER TABLE events ADD COLUMN changes TEXT NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE events DROP COLUMN changes;
DROP INDEX steps_ready;
CREATE INDEX steps_ready ON steps (cluster, node, rank DESC, idx) WHERE state = 'ready';
DROP INDEX steps_to_claim;
CREATE INDEX steps_to_claim ON steps (tenant, rank DESC, operation, idx) WHERE state = 'queued';
DROP INDEX one_running_operation_of_a_cluster;
CREATE UNIQUE INDEX one_running_operation_of_a_cluster ON operations (cluster) WHERE status IN ('running', 'cancelling');
DROP INDEX operations_to_claim;
ALTER TABLE operations DROP COLUMN turn;
ALTER TABLE operations DROP COLUMN claims;
ALTER TABLE operations DROP COLUMN running;
ALTER TABLE operations DROP COLUMN queued;
ALTER TABLE operations DROP COLUMN undoes;
ALTER TABLE operations DROP COLUMN on_failure;
