-- +goose Up
CREATE TABLE clusters (
    id             TEXT PRIMARY KEY,
    tenant         TEXT NOT NULL,
    number         BIGINT NOT NULL,
    name           TEXT NOT NULL,
    owner          TEXT NOT NULL,
    template       TEXT NOT NULL,
    provider       TEXT NOT NULL,
    size           BIGINT NOT NULL,
    services       TEXT NOT NULL, -- JSON
    status         TEXT NOT NULL,
    message        TEXT NOT NULL,
    cost_per_hour  DOUBLE PRECISION NOT NULL,
    dns_suffix     TEXT NOT NULL,
    definition     TEXT NOT NULL, -- JSON: config, links, services and sizes as they were when the cluster was asked for
    ssh_public_key TEXT NOT NULL,
    ssh_key        BLOB NOT NULL, -- sealed
    created_at     BIGINT NOT NULL,
    expires_at     BIGINT NOT NULL,
    deleted_at     BIGINT NOT NULL
);
CREATE INDEX clusters_by_tenant ON clusters (tenant, number);
CREATE UNIQUE INDEX one_live_cluster_of_a_name ON clusters (tenant, name) WHERE deleted_at = 0;
CREATE INDEX clusters_by_expiry ON clusters (expires_at) WHERE deleted_at = 0 AND expires_at > 0;

CREATE TABLE nodes (
    cluster    TEXT NOT NULL,
    name       TEXT NOT NULL,
    number     BIGINT NOT NULL,
    tenant     TEXT NOT NULL,
    hostname   TEXT NOT NULL,
    hardware   TEXT NOT NULL,
    image      TEXT NOT NULL,
    services   TEXT NOT NULL, -- JSON
    status     TEXT NOT NULL,
    machine_id TEXT NOT NULL,
    addresses  TEXT NOT NULL, -- JSON
    ssh_user   TEXT NOT NULL,
    ssh_port   BIGINT NOT NULL,
    host_key   TEXT NOT NULL, -- public
    own_root   BIGINT NOT NULL,
    secret     BLOB NOT NULL, -- sealed private host key
    PRIMARY KEY (cluster, name)
);

-- One row for each machine that was ever wanted, written before the provider is asked for it.
CREATE TABLE intents (
    id         TEXT PRIMARY KEY,
    tenant     TEXT NOT NULL,
    cluster    TEXT NOT NULL,
    node       TEXT NOT NULL,
    provider   TEXT NOT NULL,
    machine_id TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    ended_at   BIGINT NOT NULL -- when the provider had nothing of it any more
);
CREATE INDEX intents_by_node ON intents (cluster, node);

-- +goose Down
DROP TABLE intents;
DROP TABLE nodes;
DROP TABLE clusters;
