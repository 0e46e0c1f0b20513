-- +goose Up
-- Who has locked a cluster or a node, when and why, as JSON; '' where it isn't locked.
ALTER TABLE clusters ADD COLUMN locked TEXT NOT NULL DEFAULT '';
ALTER TABLE nodes ADD COLUMN locked TEXT NOT NULL DEFAULT '';
CREATE INDEX clusters_locked ON clusters (tenant, id) WHERE locked <> '';
CREATE INDEX nodes_locked ON nodes (tenant, cluster) WHERE locked <> '';

-- +goose Down
DROP INDEX nodes_locked;
DROP INDEX clusters_locked;
ALTER TABLE nodes DROP COLUMN locked;
ALTER TABLE clusters DROP COLUMN locked;
