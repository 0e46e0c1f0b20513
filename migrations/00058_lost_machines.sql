-- +goose Up
-- Since when the provider doesn't have a node's machine any more, or has it without running it; 0: as far as is known it runs. What leaves lost nodes out or replaces
-- them goes by this. Servers of the version before neither write nor read it.
ALTER TABLE nodes ADD COLUMN lost_at BIGINT NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE nodes DROP COLUMN lost_at;
