-- +goose Up
-- What was ever made at a provider, from the answer that named it until a list proved it gone: the lines of receipts.
CREATE TABLE resources (
    intent   TEXT NOT NULL,
    kind     TEXT NOT NULL,
    id       TEXT NOT NULL, -- the provider's own
    provider TEXT NOT NULL,
    tenant   TEXT NOT NULL,
    cluster  TEXT NOT NULL,
    node     TEXT NOT NULL,
    zone     TEXT NOT NULL,
    price    DOUBLE PRECISION NOT NULL, -- per hour, when it was made; 0 where unknown
    made_at  BIGINT NOT NULL,
    gone_at  BIGINT NOT NULL,
    PRIMARY KEY (intent, kind, id)
);
CREATE INDEX resources_by_cluster ON resources (cluster, made_at);
INSERT INTO resources (intent, kind, id, provider, tenant, cluster, node, zone, price, made_at, gone_at)
    SELECT id, 'machine', machine_id, provider, tenant, cluster, node, '', 0, created_at, ended_at FROM intents WHERE machine_id <> '';

-- How many attempts may have asked the provider for this machine: at 0 there is nothing to look for.
ALTER TABLE intents ADD COLUMN asked BIGINT NOT NULL DEFAULT 1;

-- When it was proven that nothing of a deleted cluster is left, how, and when it was last asked.
ALTER TABLE clusters ADD COLUMN proven_at BIGINT NOT NULL DEFAULT 0;
ALTER TABLE clusters ADD COLUMN proof TEXT NOT NULL DEFAULT '';
ALTER TABLE clusters ADD COLUMN proof_asked_at BIGINT NOT NULL DEFAULT 0;
CREATE INDEX clusters_to_prove ON clusters (proof_asked_at) WHERE deleted_at > 0 AND proven_at = 0;
-- When machines of an active cluster were found to be gone; 0 where they were not, or are back.
ALTER TABLE clusters ADD COLUMN lost_at BIGINT NOT NULL DEFAULT 0;
CREATE INDEX lost_clusters ON clusters (lost_at) WHERE lost_at > 0;

-- Machines of ours that nobody stands behind, as the reconciler saw them.
CREATE TABLE orphans (
    id         TEXT PRIMARY KEY,
    provider   TEXT NOT NULL,
    machine    TEXT NOT NULL,
    hostname   TEXT NOT NULL,
    zone       TEXT NOT NULL,
    tenant     TEXT NOT NULL,
    cluster    TEXT NOT NULL,
    node       TEXT NOT NULL,
    intent     TEXT NOT NULL,
    kind       TEXT NOT NULL,
    price      DOUBLE PRECISION NOT NULL,
    made_at    BIGINT NOT NULL,
    first_seen BIGINT NOT NULL,
    last_seen  BIGINT NOT NULL,
    sightings  BIGINT NOT NULL,
    gone_at    BIGINT NOT NULL,
    decision   TEXT NOT NULL,
    decided    TEXT NOT NULL, -- by whom
    error      TEXT NOT NULL
);
CREATE INDEX orphans_by_provider ON orphans (provider) WHERE gone_at = 0;

-- What the reconciler last found in each account, and which server is looking now.
CREATE TABLE accounts (
    provider   TEXT PRIMARY KEY,
    holder     TEXT NOT NULL,
    held_until BIGINT NOT NULL,
    began_at   BIGINT NOT NULL,
    ended_at   BIGINT NOT NULL,
    machines   BIGINT NOT NULL,
    orphans    BIGINT NOT NULL,
    deleted    BIGINT NOT NULL,
    held_back  BIGINT NOT NULL,
    lost       BIGINT NOT NULL,
    error      TEXT NOT NULL
);

-- +goose Down
DROP TABLE accounts;
DROP TABLE orphans;
DROP INDEX lost_clusters;
ALTER TABLE clusters DROP COLUMN lost_at;
DROP INDEX clusters_to_prove;
ALTER TABLE clusters DROP COLUMN proof_asked_at;
ALTER TABLE clusters DROP COLUMN proof;
ALTER TABLE clusters DROP COLUMN proven_at;
ALTER TABLE intents DROP COLUMN asked;
DROP TABLE resources;
