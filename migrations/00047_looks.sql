-- +goose Up
-- What pages of the installation count is counted from indexes alone: steps that wait for a provider, and those at work by worker.
-- State stands in them so that SQLite sees that they hold all that is asked for.
CREATE INDEX steps_for_providers ON steps (operation, state, action) WHERE state IN ('ready', 'queued') AND action IN ('create', 'delete', 'confirm');
DROP INDEX steps_running;
CREATE INDEX steps_running ON steps (deadline, worker, tenant, state) WHERE state = 'running';

-- +goose Down
DROP INDEX steps_running;
CREATE INDEX steps_running ON steps (deadline) WHERE state = 'running';
DROP INDEX steps_for_providers;
