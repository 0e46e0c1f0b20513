-- +goose Up
-- Requests for one of several places. A run begins with the cluster of its first attempt, which names it; each further attempt is a cluster of its own.
CREATE TABLE place_runs (
    run               TEXT PRIMARY KEY,
    tenant            TEXT NOT NULL,
    cluster           TEXT NOT NULL,   -- of the latest attempt
    operation         BIGINT NOT NULL, -- that is waited for: the create, or the rollback where the place is being left
    position          BIGINT NOT NULL, -- of the candidate that is being tried
    place_order       TEXT NOT NULL,
    status            TEXT NOT NULL,   -- trying, leaving, done or ended
    message           TEXT NOT NULL,
    choice            TEXT NOT NULL,   -- what happens when it fails for another reason than capacity
    encrypted_payload BLOB NOT NULL,   -- what is needed to try the others
    created_at        BIGINT NOT NULL,
    ended_at          BIGINT NOT NULL
);
CREATE INDEX place_runs_open ON place_runs (operation) WHERE ended_at = 0;

CREATE TABLE place_attempts (
    run       TEXT NOT NULL,
    position  BIGINT NOT NULL,
    tenant    TEXT NOT NULL,
    candidate TEXT NOT NULL, -- JSON, as it was shown
    status    TEXT NOT NULL,
    reason    TEXT NOT NULL,
    cluster   TEXT NOT NULL, -- '' until it is tried
    at        BIGINT NOT NULL,
    PRIMARY KEY (run, position)
);
CREATE INDEX place_attempts_by_cluster ON place_attempts (cluster) WHERE cluster <> '';

-- What was recently learned about the stock of places, for previews.
CREATE TABLE place_stock (
    tenant     TEXT NOT NULL,
    provider   TEXT NOT NULL,
    zone       TEXT NOT NULL, -- '' where the provider chose
    hardware   TEXT NOT NULL,
    full_at    BIGINT NOT NULL, -- when there was no capacity; 0: never
    message    TEXT NOT NULL,
    created_at BIGINT NOT NULL, -- when a machine was last created; 0: never
    PRIMARY KEY (tenant, provider, zone, hardware)
);

-- +goose Down
DROP TABLE place_stock;
DROP TABLE place_attempts;
DROP TABLE place_runs;
