-- Written by `make generate` from the migrations. New databases are made from it.

CREATE TABLE goose_db_version (
		id INTEGER PRIMARY KEY AUTOINCREMENT,
		version_id INTEGER NOT NULL,
		is_applied INTEGER NOT NULL,
		tstamp TIMESTAMP DEFAULT (datetime('now'))
	);

CREATE TABLE settings (
    name  TEXT PRIMARY KEY,
    value TEXT NOT NULL
);

CREATE TABLE "sequences" (
    name  TEXT PRIMARY KEY,
    value BIGINT NOT NULL
);

CREATE TABLE users (
    tenant        TEXT NOT NULL,
    name          TEXT NOT NULL,
    role          TEXT NOT NULL,
    password_hash TEXT NOT NULL,
    created_at    BIGINT NOT NULL, full_name TEXT NOT NULL DEFAULT '', email TEXT NOT NULL DEFAULT '', created_by TEXT NOT NULL DEFAULT '', disabled_at BIGINT NOT NULL DEFAULT 0, must_change_password BIGINT NOT NULL DEFAULT 0, password_at BIGINT NOT NULL DEFAULT 0, seen_at BIGINT NOT NULL DEFAULT 0, code_failures BIGINT NOT NULL DEFAULT 0, code_failed_at BIGINT NOT NULL DEFAULT 0, -- all times: Unix microseconds, 0 for none
    PRIMARY KEY (tenant, name)
);

CREATE TABLE sessions (
    token      TEXT PRIMARY KEY,
    data       BLOB NOT NULL,
    expires_at BIGINT NOT NULL
);

CREATE INDEX sessions_by_expiry ON sessions (expires_at);

CREATE TABLE "audit_unchained" (
    seq       INTEGER PRIMARY KEY,
    at        BIGINT NOT NULL,
    tenant    TEXT NOT NULL,
    user_name TEXT NOT NULL,
    act       TEXT NOT NULL,
    object    TEXT NOT NULL,
    detail    TEXT NOT NULL
);

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
, deletion_verified_at BIGINT NOT NULL DEFAULT 0, deletion_proof TEXT NOT NULL DEFAULT '', proof_requested_at BIGINT NOT NULL DEFAULT 0, lost_at BIGINT NOT NULL DEFAULT 0, lease_from BIGINT NOT NULL DEFAULT 0, lease_reminder_at BIGINT NOT NULL DEFAULT 0, pool BIGINT NOT NULL DEFAULT 0, encrypted_definition BLOB NOT NULL DEFAULT x'', visibility TEXT NOT NULL DEFAULT 'tenant', owner_group TEXT NOT NULL DEFAULT '', description TEXT NOT NULL DEFAULT '', labels TEXT NOT NULL DEFAULT '{}', kept_from TEXT NOT NULL DEFAULT '', kept_node TEXT NOT NULL DEFAULT '', kept_reason TEXT NOT NULL DEFAULT '', locked TEXT NOT NULL DEFAULT '');

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
    secret     BLOB NOT NULL, zone TEXT NOT NULL DEFAULT '', cpu DOUBLE PRECISION NOT NULL DEFAULT 0, removal BIGINT NOT NULL DEFAULT 0, pool TEXT NOT NULL DEFAULT '', taken_from TEXT NOT NULL DEFAULT '', replaces_hardware TEXT NOT NULL DEFAULT '', lost_at BIGINT NOT NULL DEFAULT 0, leaves_at BIGINT NOT NULL DEFAULT 0, locked TEXT NOT NULL DEFAULT '', -- sealed private host key
    PRIMARY KEY (cluster, name)
);

CREATE TABLE intents (
    id         TEXT PRIMARY KEY,
    tenant     TEXT NOT NULL,
    cluster    TEXT NOT NULL,
    node       TEXT NOT NULL,
    provider   TEXT NOT NULL,
    machine_id TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    ended_at   BIGINT NOT NULL -- when the provider had nothing of it any more
, create_attempts BIGINT NOT NULL DEFAULT 1);

CREATE INDEX intents_by_node ON intents (cluster, node);

CREATE TABLE operations (
    id         INTEGER PRIMARY KEY,
    tenant     TEXT NOT NULL,
    cluster    TEXT NOT NULL,
    kind       TEXT NOT NULL,
    status     TEXT NOT NULL,
    plan_hash  TEXT NOT NULL,
    requester  TEXT NOT NULL,
    message    TEXT NOT NULL,
    total      BIGINT NOT NULL, -- steps that act
    done       BIGINT NOT NULL, -- of those, succeeded
    unfinished BIGINT NOT NULL, -- steps, joins included, that have not succeeded
    active     BIGINT NOT NULL, -- steps that are ready, queued or running: at 0 the operation ends
    expected   BIGINT NOT NULL, -- microseconds
    created_at BIGINT NOT NULL,
    started_at BIGINT NOT NULL,
    ended_at   BIGINT NOT NULL
, on_failure TEXT NOT NULL DEFAULT '', rolls_back BIGINT NOT NULL DEFAULT 0, queued BIGINT NOT NULL DEFAULT 0, running BIGINT NOT NULL DEFAULT 0, claims BIGINT NOT NULL DEFAULT 0, queue_order BIGINT NOT NULL DEFAULT 0, followed_by BIGINT NOT NULL DEFAULT 0, pending_hooks BIGINT NOT NULL DEFAULT 0, held_until BIGINT NOT NULL DEFAULT 0, vetoed_by TEXT NOT NULL DEFAULT '', scripts TEXT NOT NULL DEFAULT '', min_available BIGINT NOT NULL DEFAULT 0, no_backfill BIGINT NOT NULL DEFAULT 0, evaluated_at BIGINT NOT NULL DEFAULT 0, expected_low BIGINT NOT NULL DEFAULT 0, expected_high BIGINT NOT NULL DEFAULT 0, expected_is_estimate BIGINT NOT NULL DEFAULT 0, expected_runs BIGINT NOT NULL DEFAULT 0, trace TEXT NOT NULL DEFAULT '');

CREATE INDEX operations_by_cluster ON operations (cluster, id);

CREATE TABLE steps (
    operation  BIGINT NOT NULL,
    idx        BIGINT NOT NULL,
    tenant     TEXT NOT NULL,
    cluster    TEXT NOT NULL,
    step       TEXT NOT NULL,
    node       TEXT NOT NULL,
    action     TEXT NOT NULL,
    service    TEXT NOT NULL,
    is_barrier    BIGINT NOT NULL,
    state      TEXT NOT NULL,
    needs_left BIGINT NOT NULL,
    rank       BIGINT NOT NULL, -- microseconds to the end of the plan
    attempt    BIGINT NOT NULL, -- begun so far; the fence
    tries      BIGINT NOT NULL, -- begun since the operation was last resumed
    worker     TEXT NOT NULL,
    deadline   BIGINT NOT NULL, -- of the claim
    not_before BIGINT NOT NULL,
    dispatched_at    BIGINT NOT NULL, -- queued: when the doorbell was rung; 0 is the outbox
    error_code TEXT NOT NULL,
    error      TEXT NOT NULL,
    started_at BIGINT NOT NULL,
    ended_at   BIGINT NOT NULL, first_tried_at BIGINT NOT NULL DEFAULT 0, ask_for BIGINT NOT NULL DEFAULT 0, ask_continue BIGINT NOT NULL DEFAULT 0, duration_id BIGINT NOT NULL DEFAULT 0, queued_at BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (operation, idx)
) WITHOUT ROWID;

CREATE UNIQUE INDEX one_step_at_a_time_on_a_node ON steps (cluster, node) WHERE state IN ('queued', 'running');

CREATE TABLE "step_dependencies" (
    operation BIGINT NOT NULL,
    from_idx  BIGINT NOT NULL, -- is needed by
    to_idx    BIGINT NOT NULL,
    PRIMARY KEY (operation, from_idx, to_idx)
) WITHOUT ROWID;

CREATE TABLE events (
    seq       INTEGER PRIMARY KEY AUTOINCREMENT,
    at        BIGINT NOT NULL,
    tenant    TEXT NOT NULL,
    cluster   TEXT NOT NULL,
    operation BIGINT NOT NULL,
    kind      TEXT NOT NULL,
    node      TEXT NOT NULL,
    step      TEXT NOT NULL,
    status    TEXT NOT NULL,
    message   TEXT NOT NULL,
    done      BIGINT NOT NULL,
    total     BIGINT NOT NULL
, changes TEXT NOT NULL DEFAULT '');

CREATE INDEX events_by_cluster ON events (cluster, seq);

CREATE TABLE logs (
    seq       INTEGER PRIMARY KEY AUTOINCREMENT,
    at        BIGINT NOT NULL,
    tenant    TEXT NOT NULL,
    cluster   TEXT NOT NULL,
    operation BIGINT NOT NULL,
    idx       BIGINT NOT NULL,
    attempt   BIGINT NOT NULL,
    step      TEXT NOT NULL,
    node      TEXT NOT NULL,
    stream    TEXT NOT NULL,
    text      TEXT NOT NULL
);

CREATE INDEX logs_by_cluster ON logs (cluster, seq);

CREATE INDEX steps_due ON steps (not_before) WHERE state = 'ready' AND not_before > 0;

CREATE INDEX clusters_by_number ON clusters (number);

CREATE INDEX clusters_by_name ON clusters (tenant, name, number);

CREATE INDEX live_clusters ON clusters (tenant, number) WHERE deleted_at = 0;

CREATE INDEX live_intents ON intents (provider) WHERE ended_at = 0;

CREATE INDEX operations_to_claim ON operations (tenant, running, queue_order, id) WHERE queued > 0;

CREATE UNIQUE INDEX one_running_operation_of_a_cluster ON operations (cluster) WHERE status IN ('running', 'paused', 'cancelling');

CREATE INDEX steps_to_claim ON steps (operation, rank DESC, idx) WHERE state = 'queued';

CREATE INDEX steps_ready ON steps (cluster, node) WHERE state = 'ready';

CREATE TABLE "write_batches" (
    id    TEXT PRIMARY KEY, -- one for each run of a server
    batch BIGINT NOT NULL,  -- the last one that it committed
    at    BIGINT NOT NULL   -- when it began
);

