-- +goose Up
-- Who may see a cluster: everyone in the tenant, or only its owner and those it is shared with. Clusters that exist stay visible to the tenant, and so do those that
-- older servers create.
ALTER TABLE clusters ADD COLUMN visibility TEXT NOT NULL DEFAULT 'tenant';
ALTER TABLE clusters ADD COLUMN owner_group TEXT NOT NULL DEFAULT ''; -- a group whose members may do what the owner may; '' for none

-- Each share names a person or a group; the other is ''.
CREATE TABLE cluster_shares (
    cluster   TEXT NOT NULL,
    person    TEXT NOT NULL,
    in_group  TEXT NOT NULL,
    tenant    TEXT NOT NULL,
    access    BIGINT NOT NULL, -- 1 reader, 2 user, 3 co-owner
    shared_by TEXT NOT NULL,
    shared_at BIGINT NOT NULL,
    PRIMARY KEY (cluster, person, in_group)
);
CREATE INDEX cluster_shares_of ON cluster_shares (tenant, person, in_group);

-- The visibility of new clusters. Installations that are in use keep what they have; new tenants begin with private clusters.
ALTER TABLE tenants ADD COLUMN cluster_visibility TEXT NOT NULL DEFAULT 'private';
UPDATE tenants SET cluster_visibility = 'tenant' WHERE EXISTS (SELECT 1 FROM users);

-- Lists look only at this index.
DROP INDEX clusters_listed;
CREATE INDEX clusters_listed ON clusters (tenant, number, deleted_at, pool, status, owner, template, provider, name, cost_per_hour, expires_at, id, visibility, owner_group);

-- +goose Down
DROP INDEX clusters_listed;
CREATE INDEX clusters_listed ON clusters (tenant, number, deleted_at, pool, status, owner, template, provider, name, cost_per_hour, expires_at, id);
ALTER TABLE tenants DROP COLUMN cluster_visibility;
DROP TABLE cluster_shares;
ALTER TABLE clusters DROP COLUMN owner_group;
ALTER TABLE clusters DROP COLUMN visibility;
