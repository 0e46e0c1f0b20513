-- +goose Up
-- Snapshots by schedule. The texts are an interval or a crontab's five fields in UTC, and how long to keep; '' is none. snapshot_at is when
-- the next one is due, 0 for never. unchanged is 1 from a scheduled snapshot of a volume that no running machine has, until one has it.
ALTER TABLE volumes ADD COLUMN snapshot_every TEXT NOT NULL DEFAULT '';
ALTER TABLE volumes ADD COLUMN snapshot_keep BIGINT NOT NULL DEFAULT 0;
ALTER TABLE volumes ADD COLUMN snapshot_keep_for TEXT NOT NULL DEFAULT '';
ALTER TABLE volumes ADD COLUMN snapshot_at BIGINT NOT NULL DEFAULT 0;
ALTER TABLE volumes ADD COLUMN unchanged BIGINT NOT NULL DEFAULT 0;
ALTER TABLE volumes ADD COLUMN expiry_notified BIGINT NOT NULL DEFAULT 0;
-- How often one that isn't complete was looked at: others have their turn first.
ALTER TABLE volume_snapshots ADD COLUMN looks BIGINT NOT NULL DEFAULT 0;
-- Prices: per hour and GB, for snapshots to come, and per hour of a whole snapshot. 0 is unknown.
ALTER TABLE volumes ADD COLUMN snapshot_price DOUBLE PRECISION NOT NULL DEFAULT 0;
ALTER TABLE volume_snapshots ADD COLUMN price DOUBLE PRECISION NOT NULL DEFAULT 0;
ALTER TABLE volume_snapshots ADD COLUMN scheduled BIGINT NOT NULL DEFAULT 0;
ALTER TABLE volume_snapshots ADD COLUMN expires_at BIGINT NOT NULL DEFAULT 0;
CREATE INDEX volumes_to_copy ON volumes (snapshot_at) WHERE snapshot_at > 0 AND unchanged = 0 AND deleted_at = 0;
CREATE INDEX volume_snapshots_expiring ON volume_snapshots (expires_at) WHERE state = 'ready' AND expires_at > 0;

-- +goose Down
DROP INDEX volume_snapshots_expiring;
DROP INDEX volumes_to_copy;
ALTER TABLE volume_snapshots DROP COLUMN expires_at;
ALTER TABLE volume_snapshots DROP COLUMN scheduled;
ALTER TABLE volume_snapshots DROP COLUMN price;
ALTER TABLE volume_snapshots DROP COLUMN looks;
ALTER TABLE volumes DROP COLUMN snapshot_price;
ALTER TABLE volumes DROP COLUMN expiry_notified;
ALTER TABLE volumes DROP COLUMN unchanged;
ALTER TABLE volumes DROP COLUMN snapshot_at;
ALTER TABLE volumes DROP COLUMN snapshot_keep_for;
ALTER TABLE volumes DROP COLUMN snapshot_keep;
ALTER TABLE volumes DROP COLUMN snapshot_every;
