-- +goose Up
-- Clusters with an idle policy are measured in the rounds of health checks; idle_only are those without health checks.
ALTER TABLE cluster_health ADD COLUMN idle_only BIGINT NOT NULL DEFAULT 0;
ALTER TABLE tenants ADD COLUMN idle_policy TEXT NOT NULL DEFAULT ''; -- JSON; '' for none
CREATE TABLE cluster_idle (
    cluster     TEXT PRIMARY KEY,
    tenant      TEXT NOT NULL,
    policy      TEXT NOT NULL,   -- JSON
    from_tenant BIGINT NOT NULL, -- 1: the policy is the tenant's
    disabled    BIGINT NOT NULL, -- 1: turned off for this cluster
    active_at   BIGINT NOT NULL, -- when it was last in use
    idle_since  BIGINT NOT NULL, -- 0: in use, or not known
    measured_at BIGINT NOT NULL,
    reasons     TEXT NOT NULL,   -- JSON: why it isn't idle
    kept_until  BIGINT NOT NULL,
    kept_by     TEXT NOT NULL,
    warned_at   BIGINT NOT NULL, -- of this idle period
    act_at      BIGINT NOT NULL, -- when the action is due
    confirm_at  BIGINT NOT NULL, -- since when a last look is awaited
    done_at     BIGINT NOT NULL, -- for this idle period all is done
    note        TEXT NOT NULL,   -- why the action didn't happen
    due_at      BIGINT NOT NULL  -- when to see to it; 0: after another measurement
);
CREATE INDEX cluster_idle_due ON cluster_idle (due_at) WHERE due_at > 0;
CREATE INDEX cluster_idle_of_tenant ON cluster_idle (tenant);

-- What clusters didn't cost while they slept because they were idle.
CREATE TABLE idle_savings (
    operation BIGINT PRIMARY KEY, -- that put the cluster to sleep
    tenant    TEXT NOT NULL,
    cluster   TEXT NOT NULL,
    per_hour  DOUBLE PRECISION NOT NULL,
    from_at   BIGINT NOT NULL, -- when it slept; 0: not yet
    until_at  BIGINT NOT NULL  -- when it began to wake or to be deleted; 0: not yet
);
CREATE INDEX idle_savings_of_tenant ON idle_savings (tenant, until_at);
CREATE INDEX idle_savings_open ON idle_savings (cluster) WHERE until_at = 0;

-- +goose Down
DROP TABLE idle_savings;
DROP TABLE cluster_idle;
ALTER TABLE tenants DROP COLUMN idle_policy;
DELETE FROM cluster_health WHERE idle_only = 1;
ALTER TABLE cluster_health DROP COLUMN idle_only;
