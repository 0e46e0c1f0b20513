-- +goose Up
-- When changes may start. A tenant's are those of the cluster ''; a cluster without a row has the tenant's.
CREATE TABLE maintenance_windows (
    tenant     TEXT NOT NULL,
    cluster    TEXT NOT NULL,
    settings   TEXT NOT NULL, -- JSON
    changed_at BIGINT NOT NULL,
    changed_by TEXT NOT NULL,
    PRIMARY KEY (tenant, cluster)
);
-- JSON of the window that a request with status scheduled waits for; '' for none. due_at is when it is to start.
ALTER TABLE requests ADD COLUMN maintenance_window TEXT NOT NULL DEFAULT '';
CREATE INDEX requests_scheduled ON requests (tenant, cluster) WHERE status = 'scheduled';

-- +goose Down
UPDATE requests SET status = 'expired', message = 'Maintenance windows are no longer supported.', payload = '', encrypted_payload = x'',
    ended_at = requested_at, due_at = 0 WHERE status = 'scheduled';
DROP INDEX requests_scheduled;
ALTER TABLE requests DROP COLUMN maintenance_window;
DROP TABLE maintenance_windows;
