-- +goose Up
-- What was spent is added up from indexes alone: by everybody, by a tenant, and by a group from what its clusters have.
DROP INDEX resources_of_owner;
CREATE INDEX resources_of_owner ON resources (tenant, owner, gone_at, made_at, price);
DROP INDEX resources_by_end;
CREATE INDEX resources_by_end ON resources (tenant, gone_at, made_at, price);
DROP INDEX resources_by_cluster;
CREATE INDEX resources_by_cluster ON resources (cluster, made_at, gone_at, price, tenant);
CREATE INDEX reservations_of_groups ON reservation_groups (tenant, in_group, ended_at, reservation);

-- +goose Down
DROP INDEX reservations_of_groups;
DROP INDEX resources_by_cluster;
CREATE INDEX resources_by_cluster ON resources (cluster, made_at);
DROP INDEX resources_by_end;
CREATE INDEX resources_by_end ON resources (tenant, gone_at, made_at);
DROP INDEX resources_of_owner;
CREATE INDEX resources_of_owner ON resources (tenant, owner, gone_at, made_at);
