-- +goose Up
-- What is asked for with every step, or every half second, is found and not searched for, however much stands there.
DROP INDEX steps_ready;
CREATE INDEX steps_ready ON steps (cluster, node, rank DESC, idx) WHERE state = 'ready';
CREATE INDEX steps_due ON steps (not_before) WHERE state = 'ready' AND not_before > 0;
CREATE INDEX operations_to_retry ON operations (ended_at) WHERE kind = 'delete' AND status = 'failed';
CREATE INDEX clusters_by_number ON clusters (number);
CREATE INDEX clusters_by_name ON clusters (tenant, name, number);
CREATE INDEX live_clusters ON clusters (tenant, number) WHERE deleted_at = 0;
CREATE INDEX live_intents ON intents (provider) WHERE ended_at = 0;

-- +goose Down
DROP INDEX live_intents;
DROP INDEX live_clusters;
DROP INDEX clusters_by_name;
DROP INDEX clusters_by_number;
DROP INDEX operations_to_retry;
DROP INDEX steps_due;
DROP INDEX steps_ready;
CREATE INDEX steps_ready ON steps (operation, node) WHERE state = 'ready';
