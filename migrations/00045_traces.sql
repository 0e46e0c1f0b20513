-- +goose Up
-- Which trace the request belongs to that an operation comes from: what it leads to is followed through the queue and onto other hosts.
ALTER TABLE operations ADD COLUMN trace TEXT NOT NULL DEFAULT ''; -- a W3C traceparent

-- +goose Down
ALTER TABLE operations DROP COLUMN trace;
