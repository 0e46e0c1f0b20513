-- +goose Up
-- Connections to nodes that wait for a provisioner; a row lives for seconds.
CREATE TABLE tunnels (
    id TEXT PRIMARY KEY,
    tenant TEXT NOT NULL,
    address TEXT NOT NULL,
    needs TEXT NOT NULL,
    guarded BIGINT NOT NULL,
    requested_at BIGINT NOT NULL,
    provisioner TEXT NOT NULL,
    failure TEXT NOT NULL  -- why there is no connection, as JSON
);
CREATE INDEX tunnels_waiting ON tunnels (requested_at);

-- Terminals that people have opened on nodes. Name is that of the session on the node, where it outlives its connection.
CREATE TABLE terminals (
    id TEXT PRIMARY KEY,
    tenant TEXT NOT NULL,
    cluster TEXT NOT NULL,
    node TEXT NOT NULL,
    username TEXT NOT NULL,
    recorded BIGINT NOT NULL,
    opened_at BIGINT NOT NULL,
    seen_at BIGINT NOT NULL,
    ended_at BIGINT NOT NULL,
    ended_by TEXT NOT NULL,
    expires_at BIGINT NOT NULL,  -- when it is removed with its recording; 0 while it is open
    columns_at_start BIGINT NOT NULL,
    rows_at_start BIGINT NOT NULL,
    seconds BIGINT NOT NULL,
    bytes BIGINT NOT NULL
);
CREATE INDEX terminals_tenant ON terminals (tenant, opened_at);
CREATE INDEX terminals_cluster ON terminals (cluster, opened_at);
CREATE INDEX terminals_expire ON terminals (expires_at) WHERE expires_at > 0;
CREATE INDEX terminals_open ON terminals (seen_at) WHERE ended_at = 0;

-- What was shown in them, sealed.
CREATE TABLE terminal_chunks (
    id TEXT PRIMARY KEY,    -- the terminal's, and the number
    terminal TEXT NOT NULL,
    number BIGINT NOT NULL,
    sealed BLOB NOT NULL
);
CREATE UNIQUE INDEX terminal_chunks_terminal ON terminal_chunks (terminal, number);

-- Whether a tenant records terminals, and for how many days recordings are kept; and whether people re-authenticate to open one.
CREATE TABLE terminal_settings (
    tenant TEXT PRIMARY KEY,
    record BIGINT NOT NULL,
    step_up BIGINT NOT NULL,
    keep_days BIGINT NOT NULL,
    changed_by TEXT NOT NULL,
    changed_at BIGINT NOT NULL
);

-- +goose Down
DROP TABLE terminal_settings;
DROP TABLE terminal_chunks;
DROP TABLE terminals;
DROP TABLE tunnels;
