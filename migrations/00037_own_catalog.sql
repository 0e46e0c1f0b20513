-- +goose Up
-- What tenants have laid over the installation's catalog, as they wrote it, with all versions.
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

-- How far the catalog of each tenant is; that of tenant '' grows with each of them.
CREATE TABLE catalog_heads (
    tenant   TEXT NOT NULL PRIMARY KEY,
    revision BIGINT NOT NULL
);

-- What templates of tenants came to be that are made of own entries, like catalog_versions.
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

-- +goose Down
DROP TABLE catalog_templates;
DROP TABLE catalog_heads;
DROP TABLE catalog_entries;
