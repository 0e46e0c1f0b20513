-- +goose Up
-- Pages that list what is locked or kept, count what a template or provider is used by, or add up what is reserved: each finds it without
-- looking at the clusters that it isn't about.
DROP INDEX clusters_kept_live;
CREATE INDEX clusters_kept_live ON clusters (tenant, number) WHERE kept_from <> '' AND deleted_at = 0;
CREATE INDEX clusters_kept_of ON clusters (tenant, kept_from, number) WHERE kept_from <> '' AND deleted_at = 0;
DROP INDEX clusters_locked;
CREATE INDEX clusters_locked ON clusters (tenant, id, deleted_at, locked) WHERE locked <> '' AND deleted_at = 0;
CREATE INDEX live_clusters_of_template ON clusters (tenant, template, deleted_at) WHERE deleted_at = 0;
CREATE INDEX live_clusters_of_provider ON clusters (tenant, provider, number, deleted_at) WHERE deleted_at = 0;
DROP INDEX live_reservations;
CREATE INDEX live_reservations ON reservations (tenant, owner, id, pool, nodes, cpu, cost, until_at, ended_at) WHERE ended_at = 0;

-- +goose Down
DROP INDEX live_reservations;
CREATE INDEX live_reservations ON reservations (tenant, owner) WHERE ended_at = 0;
DROP INDEX live_clusters_of_provider;
DROP INDEX live_clusters_of_template;
DROP INDEX clusters_locked;
CREATE INDEX clusters_locked ON clusters (tenant, id) WHERE locked <> '';
DROP INDEX clusters_kept_of;
DROP INDEX clusters_kept_live;
CREATE INDEX clusters_kept_live ON clusters (tenant) WHERE kept_from <> '' AND deleted_at = 0;
