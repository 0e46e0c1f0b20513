-- +goose Up
-- What belongs to one person, for the page that they begin with: found without a look at what belongs to others.
CREATE INDEX clusters_of_owner ON clusters (tenant, owner, status, number, cost_per_hour) WHERE deleted_at = 0 AND pool = 0;
CREATE INDEX leases_of_owner ON clusters (tenant, owner, expires_at) WHERE deleted_at = 0 AND pool = 0 AND expires_at > 0;
CREATE INDEX resources_of_owner ON resources (tenant, owner, gone_at, made_at);

-- +goose Down
DROP INDEX resources_of_owner;
DROP INDEX leases_of_owner;
DROP INDEX clusters_of_owner;