CREATE TABLE "leader_leases" (
    name   TEXT PRIMARY KEY,
    holder TEXT NOT NULL,
    until  BIGINT NOT NULL  -- by the database's own clock
);

CREATE TABLE provisioner_tokens (
    name       TEXT PRIMARY KEY,
    hash       BLOB NOT NULL,     -- SHA-256 of the token; the token itself is nowhere
    created_by TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    used_at    BIGINT NOT NULL    -- when a provisioner last registered with it
, grants TEXT NOT NULL DEFAULT '');

CREATE UNIQUE INDEX provisioner_tokens_by_hash ON provisioner_tokens (hash);

CREATE TABLE provisioners (
    id            TEXT PRIMARY KEY,
    name          TEXT NOT NULL,
    host          TEXT NOT NULL,
    version       TEXT NOT NULL,
    token         TEXT NOT NULL,   -- name of the token that it registered with; '' for one inside a server
    tags          TEXT NOT NULL,   -- JSON
    slots         BIGINT NOT NULL,
    state         TEXT NOT NULL,
    registered_at BIGINT NOT NULL,
    seen_at       BIGINT NOT NULL,
    ended_at      BIGINT NOT NULL
, only_tenants TEXT NOT NULL DEFAULT '');

CREATE INDEX provisioners_by_state ON provisioners (state);

CREATE TABLE provisioner_shares (
    provisioner TEXT NOT NULL,
    tenant      TEXT NOT NULL,
    slots       BIGINT NOT NULL,
    idle_since  BIGINT NOT NULL,   -- 0 while the tenant has steps
    PRIMARY KEY (provisioner, tenant)
);

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
    created_at  BIGINT NOT NULL,
    deleted_at  BIGINT NOT NULL, owner TEXT NOT NULL DEFAULT '', template TEXT NOT NULL DEFAULT '', hardware TEXT NOT NULL DEFAULT '', cpu DOUBLE PRECISION NOT NULL DEFAULT 0,
    PRIMARY KEY (intent, kind, id)
);

CREATE INDEX lost_clusters ON clusters (lost_at) WHERE lost_at > 0;

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
    created_at    BIGINT NOT NULL,
    first_seen BIGINT NOT NULL,
    last_seen  BIGINT NOT NULL,
    sightings  BIGINT NOT NULL,
    gone_at    BIGINT NOT NULL,
    decision   TEXT NOT NULL,
    decided    TEXT NOT NULL, -- by whom
    error      TEXT NOT NULL
, resource TEXT NOT NULL DEFAULT 'machine');

CREATE INDEX orphans_by_provider ON orphans (provider) WHERE gone_at = 0;

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

CREATE INDEX operations_to_roll_back ON operations (id) WHERE on_failure = 'roll_back' AND status IN ('failed', 'cancelled') AND followed_by = 0;

CREATE INDEX operations_going_on ON operations (tenant, id) WHERE status IN ('waiting', 'running', 'paused', 'cancelling');

CREATE INDEX operations_to_retry ON operations (ended_at) WHERE kind IN ('delete', 'roll_back') AND status = 'failed';

CREATE TABLE node_reports (
    cluster TEXT NOT NULL,
    node    TEXT NOT NULL,
    tenant  TEXT NOT NULL,
    at      BIGINT NOT NULL,
    report  TEXT NOT NULL, -- JSON
    PRIMARY KEY (cluster, node)
);

CREATE TABLE "notifications" (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    at          BIGINT NOT NULL,
    tenant      TEXT NOT NULL,
    kind        TEXT NOT NULL,
    cluster     TEXT NOT NULL,
    request     BIGINT NOT NULL,
    users       TEXT NOT NULL, -- JSON
    in_groups   TEXT NOT NULL, -- JSON
    title       TEXT NOT NULL,
    body        TEXT NOT NULL,
    path        TEXT NOT NULL,
    action      TEXT NOT NULL,
    action_name TEXT NOT NULL
);

CREATE TABLE tenants (
    name        TEXT PRIMARY KEY,
    about       TEXT NOT NULL,
    slots       BIGINT NOT NULL, -- most slots of its workers at the same time; 0: as many as the server says for all
    created_at  BIGINT NOT NULL,
    created_by  TEXT NOT NULL,
    copied_from TEXT NOT NULL,
    deleting_at  BIGINT NOT NULL  -- when it was deleted
, cluster_visibility TEXT NOT NULL DEFAULT 'private', require_second_factor BIGINT NOT NULL DEFAULT 0, currency TEXT NOT NULL DEFAULT '', exchange_rate DOUBLE PRECISION NOT NULL DEFAULT 0, idle_policy TEXT NOT NULL DEFAULT '');

CREATE INDEX users_by_role ON users (role, tenant);

CREATE TABLE user_groups (
    tenant     TEXT NOT NULL,
    name       TEXT NOT NULL,
    about      TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    created_by TEXT NOT NULL,
    PRIMARY KEY (tenant, name)
);

CREATE TABLE memberships (
    tenant     TEXT NOT NULL,
    user_name  TEXT NOT NULL,
    group_name TEXT NOT NULL,
    source     TEXT NOT NULL,
    PRIMARY KEY (tenant, user_name, group_name, source)
);

CREATE INDEX memberships_by_group ON memberships (tenant, group_name, user_name);

CREATE TABLE api_tokens (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    hash       BLOB NOT NULL,     -- SHA-256 of the token; the token itself is nowhere
    tenant     TEXT NOT NULL,
    user_name  TEXT NOT NULL,
    label      TEXT NOT NULL,
    scopes     TEXT NOT NULL,     -- separated by spaces; '' for all that the role may
    created_by TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,   -- 0: it holds until it is revoked or replaced
    used_at    BIGINT NOT NULL,
    used_from  TEXT NOT NULL
);

CREATE UNIQUE INDEX api_tokens_by_hash ON api_tokens (hash);

CREATE UNIQUE INDEX api_tokens_by_label ON api_tokens (tenant, user_name, label);

CREATE TABLE signins (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant     TEXT NOT NULL,
    user_name  TEXT NOT NULL,
    at         BIGINT NOT NULL,
    seen_at    BIGINT NOT NULL, -- to the minute
    came_from  TEXT NOT NULL,   -- the address at the sign-in
    browser    TEXT NOT NULL,
    method        TEXT NOT NULL,   -- password, oidc
    provider   TEXT NOT NULL,   -- which identity provider
    proven_at  BIGINT NOT NULL,
    password_fingerprint       TEXT NOT NULL,   -- of the password as it was; another password ends the sign-in
    revoked_at BIGINT NOT NULL,
    revoked_by TEXT NOT NULL
, second_factor TEXT NOT NULL DEFAULT '');

CREATE INDEX signins_by_user ON signins (tenant, user_name, at);

CREATE INDEX signins_by_time ON signins (at);

CREATE TABLE "sso_subjects" (
    issuer    TEXT NOT NULL,
    subject   TEXT NOT NULL,
    tenant    TEXT NOT NULL,
    user_name TEXT NOT NULL,
    at        BIGINT NOT NULL,
    PRIMARY KEY (issuer, subject, tenant)
);

CREATE TABLE identity_links (
    hash       BLOB NOT NULL,
    kind       TEXT NOT NULL,
    external   TEXT NOT NULL,
    label      TEXT NOT NULL,
    at         BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    used_at    BIGINT NOT NULL,
    PRIMARY KEY (hash)
);

CREATE INDEX identity_links_by_external ON identity_links (kind, external);

CREATE INDEX identity_links_by_expiry ON identity_links (expires_at);

CREATE TABLE identities (
    kind      TEXT NOT NULL,
    external  TEXT NOT NULL,
    label     TEXT NOT NULL,
    tenant    TEXT NOT NULL,
    user_name TEXT NOT NULL,
    at        BIGINT NOT NULL,
    PRIMARY KEY (kind, external)
);

CREATE INDEX identities_by_user ON identities (tenant, user_name);

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
    spec      TEXT NOT NULL,   -- JSON of what was asked for, without configuration
    policy_input      TEXT NOT NULL,   -- JSON of what policies saw
    decision   TEXT NOT NULL,   -- JSON of what they said
    terms      TEXT NOT NULL,   -- JSON of what runs
    needs      TEXT NOT NULL,   -- JSON of the approvals that are wanted
    offer      TEXT NOT NULL,   -- JSON, '' for none
    round      BIGINT NOT NULL,
    break_glass     BIGINT NOT NULL, -- somebody broke the glass
    message    TEXT NOT NULL,
    payload       TEXT NOT NULL,   -- JSON of what is needed to run it; '' once it has ended
    requested_at   BIGINT NOT NULL,
    ended_at   BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    due_at     BIGINT NOT NULL  -- when it is to be looked after next; 0: never
, encrypted_spec BLOB NOT NULL DEFAULT x'', encrypted_terms BLOB NOT NULL DEFAULT x'', encrypted_payload BLOB NOT NULL DEFAULT x'', maintenance_window TEXT NOT NULL DEFAULT '');

CREATE INDEX requests_by_tenant ON requests (tenant, id);

CREATE INDEX requests_by_requester ON requests (tenant, requester, id);

CREATE INDEX requests_by_cluster ON requests (cluster) WHERE cluster <> '';

CREATE INDEX requests_open ON requests (tenant, id) WHERE status IN ('waiting', 'offered');

CREATE INDEX requests_due ON requests (due_at) WHERE due_at > 0;

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

CREATE TABLE policies (
    tenant   TEXT NOT NULL,
    name     TEXT NOT NULL,
    version  BIGINT NOT NULL,
    active   BIGINT NOT NULL, -- 1: this is the version that counts
    policy   TEXT NOT NULL,   -- JSON
    saved_by TEXT NOT NULL,
    saved_at BIGINT NOT NULL,
    deleted  BIGINT NOT NULL, -- 1: with this version it was deleted
    PRIMARY KEY (tenant, name, version)
);

CREATE TABLE policy_zones (
    tenant TEXT PRIMARY KEY,
    zone   TEXT NOT NULL
);

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
, pool BIGINT NOT NULL DEFAULT 0, volume_cost DOUBLE PRECISION NOT NULL DEFAULT 0);

