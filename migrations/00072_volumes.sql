-- +goose Up
-- Volumes outlive the machines that they are attached to. Cluster and node are whom they belong to; of one that is kept, cluster is '' and
-- kept_cluster is where it was before.
CREATE TABLE volumes (
    id              TEXT PRIMARY KEY,
    tenant          TEXT NOT NULL,
    provider        TEXT NOT NULL,
    cluster         TEXT NOT NULL,
    node            TEXT NOT NULL,
    service         TEXT NOT NULL,
    name            TEXT NOT NULL,
    kept_cluster    TEXT NOT NULL DEFAULT '',
    owner           TEXT NOT NULL,
    size_gb         BIGINT NOT NULL,
    filesystem      TEXT NOT NULL,
    mount           TEXT NOT NULL,
    volume          TEXT NOT NULL DEFAULT '',
    snapshot        TEXT NOT NULL DEFAULT '',
    zone            TEXT NOT NULL DEFAULT '',
    machine         TEXT NOT NULL DEFAULT '',
    state           TEXT NOT NULL,
    on_delete       TEXT NOT NULL,
    price           DOUBLE PRECISION NOT NULL DEFAULT 0,
    create_attempts BIGINT NOT NULL DEFAULT 0,
    period          BIGINT NOT NULL DEFAULT 0,
    created_at      BIGINT NOT NULL,
    mounted_at      BIGINT NOT NULL DEFAULT 0,
    kept_at         BIGINT NOT NULL DEFAULT 0,
    expires_at      BIGINT NOT NULL DEFAULT 0,
    deleted_at      BIGINT NOT NULL DEFAULT 0,
    proof           TEXT NOT NULL DEFAULT '',
    error           TEXT NOT NULL DEFAULT ''
);
CREATE UNIQUE INDEX volumes_of_node ON volumes (cluster, node, service, name) WHERE cluster <> '' AND deleted_at = 0;
CREATE INDEX volumes_of_tenant ON volumes (tenant, created_at);
CREATE INDEX volumes_of_cluster ON volumes (cluster) WHERE cluster <> '';
CREATE INDEX volumes_of_kept_cluster ON volumes (kept_cluster) WHERE kept_cluster <> '';
CREATE INDEX volumes_of_provider ON volumes (provider) WHERE deleted_at = 0;
CREATE INDEX volumes_to_delete ON volumes (id) WHERE state = 'deleting';
CREATE INDEX volumes_expiring ON volumes (expires_at) WHERE state = 'kept' AND expires_at > 0;
-- Snapshots are copies of volumes, which outlive them. Of volumes that are made of one, snapshot names it.
CREATE TABLE volume_snapshots (
    id          TEXT PRIMARY KEY,
    tenant      TEXT NOT NULL,
    provider    TEXT NOT NULL,
    volume      TEXT NOT NULL,
    external_of TEXT NOT NULL,
    name        TEXT NOT NULL,
    cluster     TEXT NOT NULL,
    node        TEXT NOT NULL,
    owner       TEXT NOT NULL,
    size_gb     BIGINT NOT NULL,
    filesystem  TEXT NOT NULL,
    snapshot    TEXT NOT NULL DEFAULT '',
    state       TEXT NOT NULL,
    keep        BIGINT NOT NULL,
    created_at  BIGINT NOT NULL,
    deleted_at  BIGINT NOT NULL DEFAULT 0,
    proof       TEXT NOT NULL DEFAULT '',
    error       TEXT NOT NULL DEFAULT ''
);
CREATE INDEX volume_snapshots_of_tenant ON volume_snapshots (tenant, created_at);
CREATE INDEX volume_snapshots_of_volume ON volume_snapshots (volume, created_at);
CREATE INDEX volume_snapshots_due ON volume_snapshots (id) WHERE state IN ('creating', 'deleting');
-- How much of a cluster's cost is for volumes that aren't created yet. Those that are have reservations of their own.
ALTER TABLE reservations ADD COLUMN volume_cost DOUBLE PRECISION NOT NULL DEFAULT 0;
ALTER TABLE orphans ADD COLUMN resource TEXT NOT NULL DEFAULT 'machine';

-- +goose Down
DELETE FROM orphans WHERE resource <> 'machine';
ALTER TABLE orphans DROP COLUMN resource;
ALTER TABLE reservations DROP COLUMN volume_cost;
DROP TABLE volume_snapshots;
DROP TABLE volumes;
