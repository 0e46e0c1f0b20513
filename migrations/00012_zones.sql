-- +goose Up
-- The zone that the layout chose for a node; '' where it is the provider's to choose.
ALTER TABLE nodes ADD COLUMN zone TEXT NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE nodes DROP COLUMN zone;