CREATE UNIQUE INDEX reservation_of_a_cluster ON reservations (cluster) WHERE cluster <> '';

CREATE UNIQUE INDEX reservation_of_a_request ON reservations (request) WHERE request > 0;

CREATE TABLE reservation_groups (
    reservation BIGINT NOT NULL,
    in_group    TEXT NOT NULL,
    tenant      TEXT NOT NULL,
    ended_at    BIGINT NOT NULL,
    PRIMARY KEY (reservation, in_group)
);

CREATE INDEX live_reservations_of_groups ON reservation_groups (tenant, in_group, reservation) WHERE ended_at = 0;

CREATE TABLE "budget_alerts" (
    tenant TEXT NOT NULL,
    scope  TEXT NOT NULL,
    name   TEXT NOT NULL,
    month  TEXT NOT NULL,
    level  BIGINT NOT NULL, -- percent
    at     BIGINT NOT NULL,
    PRIMARY KEY (tenant, scope, name, month, level)
);

CREATE TABLE lease_warnings (
    cluster  TEXT NOT NULL,
    until_at BIGINT NOT NULL, -- the end that it was about
    before   BIGINT NOT NULL, -- microseconds
    at       BIGINT NOT NULL,
    PRIMARY KEY (cluster, until_at, before)
);

CREATE TABLE data_keys (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    wrapped    BLOB NOT NULL,
    kek        TEXT NOT NULL,     -- name of the key-encryption key; never the key
    created_at    BIGINT NOT NULL,
    retired_at BIGINT NOT NULL    -- when nothing was sealed with it any more
);

CREATE TABLE secrets (
    tenant  TEXT NOT NULL,
    name    TEXT NOT NULL,
    value   BLOB NOT NULL,
    set_by  TEXT NOT NULL,
    set_at  BIGINT NOT NULL,
    used_at BIGINT NOT NULL,
    PRIMARY KEY (tenant, name)
);

CREATE TABLE audit (
    tenant    TEXT NOT NULL,
    number    BIGINT NOT NULL,    -- 1, 2, 3 … in each tenant, without gaps
    at        BIGINT NOT NULL,
    user_name TEXT NOT NULL,
    via       TEXT NOT NULL,
    address   TEXT NOT NULL,      -- that it was asked from
    token     TEXT NOT NULL,      -- label of the API token, where it was one
    act       TEXT NOT NULL,
    object    TEXT NOT NULL,
    detail    TEXT NOT NULL,
    hash      BLOB NOT NULL,      -- SHA-256 of the hash before it and of all the rest of the row
    PRIMARY KEY (tenant, number)
);

CREATE INDEX audit_by_user ON audit (tenant, user_name, number);

CREATE INDEX audit_by_object ON audit (tenant, object, number);

CREATE TABLE "audit_heads" (
    tenant TEXT PRIMARY KEY,
    number BIGINT NOT NULL,
    hash   BLOB NOT NULL,
    mac    BLOB NOT NULL
);

CREATE TRIGGER audit_stays BEFORE UPDATE ON audit BEGIN SELECT RAISE(ABORT, 'the audit is only added to'); END;

CREATE TRIGGER audit_remains BEFORE DELETE ON audit BEGIN SELECT RAISE(ABORT, 'the audit is only added to'); END;

CREATE TABLE "webhooks" (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant     TEXT NOT NULL,
    name       TEXT NOT NULL,
    url        BLOB NOT NULL,    -- sealed: the addresses of many chats are secrets
    shown      TEXT NOT NULL,    -- the URL without what may be secret
    kinds      TEXT NOT NULL,    -- ',lease,alarm,'; '' is all
    format     TEXT NOT NULL,
    recipient  TEXT NOT NULL,
    secret     BLOB NOT NULL,    -- sealed
    secret_at  BIGINT NOT NULL,
    old_secret BLOB NOT NULL,    -- sealed; the one before, which signs too until old_until
    old_until  BIGINT NOT NULL,
    enabled    BIGINT NOT NULL,
    stopped_reason    TEXT NOT NULL,    -- why Muster stopped it by itself; '' where it did not
    failures   BIGINT NOT NULL,  -- deliveries in a row
    since      BIGINT NOT NULL,  -- notices after this number are for it
    last_id    BIGINT NOT NULL,  -- of the latest attempt: its delivery, and how it went
    last_at    BIGINT NOT NULL,
    last_took  BIGINT NOT NULL,
    last_status BIGINT NOT NULL,
    last_code  TEXT NOT NULL,
    last_error TEXT NOT NULL,
    created_by TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    changed_at BIGINT NOT NULL, phase TEXT NOT NULL DEFAULT '', operations TEXT NOT NULL DEFAULT '', timeout BIGINT NOT NULL DEFAULT 0, on_timeout TEXT NOT NULL DEFAULT '', script TEXT NOT NULL DEFAULT '', on_services TEXT NOT NULL DEFAULT '',
    UNIQUE (tenant, name)
);

CREATE TABLE "webhook_deliveries" (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    hook       BIGINT NOT NULL,
    tenant     TEXT NOT NULL,
    notice     BIGINT NOT NULL,  -- 0: a test
    state      TEXT NOT NULL,    -- waiting, delivered or failed
    attempts   BIGINT NOT NULL,
    queued_at  BIGINT NOT NULL,
    next_at    BIGINT NOT NULL,
    ended_at   BIGINT NOT NULL,
    holder     TEXT NOT NULL,
    held_until BIGINT NOT NULL,
    status     BIGINT NOT NULL,  -- of the last attempt, like the rest; 0: no answer
    took       BIGINT NOT NULL,
    code       TEXT NOT NULL,
    error      TEXT NOT NULL,
    request    TEXT NOT NULL
, operation BIGINT NOT NULL DEFAULT 0, title TEXT NOT NULL DEFAULT '', payload TEXT NOT NULL DEFAULT '', verdict TEXT NOT NULL DEFAULT '', deadline BIGINT NOT NULL DEFAULT 0, on_timeout TEXT NOT NULL DEFAULT '');

CREATE TABLE "webhook_attempts" (
    delivery BIGINT NOT NULL,
    attempt  BIGINT NOT NULL,
    at       BIGINT NOT NULL,
    took     BIGINT NOT NULL,
    status   BIGINT NOT NULL,
    code     TEXT NOT NULL,
    error    TEXT NOT NULL,
    response TEXT NOT NULL,
    PRIMARY KEY (delivery, attempt)
);

CREATE TABLE "operation_changes" (
    operation  BIGINT PRIMARY KEY,
    tenant     TEXT NOT NULL,
    cluster    TEXT NOT NULL,
    definition TEXT NOT NULL, -- JSON: the cluster's as it was before; '' where the operation left it as it was
    was        TEXT NOT NULL, -- JSON: the rest of what was before
    made       TEXT NOT NULL, -- JSON: the same, as the operation made it
    reserves   BIGINT NOT NULL -- whether it says what is reserved
, encrypted_definition BLOB NOT NULL DEFAULT x'');

CREATE TABLE "cluster_health" (
    cluster    TEXT PRIMARY KEY,
    tenant     TEXT NOT NULL,
    provider   TEXT NOT NULL,
    policy     TEXT NOT NULL,   -- JSON
    due_at     BIGINT NOT NULL, -- of the next round; while one is held, when it is given up
    began_at   BIGINT NOT NULL, -- of the latest round
    batch      BIGINT NOT NULL,
    holder     TEXT NOT NULL,   -- the worker that has it; '' for nobody
    checked_at  BIGINT NOT NULL, -- when the latest round ended
    state      TEXT NOT NULL,
    since      BIGINT NOT NULL,
    unhealthy_nodes        BIGINT NOT NULL, -- nodes that are sick or unreachable
    repair_at  BIGINT NOT NULL, -- when to see to a repair; 0: there is no need
    repair     BIGINT NOT NULL, -- the operation that was begun for it last
    failures   BIGINT NOT NULL, -- repairs in a row that did not succeed
    note       TEXT NOT NULL    -- what automatic repair waits for
, idle_only BIGINT NOT NULL DEFAULT 0);

CREATE TABLE node_health (
    cluster  TEXT NOT NULL,
    node     TEXT NOT NULL,
    number   BIGINT NOT NULL,
    state    TEXT NOT NULL,
    since    BIGINT NOT NULL,
    machine  TEXT NOT NULL,     -- that it was found of
    rounds   BIGINT NOT NULL,   -- in a row that it was ill
    misses   BIGINT NOT NULL,   -- in a row that it was not reached
    reasons  TEXT NOT NULL,     -- JSON
    counts   TEXT NOT NULL,     -- JSON: failures in a row, by service
    PRIMARY KEY (cluster, node)
);

CREATE TABLE catalog_versions (
    kind   TEXT NOT NULL,
    name   TEXT NOT NULL,
    number BIGINT NOT NULL, -- 1, 2, 3 … of each entry
    hash   TEXT NOT NULL,   -- SHA-256 of the text, in hex
    text   TEXT NOT NULL,   -- JSON
    published_at BIGINT NOT NULL,
    published_by TEXT NOT NULL, -- the server that did so first
    PRIMARY KEY (kind, name, number)
);

CREATE TABLE cluster_schedules (
    cluster    TEXT PRIMARY KEY,
    tenant     TEXT NOT NULL,
    sleep      TEXT NOT NULL,
    wake       TEXT NOT NULL,
    zone       TEXT NOT NULL,
    since      BIGINT NOT NULL, -- what came until then was done or left out
    due_at     BIGINT NOT NULL, -- when to look at it next, 0 for never
    changed_at BIGINT NOT NULL,
    changed_by TEXT NOT NULL
);

CREATE INDEX cluster_schedules_due ON cluster_schedules (due_at) WHERE due_at > 0;

CREATE TABLE "chat_event_ids" (
    key TEXT PRIMARY KEY, -- a digest of what was said
    at  BIGINT NOT NULL
);

