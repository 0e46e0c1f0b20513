-- +goose Up
-- Archives and files that admins push for automators and providers. Contents are in a blob store, under names that are never used
-- twice; see resource_blobs.
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
    made_at BIGINT NOT NULL,
    UNIQUE (tenant, family, member, kind, name)
);

-- Their versions. Numbers are never used again, so deleted ones stay as rows.
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
    made_by    TEXT NOT NULL,
    made_at    BIGINT NOT NULL,
    deleted_at BIGINT NOT NULL,
    PRIMARY KEY (resource, number)
);
CREATE INDEX resource_versions_hash ON resource_versions (tenant, hash);
CREATE UNIQUE INDEX resource_versions_live ON resource_versions (resource) WHERE live = 1;
CREATE UNIQUE INDEX resource_versions_slated ON resource_versions (resource) WHERE slated = 1;

-- Contents of tenants, announced before they are kept, and marked before they are removed.
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

-- Names in the blob store that belong to no content, with the time when that was first seen.
CREATE TABLE resource_strays (
    name    TEXT PRIMARY KEY,
    seen_at BIGINT NOT NULL
);

-- Contents that clusters were defined with since they were made: any of these may be asked for again until the cluster is gone.
CREATE TABLE resource_uses (
    cluster  TEXT NOT NULL,
    hash     TEXT NOT NULL,
    tenant   TEXT NOT NULL,
    standing BIGINT NOT NULL, -- 1: by its definition of now
    PRIMARY KEY (cluster, hash)
);
CREATE INDEX resource_uses_hash ON resource_uses (tenant, hash);

-- Contents on the disks of provisioners, as they say.
CREATE TABLE resource_caches (
    tenant      TEXT NOT NULL,
    provisioner TEXT NOT NULL,
    hash        TEXT NOT NULL,
    at          BIGINT NOT NULL,
    PRIMARY KEY (tenant, provisioner, hash)
);

-- +goose Down
DROP TABLE resource_caches;
DROP TABLE resource_uses;
DROP TABLE resource_strays;
DROP TABLE resource_blobs;
DROP TABLE resource_versions;
DROP TABLE resource_items;
