-- +goose Up
-- '' and 0: the installation's currency. Else how much of it one unit of the installation's currency buys.
ALTER TABLE tenants ADD COLUMN currency TEXT NOT NULL DEFAULT '';
ALTER TABLE tenants ADD COLUMN exchange_rate DOUBLE PRECISION NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE tenants DROP COLUMN exchange_rate;
ALTER TABLE tenants DROP COLUMN currency;