CREATE TABLE chat_cards (
    id        INTEGER PRIMARY KEY AUTOINCREMENT,
    kind      TEXT NOT NULL,            -- slack
    tenant    TEXT NOT NULL,
    cluster   TEXT NOT NULL,
    operation BIGINT NOT NULL,
    channel   TEXT NOT NULL,
    person    TEXT NOT NULL,            -- who asked, as the chat knows them; told directly where the channel is closed to us
    message   TEXT NOT NULL DEFAULT '', -- the chat's name of the message; '' until it was posted
    shown     TEXT NOT NULL DEFAULT '', -- the state that it shows
    shown_at  BIGINT NOT NULL DEFAULT 0,
    at        BIGINT NOT NULL, thread TEXT NOT NULL DEFAULT '', notified_state TEXT NOT NULL DEFAULT '', team TEXT NOT NULL DEFAULT '',
    UNIQUE (kind, operation, channel)
);

CREATE TABLE "backfills" (
    cluster   TEXT PRIMARY KEY,
    tenant    TEXT NOT NULL,
    wanted    BIGINT NOT NULL,            -- nodes
    off       BIGINT NOT NULL,            -- 1: nobody wants them any more
    due_at    BIGINT NOT NULL,            -- of the next try; 0: none now
    tried_at  BIGINT NOT NULL DEFAULT 0,  -- the last one
    tries     BIGINT NOT NULL DEFAULT 0,  -- since the cluster last grew
    operation BIGINT NOT NULL DEFAULT 0,  -- that was begun last; 0: none
    request   BIGINT NOT NULL DEFAULT 0,  -- that waits for approval; 0: none
    note      TEXT NOT NULL DEFAULT ''    -- what became of the last try
);

CREATE TABLE pools (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant      TEXT NOT NULL,
    name        TEXT NOT NULL,
    hardware    TEXT NOT NULL,
    image       TEXT NOT NULL,
    provider    TEXT NOT NULL,
    zone        TEXT NOT NULL,   -- '' leaves it to the provider
    target_size      BIGINT NOT NULL,
    max_age     BIGINT NOT NULL, -- microseconds
    mode        TEXT NOT NULL,   -- on, off, drained, deleted
    created_by     TEXT NOT NULL,
    created_at     BIGINT NOT NULL,
    version     BIGINT NOT NULL,
    due_at      BIGINT NOT NULL, -- 0 for not before something happens
    failures    BIGINT NOT NULL, -- in a row
    retry_at    BIGINT NOT NULL,
    error     TEXT NOT NULL,   -- why it is not full, '' for nothing
    failed_at BIGINT NOT NULL,
    notified        BIGINT NOT NULL, -- whether people were told of this trouble
    ended_at    BIGINT NOT NULL  -- when it was deleted and had no machine any more
);

CREATE UNIQUE INDEX one_live_pool_of_a_name ON pools (tenant, name) WHERE ended_at = 0;

CREATE INDEX pools_due ON pools (due_at) WHERE due_at > 0;

CREATE TABLE pool_machines (
    cluster     TEXT PRIMARY KEY,
    pool        BIGINT NOT NULL,
    tenant      TEXT NOT NULL,
    state       TEXT NOT NULL, -- making, ready, promised, handed, failed, leaving, gone
    shape       TEXT NOT NULL, -- what it is, as the catalog had it: only what is asked for by the same is given it
    zone        TEXT NOT NULL,
    created_at     BIGINT NOT NULL,
    ready_at    BIGINT NOT NULL,
    expires_at  BIGINT NOT NULL,
    ended_at    BIGINT NOT NULL, -- when it was handed out, or gone
    for_cluster TEXT NOT NULL,   -- for which node it is promised, or was handed out
    for_node    TEXT NOT NULL
);

CREATE INDEX pool_machines_of ON pool_machines (pool, state, ended_at);

CREATE INDEX pool_machines_ready ON pool_machines (tenant, shape, ready_at) WHERE state = 'ready';

CREATE INDEX pool_machines_for ON pool_machines (for_cluster, for_node) WHERE for_cluster <> '';

CREATE INDEX steps_asked ON steps (deadline) WHERE state = 'asked';

CREATE TABLE "manual_steps" (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    name         TEXT NOT NULL UNIQUE,             -- OPERATION.STEP: the place that the answer is sealed for
    tenant       TEXT NOT NULL,
    cluster      TEXT NOT NULL,
    operation    BIGINT NOT NULL,
    idx          BIGINT NOT NULL,
    step         TEXT NOT NULL,
    node         TEXT NOT NULL,
    service      TEXT NOT NULL,
    action       TEXT NOT NULL,
    person       TEXT NOT NULL,                    -- JSON: what is asked, of whom
    state        TEXT NOT NULL DEFAULT 'later',    -- later, open, answered, refused, overdue, withdrawn
    attempt      BIGINT NOT NULL DEFAULT 0,
    prompt        TEXT NOT NULL DEFAULT '',         -- with macros expanded
    help         TEXT NOT NULL DEFAULT '',         -- the same
    requested_at     BIGINT NOT NULL DEFAULT 0,
    due_at        BIGINT NOT NULL DEFAULT 0,
    remind_at    BIGINT NOT NULL DEFAULT 0,        -- 0: nobody is to be reminded any more
    answered_at  BIGINT NOT NULL DEFAULT 0,
    answered_by  TEXT NOT NULL DEFAULT '',
    reason       TEXT NOT NULL DEFAULT '',
    answer       BLOB NOT NULL,                    -- sealed JSON: the values; empty for none
    answered_with      TEXT NOT NULL DEFAULT '',         -- the name of the question whose answer counts for this one too
    UNIQUE (operation, idx)
);

CREATE TABLE "step_durations" (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant        TEXT NOT NULL,   -- '': of the whole installation
    kind          TEXT NOT NULL,   -- action, service, version, provider, its type, hardware and image, with U+001F between
    wider         BIGINT NOT NULL, -- the rows in which the same times are counted too; 0 for none
    widest        BIGINT NOT NULL,
    done_runs     BIGINT NOT NULL DEFAULT 0, -- the first attempt succeeded
    done_mean     DOUBLE PRECISION NOT NULL DEFAULT 0,
    done_spread   DOUBLE PRECISION NOT NULL DEFAULT 0,
    again_runs    BIGINT NOT NULL DEFAULT 0, -- a later one did
    again_mean    DOUBLE PRECISION NOT NULL DEFAULT 0,
    again_spread  DOUBLE PRECISION NOT NULL DEFAULT 0,
    failed_runs   BIGINT NOT NULL DEFAULT 0, -- one failed
    failed_mean   DOUBLE PRECISION NOT NULL DEFAULT 0,
    failed_spread DOUBLE PRECISION NOT NULL DEFAULT 0,
    seen_at       BIGINT NOT NULL,
    UNIQUE (tenant, kind)
);

CREATE TABLE "chat_messages" (
    id        INTEGER PRIMARY KEY AUTOINCREMENT,
    kind      TEXT NOT NULL, -- slack
    team      TEXT NOT NULL, -- the chat's id of the workspace
    person    TEXT NOT NULL, -- as the chat knows them there
    tenant    TEXT NOT NULL,
    user_name TEXT NOT NULL,
    notice    BIGINT NOT NULL,
    state     TEXT NOT NULL, -- waiting, sending, told or dropped
    tries     BIGINT NOT NULL DEFAULT 0,
    next_at   BIGINT NOT NULL,
    began_at  BIGINT NOT NULL DEFAULT 0, -- when it was first sent
    at        BIGINT NOT NULL, thread TEXT NOT NULL DEFAULT '',
    UNIQUE (kind, team, person, notice)
);

CREATE TABLE chat_homes (
    kind      TEXT NOT NULL,
    team      TEXT NOT NULL,
    person    TEXT NOT NULL,
    tenant    TEXT NOT NULL,
    user_name TEXT NOT NULL, -- '' of those who are linked to no account
    shown     TEXT NOT NULL, -- a digest
    shown_at  BIGINT NOT NULL,
    opened_at BIGINT NOT NULL,
    stale     BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (kind, team, person)
);

CREATE INDEX chat_homes_by_user ON chat_homes (tenant, user_name);

CREATE INDEX chat_homes_stale ON chat_homes (kind, team, stale) WHERE stale > 0;

CREATE TABLE chat_workspaces (
    kind          TEXT NOT NULL,            -- slack
    team          TEXT NOT NULL,            -- the chat's id of it; of an installation for a whole organisation that one's
    enterprise    TEXT NOT NULL,
    name          TEXT NOT NULL,
    tenant        TEXT NOT NULL,            -- whose it is
    app           TEXT NOT NULL,
    bot           TEXT NOT NULL,            -- the bot's own id as a person of the chat
    scopes        TEXT NOT NULL,
    fixed         BIGINT NOT NULL,          -- 1: its token is a setting of the servers, and not kept here
    email         BIGINT NOT NULL DEFAULT 0, -- 1: people are linked by their verified addresses
    state         TEXT NOT NULL,            -- connected, broken or removed
    why           TEXT NOT NULL,
    access        BLOB NOT NULL,            -- sealed, like the next; empty where there is none
    refresh       BLOB NOT NULL,
    version       BIGINT NOT NULL,          -- of the tokens
    expires_at    BIGINT NOT NULL,          -- when access ends; 0: never
    holder        TEXT NOT NULL DEFAULT '', -- who refreshes it
    held_until    BIGINT NOT NULL DEFAULT 0,
    installed_by  TEXT NOT NULL,
    installed_at  BIGINT NOT NULL,
    changed_at    BIGINT NOT NULL,
    event_at      BIGINT NOT NULL DEFAULT 0, -- when it was heard from last
    error         TEXT NOT NULL DEFAULT '',  -- the last one
    error_at      BIGINT NOT NULL DEFAULT 0,
    calls         BIGINT NOT NULL DEFAULT 0, -- made in the minute before calls_at
    calls_at      BIGINT NOT NULL DEFAULT 0,
    limited_until BIGINT NOT NULL DEFAULT 0, -- the chat takes no calls before
    PRIMARY KEY (kind, team)
);

CREATE TABLE chat_installs (
    hash       BLOB PRIMARY KEY,
    tenant     TEXT NOT NULL,
    user_name  TEXT NOT NULL,
    session    BIGINT NOT NULL,
    at         BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    used_at    BIGINT NOT NULL
);

