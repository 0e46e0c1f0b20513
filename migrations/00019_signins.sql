-- +goose Up
-- Sign-ins of people: what a browser's session stands for. Whether one still counts is decided with the account beside it, at
-- every request.
CREATE TABLE signins (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant     TEXT NOT NULL,
    user_name  TEXT NOT NULL,
    at         BIGINT NOT NULL,
    seen_at    BIGINT NOT NULL, -- to the minute
    came_from  TEXT NOT NULL,   -- the address at the sign-in
    browser    TEXT NOT NULL,
    how        TEXT NOT NULL,   -- password, oidc
    provider   TEXT NOT NULL,   -- which identity provider
    proven_at  BIGINT NOT NULL,
    mark       TEXT NOT NULL,   -- of the password as it was; another password ends the sign-in
    revoked_at BIGINT NOT NULL,
    revoked_by TEXT NOT NULL
);
CREATE INDEX signins_by_user ON signins (tenant, user_name, at);
CREATE INDEX signins_by_time ON signins (at);

-- Which accounts stand for a person of an identity provider. One person may have accounts in several tenants.
CREATE TABLE subjects (
    issuer    TEXT NOT NULL,
    subject   TEXT NOT NULL,
    tenant    TEXT NOT NULL,
    user_name TEXT NOT NULL,
    at        BIGINT NOT NULL,
    PRIMARY KEY (issuer, subject, tenant)
);
CREATE UNIQUE INDEX subjects_by_user ON subjects (tenant, user_name);

-- Links that tie an identity elsewhere, such as a Slack user, to an account. Each works once; only its hash is kept.
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

-- +goose Down
DROP TABLE identities;
DROP TABLE identity_links;
DROP TABLE subjects;
DROP TABLE signins;
