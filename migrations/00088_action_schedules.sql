-- +goose Up
-- Whether lines of a command's output were left out on a node.
ALTER TABLE run_exits ADD COLUMN cut BIGINT NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE run_exits DROP COLUMN cut;