CREATE TABLE chat_channels (
    kind    TEXT NOT NULL,
    team    TEXT NOT NULL,
    channel TEXT NOT NULL,
    name    TEXT NOT NULL,
    tenant  TEXT NOT NULL,
    host    TEXT NOT NULL, -- who agreed for the workspace's tenant; '' while nobody has
    guest   TEXT NOT NULL, -- who agreed for the channel's tenant
    at      BIGINT NOT NULL,
    PRIMARY KEY (kind, team, channel)
);

CREATE INDEX chat_channels_by_tenant ON chat_channels (tenant);

CREATE TABLE chat_approvals (
    tenant  TEXT PRIMARY KEY,
    kind    TEXT NOT NULL,
    team    TEXT NOT NULL,
    channel TEXT NOT NULL,
    set_by  TEXT NOT NULL,
    set_at  BIGINT NOT NULL
);

CREATE TABLE chat_reviews (
    id       INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant   TEXT NOT NULL,
    request  BIGINT NOT NULL,
    kind     TEXT NOT NULL,
    team     TEXT NOT NULL,
    channel  TEXT NOT NULL,
    message  TEXT NOT NULL DEFAULT '',
    shown    TEXT NOT NULL DEFAULT '',
    shown_at BIGINT NOT NULL DEFAULT 0,
    ended    BIGINT NOT NULL DEFAULT 0,
    at       BIGINT NOT NULL,
    UNIQUE (request)
);

CREATE INDEX chat_reviews_open ON chat_reviews (kind, team, id) WHERE ended = 0;

CREATE TABLE chat_links (
    server  TEXT PRIMARY KEY,
    kind    TEXT NOT NULL,
    state   TEXT NOT NULL, -- connected, connecting or down
    since   BIGINT NOT NULL,
    seen_at BIGINT NOT NULL,
    error   TEXT NOT NULL
);

CREATE TABLE catalog_entries (
    tenant   TEXT NOT NULL,
    kind     TEXT NOT NULL,
    name     TEXT NOT NULL,
    number   BIGINT NOT NULL, -- 1, 2, 3 … of each entry
    revision BIGINT NOT NULL, -- of the tenant's catalog, that it came with
    saved_at BIGINT NOT NULL,
    saved_by TEXT NOT NULL,
    note     TEXT NOT NULL,
    text     TEXT NOT NULL,   -- YAML; '' where it is gone, and of versions that are old
    gone     BIGINT NOT NULL, -- 0, 1
    trusted  BIGINT NOT NULL, -- 0, 1: somebody who looks after the installation saved it
    coopr    BIGINT NOT NULL, -- 0, 1: it came from Coopr
    latest   BIGINT NOT NULL, -- 0, 1
    PRIMARY KEY (tenant, kind, name, number)
);

CREATE INDEX catalog_entries_latest ON catalog_entries (tenant) WHERE latest = 1;

CREATE INDEX catalog_entries_providers ON catalog_entries (tenant, name) WHERE latest = 1 AND kind = 'provider';

CREATE TABLE catalog_heads (
    tenant   TEXT NOT NULL PRIMARY KEY,
    revision BIGINT NOT NULL
);

CREATE TABLE catalog_templates (
    tenant TEXT NOT NULL,
    name   TEXT NOT NULL,
    number BIGINT NOT NULL,
    hash   TEXT NOT NULL,
    text   TEXT NOT NULL,
    published_at BIGINT NOT NULL,
    published_by TEXT NOT NULL,
    PRIMARY KEY (tenant, name, number)
);

CREATE TABLE resource_items (
    id      INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant  TEXT NOT NULL,
    family  TEXT NOT NULL,   -- automator, provider
    member  TEXT NOT NULL,   -- which one, such as shell
    kind    TEXT NOT NULL,   -- the type, as the member declares it
    name    TEXT NOT NULL,
    format  TEXT NOT NULL,   -- file, archive
    mode    BIGINT NOT NULL, -- permission bits of a file on nodes; 0: the usual ones
    latest  BIGINT NOT NULL, -- the number of the newest version there ever was
    created_at BIGINT NOT NULL,
    UNIQUE (tenant, family, member, kind, name)
);

CREATE TABLE resource_versions (
    resource   BIGINT NOT NULL,
    number     BIGINT NOT NULL,
    tenant     TEXT NOT NULL,
    hash       TEXT NOT NULL,    -- SHA-256 of the content, hex
    size       BIGINT NOT NULL,
    live       BIGINT NOT NULL,  -- 1: in use now
    slated     BIGINT NOT NULL,  -- 1: in use after the next sync
    source     TEXT NOT NULL,    -- JSON
    note       TEXT NOT NULL,
    created_by    TEXT NOT NULL,
    created_at    BIGINT NOT NULL,
    deleted_at BIGINT NOT NULL,
    PRIMARY KEY (resource, number)
);

CREATE INDEX resource_versions_hash ON resource_versions (tenant, hash);

CREATE UNIQUE INDEX resource_versions_live ON resource_versions (resource) WHERE live = 1;

CREATE UNIQUE INDEX resource_versions_slated ON resource_versions (resource) WHERE slated = 1;

CREATE TABLE resource_blobs (
    tenant  TEXT NOT NULL,
    hash    TEXT NOT NULL,
    name    TEXT NOT NULL UNIQUE, -- in the blob store
    size    BIGINT NOT NULL,
    state   TEXT NOT NULL,        -- coming, here, going
    at      BIGINT NOT NULL,      -- when it was last announced or marked
    idle_at BIGINT NOT NULL,      -- when it was first seen that nothing needs it; 0: it was not
    files   BLOB NOT NULL,        -- what is in it: JSON, packed
    PRIMARY KEY (tenant, hash)
);

CREATE TABLE "stray_blobs" (
    name    TEXT PRIMARY KEY,
    seen_at BIGINT NOT NULL
);

CREATE TABLE resource_uses (
    cluster  TEXT NOT NULL,
    hash     TEXT NOT NULL,
    tenant   TEXT NOT NULL,
    standing BIGINT NOT NULL, -- 1: by its definition of now
    PRIMARY KEY (cluster, hash)
);

CREATE INDEX resource_uses_hash ON resource_uses (tenant, hash);

CREATE TABLE resource_caches (
    tenant      TEXT NOT NULL,
    provisioner TEXT NOT NULL,
    hash        TEXT NOT NULL,
    at          BIGINT NOT NULL,
    PRIMARY KEY (tenant, provisioner, hash)
);

CREATE INDEX clusters_of_owner ON clusters (tenant, owner, status, number, cost_per_hour) WHERE deleted_at = 0 AND pool = 0;

CREATE INDEX leases_of_owner ON clusters (tenant, owner, expires_at) WHERE deleted_at = 0 AND pool = 0 AND expires_at > 0;

CREATE TABLE idempotency_keys (
    tenant      TEXT NOT NULL,
    account     TEXT NOT NULL,
    name        TEXT NOT NULL,   -- the key
    fingerprint BLOB NOT NULL,   -- of method, address and body; sealed, since the body may hold a secret
    begun_at    BIGINT NOT NULL,
    changed     BIGINT NOT NULL, -- 1: something was written for it, in the transaction that set this
    answer      BLOB NOT NULL,   -- sealed; empty until there is one
    PRIMARY KEY (tenant, account, name)
);

CREATE INDEX idempotency_keys_begun ON idempotency_keys (begun_at);

CREATE INDEX resources_of_owner ON resources (tenant, owner, deleted_at, created_at, price);

CREATE INDEX resources_by_end ON resources (tenant, deleted_at, created_at, price);

CREATE INDEX resources_by_cluster ON resources (cluster, created_at, deleted_at, price, tenant);

CREATE INDEX reservations_of_groups ON reservation_groups (tenant, in_group, ended_at, reservation);

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
, status_token BLOB NOT NULL DEFAULT x'', status_api TEXT NOT NULL DEFAULT '');

CREATE UNIQUE INDEX one_build_hook_of_a_name ON build_hooks (tenant, name) WHERE deleted_at = 0;

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
    message      TEXT NOT NULL,
    final      TEXT NOT NULL,     -- the state that comes after ending
    spec     TEXT NOT NULL,     -- JSON
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
, callback BLOB NOT NULL DEFAULT x'', callback_name TEXT NOT NULL DEFAULT '', callback_shown TEXT NOT NULL DEFAULT '', callback_why TEXT NOT NULL DEFAULT '', encrypted_spec BLOB NOT NULL DEFAULT x'');

CREATE UNIQUE INDEX one_live_build_of_a_key ON builds (hook, build_key) WHERE live = 1;

CREATE INDEX builds_by_key ON builds (hook, build_key);

CREATE INDEX builds_by_build ON builds (hook, build) WHERE live = 1;

CREATE INDEX builds_by_rule ON builds (hook, rule, state, id) WHERE live = 1;

CREATE INDEX builds_due ON builds (due_at) WHERE due_at > 0;

CREATE INDEX builds_of_cluster ON builds (cluster) WHERE cluster <> '';

CREATE INDEX builds_of_request ON builds (request) WHERE request > 0;

CREATE INDEX builds_of_tenant ON builds (tenant, id);

CREATE INDEX builds_ended ON builds (ended_at) WHERE live = 0;

CREATE TABLE "build_outcomes" (
    hook  TEXT NOT NULL,
    what  TEXT NOT NULL,          -- 'build ' or 'key ' and which
    at    BIGINT NOT NULL, ended_at BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (hook, what)
);

CREATE TABLE "build_delivery_ids" (
    hook  TEXT NOT NULL,
    dedup_key  TEXT NOT NULL,
    at    BIGINT NOT NULL,
    PRIMARY KEY (hook, dedup_key)
);

CREATE TABLE build_deliveries (
    id       INTEGER PRIMARY KEY AUTOINCREMENT,
    hook     TEXT NOT NULL,
    dedup_key     TEXT NOT NULL,
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
    message    TEXT NOT NULL,
    rule     TEXT NOT NULL,
    build_id     BIGINT NOT NULL,     -- the row of builds that it is about, 0 for none
    replays  BIGINT NOT NULL,
    size     BIGINT NOT NULL,     -- of the body, in bytes
    body     BLOB NOT NULL        -- sealed
);

