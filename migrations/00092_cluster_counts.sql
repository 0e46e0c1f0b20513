-- +goose Up
-- What the numbers above a list of clusters, and the costs of all, are counted from, without those that are deleted.
CREATE INDEX clusters_counted ON clusters (tenant, status, visibility, owner, owner_group, id, cost_per_hour, pool, deleted_at) WHERE deleted_at = 0 AND pool = 0;

-- +goose Down
DROP INDEX clusters_counted;
