-- +goose Up
-- A failed machine that is kept for inspection is a cluster of its own, with one node, a lease and a receipt. kept_from is the cluster that it was in, kept_node
-- which node it was, and kept_reason what failed; '' for all other clusters.
ALTER TABLE clusters ADD COLUMN kept_from TEXT NOT NULL DEFAULT '';
ALTER TABLE clusters ADD COLUMN kept_node TEXT NOT NULL DEFAULT '';
ALTER TABLE clusters ADD COLUMN kept_reason TEXT NOT NULL DEFAULT '';
CREATE INDEX clusters_kept ON clusters (kept_from) WHERE kept_from <> '';
CREATE INDEX clusters_kept_live ON clusters (tenant) WHERE kept_from <> '' AND deleted_at = 0;

-- +goose Down
DROP INDEX clusters_kept_live;
DROP INDEX clusters_kept;
ALTER TABLE clusters DROP COLUMN kept_reason;
ALTER TABLE clusters DROP COLUMN kept_node;
ALTER TABLE clusters DROP COLUMN kept_from;