CREATE INDEX build_deliveries_of ON build_deliveries (hook, id);

CREATE INDEX build_deliveries_old ON build_deliveries (at);

CREATE TABLE "device_codes" (
    hash        BLOB NOT NULL PRIMARY KEY, -- of the code that the program keeps
    user_hash   BLOB NOT NULL UNIQUE,      -- of the one that the person types
    host        TEXT NOT NULL,
    origin      TEXT NOT NULL,   -- the address that it asked from
    agent       TEXT NOT NULL,
    wanted      TEXT NOT NULL,   -- scopes that it asked for
    at          BIGINT NOT NULL,
    expires_at  BIGINT NOT NULL,
    polled_at   BIGINT NOT NULL, -- 0: not yet
    answer      TEXT NOT NULL,   -- '', allowed, denied
    answered_at BIGINT NOT NULL, -- 0: not yet
    tenant      TEXT NOT NULL,   -- of who answered; '' before
    user_name   TEXT NOT NULL,
    scopes      TEXT NOT NULL    -- that were given
);

CREATE INDEX steps_for_providers ON steps (operation, state, action) WHERE state IN ('ready', 'queued') AND action IN ('create', 'delete', 'confirm');

CREATE INDEX steps_running ON steps (deadline, worker, tenant, state) WHERE state = 'running';

CREATE TABLE "service_outputs" (
    cluster TEXT NOT NULL,
    service TEXT NOT NULL,
    name    TEXT NOT NULL,
    node    TEXT NOT NULL,
    number  BIGINT NOT NULL, -- the node's, so that the first that told a name is found
    tenant  TEXT NOT NULL,
    value   BLOB NOT NULL, -- sealed
    secret  BIGINT NOT NULL,
    at      BIGINT NOT NULL,
    PRIMARY KEY (cluster, service, name, node)
);

CREATE TABLE service_changes (
    cluster TEXT NOT NULL,
    node    TEXT NOT NULL,
    service TEXT NOT NULL,
    tenant  TEXT NOT NULL,
    at      BIGINT NOT NULL,
    changes TEXT NOT NULL, -- JSON
    PRIMARY KEY (cluster, node, service)
);

CREATE INDEX builds_by_callback ON builds (callback_name) WHERE callback_name <> '';

CREATE TABLE build_callbacks (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    build      BIGINT NOT NULL,
    tenant     TEXT NOT NULL,
    state      TEXT NOT NULL,    -- of the build: ready, refused, failed or ended
    payload    TEXT NOT NULL,    -- JSON: how the build stood then
    outcome    TEXT NOT NULL,    -- waiting, delivered or failed
    attempts   BIGINT NOT NULL,
    queued_at  BIGINT NOT NULL,
    next_at    BIGINT NOT NULL,
    ended_at   BIGINT NOT NULL,
    holder     TEXT NOT NULL,
    held_until BIGINT NOT NULL,
    status     BIGINT NOT NULL,  -- of the last attempt, like the rest; 0: no answer
    took       BIGINT NOT NULL,
    code       TEXT NOT NULL,
    error      TEXT NOT NULL
, kind TEXT NOT NULL DEFAULT 'callback');

CREATE INDEX build_callbacks_of ON build_callbacks (build, id);

CREATE INDEX build_callbacks_waiting ON build_callbacks (build, id) WHERE outcome = 'waiting';

CREATE INDEX steps_queued ON steps (tenant, queued_at) WHERE state = 'queued';

CREATE TABLE cluster_shares (
    cluster   TEXT NOT NULL,
    person    TEXT NOT NULL,
    in_group  TEXT NOT NULL,
    tenant    TEXT NOT NULL,
    access    BIGINT NOT NULL, -- 1 reader, 2 user, 3 co-owner
    shared_by TEXT NOT NULL,
    shared_at BIGINT NOT NULL, until BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (cluster, person, in_group)
);

CREATE INDEX cluster_shares_of ON cluster_shares (tenant, person, in_group);

CREATE INDEX clusters_listed ON clusters (tenant, number, deleted_at, pool, status, owner, template, provider, name, cost_per_hour, expires_at, id, visibility, owner_group);

CREATE TABLE second_factors (
    id           TEXT NOT NULL PRIMARY KEY,
    tenant       TEXT NOT NULL,
    user_name    TEXT NOT NULL,
    kind         TEXT NOT NULL,   -- app, key
    name         TEXT NOT NULL,
    encrypted       BLOB NOT NULL,   -- encrypted: the secret shared with an app, or the public key of a security key
    used_step    BIGINT NOT NULL, -- of an app: the time step of the last code; no earlier one is accepted
    started_at   BIGINT NOT NULL,
    confirmed_at BIGINT NOT NULL, -- 0: the secret was shown, but no code was entered yet
    used_at      BIGINT NOT NULL  -- 0: never
);

CREATE INDEX second_factors_by_user ON second_factors (tenant, user_name);

CREATE TABLE recovery_codes (
    tenant    TEXT NOT NULL,
    user_name TEXT NOT NULL,
    hash      BLOB NOT NULL,
    used_at   BIGINT NOT NULL, -- 0: not yet
    PRIMARY KEY (tenant, user_name, hash)
);

CREATE TABLE "chat_prompts" (
    request BIGINT NOT NULL PRIMARY KEY,
    kind    TEXT NOT NULL, -- slack
    team    TEXT NOT NULL,
    tenant  TEXT NOT NULL,
    channel TEXT NOT NULL,
    person  TEXT NOT NULL, -- who asked, as the chat knows them
    at      BIGINT NOT NULL
);

CREATE TABLE "chat_threads" (
    kind    TEXT NOT NULL,
    team    TEXT NOT NULL,
    tenant  TEXT NOT NULL,
    cluster TEXT NOT NULL,
    channel TEXT NOT NULL,
    message TEXT NOT NULL, -- the chat's name of the card
    PRIMARY KEY (kind, cluster, channel)
);

CREATE INDEX backfills_due ON backfills (due_at) WHERE due_at > 0;

CREATE INDEX operations_to_accept_partial ON operations (id) WHERE on_failure IN ('accept_partial', 'accept_partial_or_roll_back') AND status = 'failed'
    AND followed_by = 0 AND evaluated_at < ended_at;

CREATE INDEX operation_changes_by_cluster ON operation_changes (cluster, operation);

CREATE INDEX operation_changes_to_encrypt ON operation_changes (operation) WHERE definition <> '';

CREATE INDEX build_outcomes_old ON build_outcomes (at);

CREATE INDEX build_delivery_ids_old ON build_delivery_ids (at);

CREATE INDEX chat_event_ids_at ON chat_event_ids (at);

CREATE INDEX chat_messages_due ON chat_messages (kind, team, next_at) WHERE state IN ('waiting', 'sending');

CREATE INDEX chat_messages_at ON chat_messages (at);

CREATE INDEX device_codes_origin ON device_codes (origin, at);

CREATE INDEX device_codes_expires ON device_codes (expires_at);

CREATE INDEX cluster_health_due ON cluster_health (due_at, tenant, provider);

CREATE INDEX cluster_health_repairs ON cluster_health (repair_at) WHERE repair_at > 0;

CREATE INDEX cluster_health_of_tenant ON cluster_health (tenant);

CREATE INDEX webhook_deliveries_by_hook ON webhook_deliveries (hook, id);

CREATE INDEX webhook_deliveries_waiting ON webhook_deliveries (hook, id) WHERE state = 'waiting' AND notice > 0;

CREATE INDEX webhook_deliveries_tests ON webhook_deliveries (id) WHERE state = 'waiting' AND notice = 0;

CREATE INDEX webhook_deliveries_open ON webhook_deliveries (operation) WHERE verdict = 'open';

CREATE INDEX service_outputs_first ON service_outputs (cluster, service, name, number);

CREATE INDEX service_outputs_of_node ON service_outputs (cluster, node);

CREATE INDEX notifications_by_tenant ON notifications (tenant, id);

CREATE INDEX step_durations_seen ON step_durations (seen_at);

CREATE UNIQUE INDEX policies_active ON policies (tenant, name) WHERE active = 1;

CREATE INDEX manual_steps_open ON manual_steps (tenant, id) WHERE state = 'open';

CREATE INDEX manual_steps_remind ON manual_steps (remind_at) WHERE remind_at > 0;

CREATE INDEX manual_steps_answers ON manual_steps (cluster, node, service) WHERE state IN ('answered', 'overdue');

CREATE UNIQUE INDEX sso_subjects_by_user ON sso_subjects (tenant, user_name);

CREATE INDEX steps_to_dispatch ON steps (dispatched_at) WHERE state = 'queued';

CREATE INDEX leases_to_remind ON clusters (lease_reminder_at) WHERE deleted_at = 0 AND lease_reminder_at > 0;

CREATE INDEX clusters_to_verify ON clusters (proof_requested_at) WHERE deleted_at > 0 AND deletion_verified_at = 0;

CREATE INDEX operations_with_pending_hooks ON operations (held_until) WHERE pending_hooks > 0;

CREATE INDEX clusters_to_encrypt ON clusters (id) WHERE definition <> '';

CREATE INDEX builds_to_encrypt ON builds (id) WHERE spec <> '';

CREATE INDEX request_specs_to_encrypt ON requests (id) WHERE spec <> '';

CREATE INDEX request_terms_to_encrypt ON requests (id) WHERE terms <> '';

CREATE INDEX request_payloads_to_encrypt ON requests (id) WHERE payload <> '';

CREATE TABLE cluster_labels (
    cluster TEXT NOT NULL,
    key     TEXT NOT NULL,
    tenant  TEXT NOT NULL,
    value   TEXT NOT NULL,
    PRIMARY KEY (cluster, key)
);

CREATE INDEX cluster_labels_of ON cluster_labels (tenant, key, value, cluster);

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

CREATE TABLE maintenance_windows (
    tenant     TEXT NOT NULL,
    cluster    TEXT NOT NULL,
    settings   TEXT NOT NULL, -- JSON
    changed_at BIGINT NOT NULL,
    changed_by TEXT NOT NULL,
    PRIMARY KEY (tenant, cluster)
);

