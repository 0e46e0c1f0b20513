-- +goose Up
-- What is looked at twice a second must not be searched for.
CREATE INDEX steps_due ON steps (not_before) WHERE state = 'ready' AND not_before > 0;

-- +goose Down
DROP INDEX steps_due;
