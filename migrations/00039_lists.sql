-- +goose Up
-- All that a list of clusters is narrowed and sorted by: which of ten thousand are shown is found here, without a look at the rows.
CREATE INDEX clusters_listed ON clusters (tenant, number, deleted_at, pool, status, owner, template, provider, name, cost_per_hour, expires_at, id);

-- +goose Down
DROP INDEX clusters_listed;