CREATE INDEX requests_scheduled ON requests (tenant, cluster) WHERE status = 'scheduled';

CREATE INDEX clusters_kept ON clusters (kept_from) WHERE kept_from <> '';

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
, snapshot_every TEXT NOT NULL DEFAULT '', snapshot_keep BIGINT NOT NULL DEFAULT 0, snapshot_keep_for TEXT NOT NULL DEFAULT '', snapshot_at BIGINT NOT NULL DEFAULT 0, unchanged BIGINT NOT NULL DEFAULT 0, expiry_notified BIGINT NOT NULL DEFAULT 0, snapshot_price DOUBLE PRECISION NOT NULL DEFAULT 0);

CREATE UNIQUE INDEX volumes_of_node ON volumes (cluster, node, service, name) WHERE cluster <> '' AND deleted_at = 0;

CREATE INDEX volumes_of_tenant ON volumes (tenant, created_at);

CREATE INDEX volumes_of_cluster ON volumes (cluster) WHERE cluster <> '';

CREATE INDEX volumes_of_kept_cluster ON volumes (kept_cluster) WHERE kept_cluster <> '';

CREATE INDEX volumes_of_provider ON volumes (provider) WHERE deleted_at = 0;

CREATE INDEX volumes_to_delete ON volumes (id) WHERE state = 'deleting';

CREATE INDEX volumes_expiring ON volumes (expires_at) WHERE state = 'kept' AND expires_at > 0;

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
, looks BIGINT NOT NULL DEFAULT 0, price DOUBLE PRECISION NOT NULL DEFAULT 0, scheduled BIGINT NOT NULL DEFAULT 0, expires_at BIGINT NOT NULL DEFAULT 0);

CREATE INDEX volume_snapshots_of_tenant ON volume_snapshots (tenant, created_at);

CREATE INDEX volume_snapshots_of_volume ON volume_snapshots (volume, created_at);

CREATE INDEX volume_snapshots_due ON volume_snapshots (id) WHERE state IN ('creating', 'deleting');

CREATE TABLE cluster_scaling (
    cluster       TEXT PRIMARY KEY,
    tenant        TEXT NOT NULL,
    rules         TEXT NOT NULL,   -- JSON: the template's, and the owner's instead of them
    scripts       BIGINT NOT NULL, -- 1: nodes are asked in the rounds of health checks
    state         TEXT NOT NULL,   -- JSON
    measured      TEXT NOT NULL,   -- JSON: what nodes said last; '' for nothing
    changed_by    TEXT NOT NULL,   -- who set the owner's rules
    changed_at    BIGINT NOT NULL,
    due_at        BIGINT NOT NULL, -- 0: after a measurement
    claimed_until BIGINT NOT NULL,
    version       BIGINT NOT NULL  -- grows with each claim and change
);

CREATE INDEX cluster_scaling_due ON cluster_scaling (due_at) WHERE due_at > 0;

CREATE INDEX cluster_scaling_of_tenant ON cluster_scaling (tenant);

CREATE TABLE scaling_history (
    cluster TEXT NOT NULL,
    id      BIGINT NOT NULL, -- grows within a cluster
    tenant  TEXT NOT NULL,
    at      BIGINT NOT NULL,
    entry   TEXT NOT NULL,   -- JSON
    PRIMARY KEY (cluster, id)
);

CREATE INDEX scaling_history_of_tenant ON scaling_history (tenant);

CREATE TABLE baked_images (
    id             INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant         TEXT NOT NULL,
    image_key      TEXT NOT NULL,   -- a hash of all that it is made of
    template       TEXT NOT NULL,   -- that it was built for
    provider       TEXT NOT NULL,
    zone           TEXT NOT NULL,
    hardware       TEXT NOT NULL,   -- that it was built on
    image          TEXT NOT NULL,   -- that it is based on, by the catalog's name
    services       TEXT NOT NULL,   -- JSON, in the order in which they are installed
    recipe         TEXT NOT NULL,   -- JSON: what it is built by; holds no secrets
    state          TEXT NOT NULL,   -- waiting, building, ready, failed, deleting
    provider_image TEXT NOT NULL,   -- by the provider's name, '' until it is ready
    cluster        TEXT NOT NULL,   -- on whose machine it is built, '' before
    created_by     TEXT NOT NULL,
    created_at     BIGINT NOT NULL,
    ready_at       BIGINT NOT NULL,
    used_at        BIGINT NOT NULL,
    uses           BIGINT NOT NULL,
    install_time   BIGINT NOT NULL, -- microseconds that its installs took
    keep_unused    BIGINT NOT NULL, -- microseconds
    unused_at      BIGINT NOT NULL, -- when it is deleted if it isn't used until then; 0: not by itself
    error          TEXT NOT NULL
);

CREATE UNIQUE INDEX baked_images_live ON baked_images (tenant, image_key) WHERE state IN ('waiting', 'building', 'ready');

CREATE UNIQUE INDEX baked_images_building ON baked_images (tenant, provider) WHERE state = 'building';

CREATE INDEX baked_images_of_tenant ON baked_images (tenant, id);

CREATE INDEX baked_images_of_cluster ON baked_images (cluster) WHERE cluster <> '';

CREATE INDEX baked_images_open ON baked_images (state, id) WHERE state IN ('waiting', 'building', 'deleting');

CREATE INDEX baked_images_unused ON baked_images (unused_at) WHERE unused_at > 0;

CREATE TABLE bake_rules (
    tenant        TEXT NOT NULL,
    template      TEXT NOT NULL,
    after_creates BIGINT NOT NULL,
    within        BIGINT NOT NULL, -- microseconds
    keep_unused   BIGINT NOT NULL, -- microseconds
    looked_at     TEXT NOT NULL DEFAULT '', -- the newest cluster of the template when the rule was last applied
    set_by        TEXT NOT NULL,
    set_at        BIGINT NOT NULL,
    PRIMARY KEY (tenant, template)
);

CREATE INDEX clusters_of_template ON clusters (tenant, template, created_at);

CREATE TABLE provider_values (
    cluster     TEXT PRIMARY KEY,
    tenant      TEXT NOT NULL,
    provider    TEXT NOT NULL,
    encrypted   BLOB NOT NULL,
    own_account BIGINT NOT NULL DEFAULT 0,
    changed_at  BIGINT NOT NULL,
    changed_by  TEXT NOT NULL
);

CREATE INDEX provider_values_accounts ON provider_values (cluster) WHERE own_account = 1;

CREATE INDEX volumes_to_copy ON volumes (snapshot_at) WHERE snapshot_at > 0 AND unchanged = 0 AND deleted_at = 0;

CREATE INDEX volume_snapshots_expiring ON volume_snapshots (expires_at) WHERE state = 'ready' AND expires_at > 0;

CREATE TABLE plugins (
    name TEXT PRIMARY KEY,
    sha256 TEXT NOT NULL,
    changed_by TEXT NOT NULL,
    changed_at BIGINT NOT NULL
);

CREATE TABLE inbox (
    tenant TEXT NOT NULL,
    user_name TEXT NOT NULL,
    notice BIGINT NOT NULL,
    kind TEXT NOT NULL,
    at BIGINT NOT NULL,
    read_at BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (tenant, user_name, notice)
);

CREATE INDEX inbox_unread ON inbox (tenant, user_name, notice) WHERE read_at = 0;

CREATE INDEX inbox_by_age ON inbox (at);

CREATE TABLE notification_preferences (
    tenant TEXT NOT NULL,
    user_name TEXT NOT NULL,
    kind TEXT NOT NULL,
    portal BIGINT NOT NULL,
    slack BIGINT NOT NULL,
    email BIGINT NOT NULL,
    PRIMARY KEY (tenant, user_name, kind)
);

CREATE TABLE notification_emails (
    tenant TEXT NOT NULL,
    user_name TEXT NOT NULL,
    notice BIGINT NOT NULL,
    state TEXT NOT NULL,
    attempts BIGINT NOT NULL DEFAULT 0,
    queued_at BIGINT NOT NULL,
    next_at BIGINT NOT NULL,
    holder TEXT NOT NULL DEFAULT '',
    error TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (tenant, user_name, notice)
);

CREATE INDEX notification_emails_due ON notification_emails (next_at) WHERE state = 'waiting';

CREATE INDEX notification_emails_held ON notification_emails (holder) WHERE holder <> '';

CREATE INDEX notification_emails_by_age ON notification_emails (queued_at);

CREATE TABLE runs (
    operation BIGINT PRIMARY KEY,
    tenant    TEXT NOT NULL,
    cluster   TEXT NOT NULL,
    run       TEXT NOT NULL -- JSON
);

CREATE TABLE run_exits (
    operation BIGINT NOT NULL,
    step      BIGINT NOT NULL,
    tenant    TEXT NOT NULL,
    code      BIGINT NOT NULL, cut BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (operation, step)
);

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

CREATE TABLE terminal_chunks (
    id TEXT PRIMARY KEY,    -- the terminal's, and the number
    terminal TEXT NOT NULL,
    number BIGINT NOT NULL,
    sealed BLOB NOT NULL
);

CREATE UNIQUE INDEX terminal_chunks_terminal ON terminal_chunks (terminal, number);

CREATE TABLE terminal_settings (
    tenant TEXT PRIMARY KEY,
    record BIGINT NOT NULL,
    step_up BIGINT NOT NULL,
    keep_days BIGINT NOT NULL,
    changed_by TEXT NOT NULL,
    changed_at BIGINT NOT NULL
);

CREATE TABLE action_schedules (
    cluster TEXT NOT NULL,
    name TEXT NOT NULL,
    tenant TEXT NOT NULL,
    ask TEXT NOT NULL,
    every TEXT NOT NULL,
    zone TEXT NOT NULL,
    due_at BIGINT NOT NULL,
    version BIGINT NOT NULL DEFAULT 0,
    created_by TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    last_at BIGINT NOT NULL DEFAULT 0,
    last_operation BIGINT NOT NULL DEFAULT 0,
    last_result TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (cluster, name)
);

CREATE INDEX action_schedules_due ON action_schedules (due_at) WHERE due_at > 0;

