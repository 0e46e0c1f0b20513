-- +goose Up
-- What a tenant, a group, a user or each user may have at most; -1 for no limit.
CREATE TABLE quotas (
    tenant     TEXT NOT NULL,
    scope      TEXT NOT NULL,
    name       TEXT NOT NULL, -- of the group or user, else ''
    clusters   DOUBLE PRECISION NOT NULL,
    nodes      DOUBLE PRECISION NOT NULL,
    cpu        DOUBLE PRECISION NOT NULL,
    per_hour   DOUBLE PRECISION NOT NULL,
    per_month  DOUBLE PRECISION NOT NULL,
    changed_at BIGINT NOT NULL,
    changed_by TEXT NOT NULL,
    PRIMARY KEY (tenant, scope, name)
);

-- What each cluster takes of them, from when it was accepted until its machines are gone.
CREATE TABLE reservations (
    id       INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant   TEXT NOT NULL,
    cluster  TEXT NOT NULL,   -- '' while it is only a request
    request  BIGINT NOT NULL, -- 0 for none
    owner    TEXT NOT NULL,
    nodes    BIGINT NOT NULL,
    cpu      DOUBLE PRECISION NOT NULL,
    cost     DOUBLE PRECISION NOT NULL, -- per hour
    from_at  BIGINT NOT NULL,
    until_at BIGINT NOT NULL, -- end of the lease, 0 for none
    ended_at BIGINT NOT NULL
);
CREATE UNIQUE INDEX reservation_of_a_cluster ON reservations (cluster) WHERE cluster <> '';
CREATE UNIQUE INDEX reservation_of_a_request ON reservations (request) WHERE request > 0;
CREATE INDEX live_reservations ON reservations (tenant, owner) WHERE ended_at = 0;
INSERT INTO reservations (tenant, cluster, request, owner, nodes, cpu, cost, from_at, until_at, ended_at)
    SELECT tenant, id, 0, owner, size, 0, cost_per_hour, created_at, expires_at, deleted_at FROM clusters;

-- The groups of the owner when it was reserved.
CREATE TABLE reservation_groups (
    reservation BIGINT NOT NULL,
    in_group    TEXT NOT NULL,
    tenant      TEXT NOT NULL,
    ended_at    BIGINT NOT NULL,
    PRIMARY KEY (reservation, in_group)
);
CREATE INDEX live_reservations_of_groups ON reservation_groups (tenant, in_group, reservation) WHERE ended_at = 0;

-- Which budgets were told of, so that each is told of once a month and level.
CREATE TABLE budget_notices (
    tenant TEXT NOT NULL,
    scope  TEXT NOT NULL,
    name   TEXT NOT NULL,
    month  TEXT NOT NULL,
    level  BIGINT NOT NULL, -- percent
    at     BIGINT NOT NULL,
    PRIMARY KEY (tenant, scope, name, month, level)
);

-- Whose machines they were and what they were, as it was when they were made: sums need no other table.
ALTER TABLE nodes ADD COLUMN cpu DOUBLE PRECISION NOT NULL DEFAULT 0; -- cores, 0 where the hardware says none
ALTER TABLE resources ADD COLUMN owner TEXT NOT NULL DEFAULT '';
ALTER TABLE resources ADD COLUMN template TEXT NOT NULL DEFAULT '';
ALTER TABLE resources ADD COLUMN hardware TEXT NOT NULL DEFAULT '';
ALTER TABLE resources ADD COLUMN cpu DOUBLE PRECISION NOT NULL DEFAULT 0;
UPDATE resources SET owner = coalesce((SELECT c.owner FROM clusters c WHERE c.id = resources.cluster), ''),
    template = coalesce((SELECT c.template FROM clusters c WHERE c.id = resources.cluster), ''),
    hardware = coalesce((SELECT n.hardware FROM nodes n WHERE n.cluster = resources.cluster AND n.name = resources.node), '');
CREATE INDEX resources_by_end ON resources (tenant, gone_at, made_at);

-- When the lease was last set, and when its next warning is due; 0 for none. 1: to be worked out.
ALTER TABLE clusters ADD COLUMN lease_from BIGINT NOT NULL DEFAULT 0;
ALTER TABLE clusters ADD COLUMN warn_at BIGINT NOT NULL DEFAULT 0;
UPDATE clusters SET lease_from = created_at, warn_at = CASE WHEN deleted_at = 0 AND expires_at > 0 THEN 1 ELSE 0 END;
CREATE INDEX leases_to_warn_of ON clusters (warn_at) WHERE deleted_at = 0 AND warn_at > 0;
CREATE TABLE lease_warnings (
    cluster  TEXT NOT NULL,
    until_at BIGINT NOT NULL, -- the end that it was about
    before   BIGINT NOT NULL, -- microseconds
    at       BIGINT NOT NULL,
    PRIMARY KEY (cluster, until_at, before)
);

-- +goose Down
DROP TABLE lease_warnings;
DROP INDEX leases_to_warn_of;
ALTER TABLE clusters DROP COLUMN warn_at;
ALTER TABLE clusters DROP COLUMN lease_from;
DROP INDEX resources_by_end;
ALTER TABLE resources DROP COLUMN cpu;
ALTER TABLE resources DROP COLUMN hardware;
ALTER TABLE resources DROP COLUMN template;
ALTER TABLE resources DROP COLUMN owner;
ALTER TABLE nodes DROP COLUMN cpu;
DROP TABLE budget_notices;
DROP TABLE reservation_groups;
DROP TABLE reservations;
DROP TABLE quotas;
