-- +goose Up
-- What those who register with a token may do, as JSON: tenants, tags and slots. '' is a token from before there were bounds: everything.
ALTER TABLE provisioner_tokens ADD COLUMN grants TEXT NOT NULL DEFAULT '';
-- The tenants whose steps a registration may be given, as a JSON list; '' is every tenant.
ALTER TABLE provisioners ADD COLUMN only_tenants TEXT NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE provisioners DROP COLUMN only_tenants;
ALTER TABLE provisioner_tokens DROP COLUMN grants;