CREATE INDEX cluster_shares_until ON cluster_shares (until) WHERE until > 0;

CREATE INDEX nodes_locked ON nodes (tenant, cluster) WHERE locked <> '';

CREATE TABLE email_changes (
    tenant TEXT NOT NULL,
    user_name TEXT NOT NULL,
    address TEXT NOT NULL,
    requested_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    message TEXT NOT NULL,
    token_hash BLOB NOT NULL,
    PRIMARY KEY (tenant, user_name)
);

CREATE INDEX email_changes_message ON email_changes (message);

CREATE INDEX email_changes_expire ON email_changes (expires_at);

CREATE TABLE address_emails (
    id TEXT PRIMARY KEY,
    tenant TEXT NOT NULL,
    user_name TEXT NOT NULL,
    address TEXT NOT NULL,
    limit_key TEXT NOT NULL,
    kind TEXT NOT NULL,
    state TEXT NOT NULL,
    attempts BIGINT NOT NULL,
    queued_at BIGINT NOT NULL,
    next_at BIGINT NOT NULL,
    holder TEXT NOT NULL,
    error TEXT NOT NULL
);

CREATE INDEX address_emails_due ON address_emails (next_at) WHERE state = 'waiting';

CREATE INDEX address_emails_held ON address_emails (holder) WHERE holder <> '';

CREATE INDEX address_emails_person ON address_emails (tenant, user_name, queued_at);

CREATE INDEX address_emails_address ON address_emails (limit_key, queued_at);

CREATE INDEX address_emails_by_age ON address_emails (queued_at);

CREATE TABLE email_servers (
    server TEXT PRIMARY KEY,
    until BIGINT NOT NULL
);

CREATE TABLE port_tickets (
    nonce TEXT PRIMARY KEY,
    until BIGINT NOT NULL
);

CREATE INDEX port_tickets_until ON port_tickets (until);

CREATE INDEX clusters_counted ON clusters (tenant, status, visibility, owner, owner_group, id, cost_per_hour, pool, deleted_at) WHERE deleted_at = 0 AND pool = 0;

CREATE INDEX clusters_kept_live ON clusters (tenant, number) WHERE kept_from <> '' AND deleted_at = 0;

CREATE INDEX clusters_kept_of ON clusters (tenant, kept_from, number) WHERE kept_from <> '' AND deleted_at = 0;

CREATE INDEX clusters_locked ON clusters (tenant, id, deleted_at, locked) WHERE locked <> '' AND deleted_at = 0;

CREATE INDEX live_clusters_of_template ON clusters (tenant, template, deleted_at) WHERE deleted_at = 0;

CREATE INDEX live_clusters_of_provider ON clusters (tenant, provider, number, deleted_at) WHERE deleted_at = 0;

CREATE INDEX live_reservations ON reservations (tenant, owner, id, pool, nodes, cpu, cost, until_at, ended_at) WHERE ended_at = 0;

INSERT INTO goose_db_version (version_id, is_applied) VALUES (0, 1);
INSERT INTO goose_db_version (version_id, is_applied) VALUES (1, 1);
INSERT INTO goose_db_version (version_id, is_applied) VALUES (2, 1);
INSERT INTO goose_db_version (version_id, is_applied) VALUES (3, 1);
INSERT INTO goose_db_version (version_id, is_applied) VALUES (4, 1);
INSERT INTO goose_db_version (version_id, is_applied) VALUES (5, 1);
INSERT INTO goose_db_version (version_id, is_applied) VALUES (6, 1);
INSERT INTO goose_db_version (version_id, is_applied) VALUES (7, 1);
INSERT INTO goose_db_version (version_id, is_applied) VALUES (8, 1);
INSERT INTO goose_db_version (version_id, is_applied) VALUES (9, 1);
INSERT INTO goose_db_version (version_id, is_applied) VALUES (11, 1);
INSERT INTO goose_db_version (version_id, is_applied) VALUES (12, 1);
INSERT INTO goose_db_version (version_id, is_applied) VALUES (13, 1);
INSERT INTO goose_db_version (version_id, is_applied) VALUES (14, 1);
INSERT INTO goose_db_version (version_id, is_applied) VALUES (16, 1);
INSERT INTO goose_db_version (version_id, is_applied) VALUES (17, 1);
INSERT INTO goose_db_version (version_id, is_applied) VALUES (18, 1);
INSERT INTO goose_db_version (version_id, is_applied) VALUES (19, 1);
INSERT INTO goose_db_version (version_id, is_applied) VALUES (20, 1);
INSERT INTO goose_db_version (version_id, is_applied) VALUES (21, 1);
INSERT INTO goose_db_version (version_id, is_applied) VALUES (22, 1);
INSERT INTO goose_db_version (version_id, is_applied) VALUES (23, 1);
INSERT INTO goose_db_version (version_id, is_applied) VALUES (24, 1);
INSERT INTO goose_db_version (version_id, is_applied) VALUES (25, 1);
INSERT INTO goose_db_version (version_id, is_applied) VALUES (26, 1);
INSERT INTO goose_db_version (version_id, is_applied) VALUES (27, 1);
INSERT INTO goose_db_version (version_id, is_applied) VALUES (28, 1);
INSERT INTO goose_db_version (version_id, is_applied) VALUES (30, 1);
INSERT INTO goose_db_version (version_id, is_applied) VALUES (31, 1);
INSERT INTO goose_db_version (version_id, is_applied) VALUES (32, 1);
INSERT INTO goose_db_version (version_id, is_applied) VALUES (33, 1);
INSERT INTO goose_db_version (version_id, is_applied) VALUES (34, 1);
INSERT INTO goose_db_version (version_id, is_applied) VALUES (35, 1);
INSERT INTO goose_db_version (version_id, is_applied) VALUES (36, 1);
INSERT INTO goose_db_version (version_id, is_applied) VALUES (37, 1);
INSERT INTO goose_db_version (version_id, is_applied) VALUES (38, 1);
INSERT INTO goose_db_version (version_id, is_applied) VALUES (39, 1);
INSERT INTO goose_db_version (version_id, is_applied) VALUES (40, 1);
INSERT INTO goose_db_version (version_id, is_applied) VALUES (41, 1);
INSERT INTO goose_db_version (version_id, is_applied) VALUES (42, 1);
INSERT INTO goose_db_version (version_id, is_applied) VALUES (43, 1);
INSERT INTO goose_db_version (version_id, is_applied) VALUES (45, 1);
INSERT INTO goose_db_version (version_id, is_applied) VALUES (46, 1);
INSERT INTO goose_db_version (version_id, is_applied) VALUES (47, 1);
INSERT INTO goose_db_version (version_id, is_applied) VALUES (48, 1);
INSERT INTO goose_db_version (version_id, is_applied) VALUES (49, 1);
INSERT INTO goose_db_version (version_id, is_applied) VALUES (50, 1);
INSERT INTO goose_db_version (version_id, is_applied) VALUES (51, 1);
INSERT INTO goose_db_version (version_id, is_applied) VALUES (52, 1);
INSERT INTO goose_db_version (version_id, is_applied) VALUES (53, 1);
INSERT INTO goose_db_version (version_id, is_applied) VALUES (54, 1);
INSERT INTO goose_db_version (version_id, is_applied) VALUES (55, 1);
INSERT INTO goose_db_version (version_id, is_applied) VALUES (56, 1);
INSERT INTO goose_db_version (version_id, is_applied) VALUES (57, 1);
INSERT INTO goose_db_version (version_id, is_applied) VALUES (58, 1);
INSERT INTO goose_db_version (version_id, is_applied) VALUES (60, 1);
INSERT INTO goose_db_version (version_id, is_applied) VALUES (61, 1);
INSERT INTO goose_db_version (version_id, is_applied) VALUES (62, 1);
INSERT INTO goose_db_version (version_id, is_applied) VALUES (63, 1);
INSERT INTO goose_db_version (version_id, is_applied) VALUES (64, 1);
INSERT INTO goose_db_version (version_id, is_applied) VALUES (65, 1);
INSERT INTO goose_db_version (version_id, is_applied) VALUES (66, 1);
INSERT INTO goose_db_version (version_id, is_applied) VALUES (69, 1);
INSERT INTO goose_db_version (version_id, is_applied) VALUES (71, 1);
INSERT INTO goose_db_version (version_id, is_applied) VALUES (72, 1);
INSERT INTO goose_db_version (version_id, is_applied) VALUES (73, 1);
INSERT INTO goose_db_version (version_id, is_applied) VALUES (74, 1);
INSERT INTO goose_db_version (version_id, is_applied) VALUES (75, 1);
INSERT INTO goose_db_version (version_id, is_applied) VALUES (76, 1);
INSERT INTO goose_db_version (version_id, is_applied) VALUES (79, 1);
INSERT INTO goose_db_version (version_id, is_applied) VALUES (83, 1);
INSERT INTO goose_db_version (version_id, is_applied) VALUES (85, 1);
INSERT INTO goose_db_version (version_id, is_applied) VALUES (86, 1);
INSERT INTO goose_db_version (version_id, is_applied) VALUES (87, 1);
INSERT INTO goose_db_version (version_id, is_applied) VALUES (88, 1);
INSERT INTO goose_db_version (version_id, is_applied) VALUES (89, 1);
INSERT INTO goose_db_version (version_id, is_applied) VALUES (90, 1);
INSERT INTO goose_db_version (version_id, is_applied) VALUES (91, 1);
INSERT INTO goose_db_version (version_id, is_applied) VALUES (92, 1);
INSERT INTO goose_db_version (version_id, is_applied) VALUES (93, 1);
INSERT INTO settings (name, value) VALUES ('chat_events', '0');
INSERT INTO settings (name, value) VALUES ('chat_noticed', '0');
INSERT INTO settings (name, value) VALUES ('hooks_noticed', '0');
INSERT INTO settings (name, value) VALUES ('needs_migration', '63');
INSERT INTO tenants (name, about, slots, created_at, created_by, copied_from, deleting_at, cluster_visibility, require_second_factor, currency, exchange_rate, idle_policy) VALUES ('default', '', 0, 0, '', '', 0, 'private', 0, '', 0.0, '');
