-- +goose Up
-- When a share of a cluster ends, in microseconds; 0 for never. An ended share doesn't count, and is deleted soon after.
ALTER TABLE cluster_shares ADD COLUMN until BIGINT NOT NULL DEFAULT 0;
CREATE INDEX cluster_shares_until ON cluster_shares (until) WHERE until > 0;

-- +goose Down
DROP INDEX cluster_shares_until;
ALTER TABLE cluster_shares DROP COLUMN until;
