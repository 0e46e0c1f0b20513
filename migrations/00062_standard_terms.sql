-- +goose Up
-- Partial results, backfill and minimum available nodes are called so here too. Older servers don't know the new names.
ALTER TABLE top_ups RENAME TO backfills;
DROP INDEX top_ups_due;
CREATE INDEX backfills_due ON backfills (due_at) WHERE due_at > 0;
ALTER TABLE operations RENAME COLUMN at_least TO min_available;
ALTER TABLE operations RENAME COLUMN no_top_up TO no_backfill;
ALTER TABLE steps RENAME COLUMN ask_go_on TO ask_continue;
DROP INDEX operations_to_go_on;
UPDATE operations SET kind = 'accept_partial' WHERE kind = 'go_on';
UPDATE operations SET on_failure = 'accept_partial' WHERE on_failure = 'go_on';
UPDATE operations SET on_failure = 'accept_partial_or_roll_back' WHERE on_failure = 'go_on_or_roll_back';
CREATE INDEX operations_to_accept_partial ON operations (id) WHERE on_failure IN ('accept_partial', 'accept_partial_or_roll_back') AND status = 'failed'
    AND followed_by = 0 AND judged_at < ended_at;
UPDATE hooks SET on_timeout = 'continue' WHERE on_timeout = 'go_on';
UPDATE hooks SET operations = REPLACE(operations, ',go_on,', ',accept_partial,') WHERE operations LIKE '%,go_on,%';
UPDATE hook_deliveries SET on_timeout = 'continue' WHERE on_timeout = 'go_on';
INSERT INTO settings (name, value) VALUES ('needs_migration', '62') ON CONFLICT (name) DO UPDATE SET value = excluded.value;

-- +goose Down
UPDATE settings SET value = '54' WHERE name = 'needs_migration' AND value = '62';
UPDATE hook_deliveries SET on_timeout = 'go_on' WHERE on_timeout = 'continue';
UPDATE hooks SET operations = REPLACE(operations, ',accept_partial,', ',go_on,') WHERE operations LIKE '%,accept_partial,%';
UPDATE hooks SET on_timeout = 'go_on' WHERE on_timeout = 'continue';
DROP INDEX operations_to_accept_partial;
UPDATE operations SET on_failure = 'go_on_or_roll_back' WHERE on_failure = 'accept_partial_or_roll_back';
UPDATE operations SET on_failure = 'go_on' WHERE on_failure = 'accept_partial';
UPDATE operations SET kind = 'go_on' WHERE kind = 'accept_partial';
CREATE INDEX operations_to_go_on ON operations (id) WHERE on_failure IN ('go_on', 'go_on_or_roll_back') AND status = 'failed' AND followed_by = 0
    AND judged_at < ended_at;
ALTER TABLE steps RENAME COLUMN ask_continue TO ask_go_on;
ALTER TABLE operations RENAME COLUMN no_backfill TO no_top_up;
ALTER TABLE operations RENAME COLUMN min_available TO at_least;
DROP INDEX backfills_due;
ALTER TABLE backfills RENAME TO top_ups;
CREATE INDEX top_ups_due ON top_ups (due_at) WHERE due_at > 0;
