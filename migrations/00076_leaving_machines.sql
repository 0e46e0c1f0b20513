-- +goose Up
-- When the provider takes a node's machine away, as it has announced, such as for a spot machine; 0: nothing is announced. Servers of the version before
-- neither write nor read it.
ALTER TABLE nodes ADD COLUMN leaves_at BIGINT NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE nodes DROP COLUMN leaves_at;
