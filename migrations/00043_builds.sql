-- +goose Up
-- Where build systems tell of their builds, and what is to be done then.
CREATE TABLE build_hooks (
    id         TEXT PRIMARY KEY,  -- 128 random bits, which stand in its address
    tenant     TEXT NOT NULL,
    name       TEXT NOT NULL,
    system     TEXT NOT NULL,
    owner      TEXT NOT NULL,     -- as whom it acts
    rules      TEXT NOT NULL,     -- JSON, in order
    secret     BLOB NOT NULL,     -- sealed
    secret_at  BIGINT NOT NULL,
    old_secret BLOB NOT NULL,     -- sealed; the one before, which counts too until old_until
    old_until  BIGINT NOT NULL,
    token_key  BLOB NOT NULL,     -- sealed: what the tokens of builds are made from
    enabled    BIGINT NOT NULL,
    last_at    BIGINT NOT NULL,   -- the latest delivery that was taken
    refused_at BIGINT NOT NULL,   -- the latest that was not signed right
    refused    TEXT NOT NULL,     -- why
    created_by TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    changed_at BIGINT NOT NULL,
    deleted_at BIGINT NOT NULL    -- kept until the last of its clusters is gone
);
CREATE UNIQUE INDEX one_build_hook_of_a_name ON build_hooks (tenant, name) WHERE deleted_at = 0;

-- One row for each time that a build was to have a cluster. A build that lives has one, and so has its key.
CREATE TABLE builds (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    hook       TEXT NOT NULL,
    tenant     TEXT NOT NULL,
    rule       TEXT NOT NULL,
    build_key  TEXT NOT NULL,
    build      TEXT NOT NULL,
    job        TEXT NOT NULL,
    live       BIGINT NOT NULL,   -- 1 until it has no cluster any more and gets none
    state      TEXT NOT NULL,     -- waiting, asking, creating, ready, ending, ended, refused, failed
    words      TEXT NOT NULL,
    final      TEXT NOT NULL,     -- the state that comes after ending
    wanted     TEXT NOT NULL,     -- JSON
    event      TEXT NOT NULL,     -- JSON: what began it, without its payload
    request    BIGINT NOT NULL,   -- that waits for approvals, 0 for none
    cluster    TEXT NOT NULL,
    tries      BIGINT NOT NULL,   -- in a row that came to nothing
    begun_at   BIGINT NOT NULL,
    made_at    BIGINT NOT NULL,   -- when its turn came
    ready_at   BIGINT NOT NULL,
    wait_until BIGINT NOT NULL,   -- if it is not ready then, it fails
    end_at     BIGINT NOT NULL,   -- when its end was told, 0 for not yet
    ended_at   BIGINT NOT NULL,
    retry_at   BIGINT NOT NULL,
    due_at     BIGINT NOT NULL,   -- 0 for not before something happens
    version    BIGINT NOT NULL
);
CREATE UNIQUE INDEX one_live_build_of_a_key ON builds (hook, build_key) WHERE live = 1;
CREATE INDEX builds_by_key ON builds (hook, build_key);
CREATE INDEX builds_by_build ON builds (hook, build) WHERE live = 1;
CREATE INDEX builds_by_rule ON builds (hook, rule, state, id) WHERE live = 1;
CREATE INDEX builds_due ON builds (due_at) WHERE due_at > 0;
CREATE INDEX builds_of_cluster ON builds (cluster) WHERE cluster <> '';
CREATE INDEX builds_of_request ON builds (request) WHERE request > 0;
CREATE INDEX builds_of_tenant ON builds (tenant, id);
CREATE INDEX builds_ended ON builds (ended_at) WHERE live = 0;

-- What has ended, so that what is told of it late begins nothing any more.
CREATE TABLE build_ends (
    hook  TEXT NOT NULL,
    what  TEXT NOT NULL,          -- 'build ' or 'key ' and which
    at    BIGINT NOT NULL,
    PRIMARY KEY (hook, what)
);
CREATE INDEX build_ends_old ON build_ends (at);

-- Every delivery that was signed right. What makes it the same is known for longer than its body is kept.
CREATE TABLE build_seen (
    hook  TEXT NOT NULL,
    uniq  TEXT NOT NULL,
    at    BIGINT NOT NULL,
    PRIMARY KEY (hook, uniq)
);
CREATE INDEX build_seen_old ON build_seen (at);

CREATE TABLE build_deliveries (
    id       INTEGER PRIMARY KEY AUTOINCREMENT,
    hook     TEXT NOT NULL,
    uniq     TEXT NOT NULL,
    tenant   TEXT NOT NULL,
    at       BIGINT NOT NULL,
    sent_at  BIGINT NOT NULL,     -- as signed; 0 where the scheme signs no time
    sender   TEXT NOT NULL,       -- the address
    number   TEXT NOT NULL,       -- the sender's own
    system   TEXT NOT NULL,
    event    TEXT NOT NULL,
    action   TEXT NOT NULL,
    build    TEXT NOT NULL,
    job      TEXT NOT NULL,
    outcome  TEXT NOT NULL,
    words    TEXT NOT NULL,
    rule     TEXT NOT NULL,
    made     BIGINT NOT NULL,     -- the row of builds that it is about, 0 for none
    replays  BIGINT NOT NULL,
    size     BIGINT NOT NULL,     -- of the body, in bytes
    body     BLOB NOT NULL        -- sealed
);
CREATE INDEX build_deliveries_of ON build_deliveries (hook, id);
CREATE INDEX build_deliveries_old ON build_deliveries (at);

-- +goose Down
DROP TABLE build_deliveries;
DROP TABLE build_seen;
DROP TABLE build_ends;
DROP TABLE builds;
DROP TABLE build_hooks;
