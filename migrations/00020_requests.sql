-- +goose Up
-- What somebody asked for, kept for ever.
CREATE TABLE requests (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant     TEXT NOT NULL,
    kind       TEXT NOT NULL,
    name       TEXT NOT NULL,   -- that the cluster was wished to have
    cluster    TEXT NOT NULL,   -- its id; '' until it is made
    requester  TEXT NOT NULL,
    owner      TEXT NOT NULL,
    in_groups  TEXT NOT NULL,   -- JSON
    via        TEXT NOT NULL,
    status     TEXT NOT NULL,
    plan_hash  TEXT NOT NULL,
    asked      TEXT NOT NULL,   -- JSON of what was asked for, without configuration
    facts      TEXT NOT NULL,   -- JSON of what policies saw
    decision   TEXT NOT NULL,   -- JSON of what they said
    terms      TEXT NOT NULL,   -- JSON of what runs
    needs      TEXT NOT NULL,   -- JSON of the approvals that are wanted
    offer      TEXT NOT NULL,   -- JSON, '' for none
    round      BIGINT NOT NULL,
    broken     BIGINT NOT NULL, -- somebody broke the glass
    message    TEXT NOT NULL,
    kept       TEXT NOT NULL,   -- JSON of what is needed to run it; '' once it has ended
    asked_at   BIGINT NOT NULL,
    ended_at   BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    due_at     BIGINT NOT NULL  -- when it is to be looked after next; 0: never
);
CREATE INDEX requests_by_tenant ON requests (tenant, id);
CREATE INDEX requests_by_requester ON requests (tenant, requester, id);
CREATE INDEX requests_by_cluster ON requests (cluster) WHERE cluster <> '';
CREATE INDEX requests_open ON requests (tenant, id) WHERE status IN ('waiting', 'offered');
CREATE INDEX requests_due ON requests (due_at) WHERE due_at > 0;

-- What people said about a request. Nobody speaks twice in a round.
CREATE TABLE reviews (
    request   BIGINT NOT NULL,
    round     BIGINT NOT NULL,
    who       TEXT NOT NULL,
    at        BIGINT NOT NULL,
    verdict   TEXT NOT NULL,
    reason    TEXT NOT NULL,
    plan_hash TEXT NOT NULL,
    counts    TEXT NOT NULL, -- JSON: the policies for whose approval it counts
    PRIMARY KEY (request, round, who, verdict)
);

-- Every version of every policy.
CREATE TABLE policies (
    tenant   TEXT NOT NULL,
    name     TEXT NOT NULL,
    version  BIGINT NOT NULL,
    stands   BIGINT NOT NULL, -- 1: this is the version that counts
    policy   TEXT NOT NULL,   -- JSON
    saved_by TEXT NOT NULL,
    saved_at BIGINT NOT NULL,
    deleted  BIGINT NOT NULL, -- 1: with this version it was deleted
    PRIMARY KEY (tenant, name, version)
);
CREATE UNIQUE INDEX policies_standing ON policies (tenant, name) WHERE stands = 1;
-- By which weekday and hour go.
CREATE TABLE policy_zones (
    tenant TEXT PRIMARY KEY,
    zone   TEXT NOT NULL
);

-- +goose Down
DROP TABLE policy_zones;
DROP TABLE policies;
DROP TABLE reviews;
DROP TABLE requests;
