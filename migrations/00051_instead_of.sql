-- +goose Up
-- The hardware that the layout chose for a node, where its machine is of other; empty where it is that.
ALTER TABLE nodes ADD COLUMN instead_of TEXT NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE nodes DROP COLUMN instead_of;
