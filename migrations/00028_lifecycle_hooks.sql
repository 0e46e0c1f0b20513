-- +goose Up
-- Hooks that are told of operations, or asked before them, or whose scripts are run on nodes.
ALTER TABLE hooks ADD COLUMN phase TEXT NOT NULL DEFAULT '';       -- before, after, failure or template; '' is told notices
ALTER TABLE hooks ADD COLUMN operations TEXT NOT NULL DEFAULT '';  -- ',create,delete,'; '' is all
ALTER TABLE hooks ADD COLUMN patience BIGINT NOT NULL DEFAULT 0;   -- microseconds; 0 is what is usual
ALTER TABLE hooks ADD COLUMN on_timeout TEXT NOT NULL DEFAULT '';
ALTER TABLE hooks ADD COLUMN script TEXT NOT NULL DEFAULT '';
ALTER TABLE hooks ADD COLUMN on_services TEXT NOT NULL DEFAULT ''; -- JSON

-- What such a hook is told, and what it has answered.
ALTER TABLE hook_deliveries ADD COLUMN operation BIGINT NOT NULL DEFAULT 0; -- 0: a notice or a test
ALTER TABLE hook_deliveries ADD COLUMN title TEXT NOT NULL DEFAULT '';
ALTER TABLE hook_deliveries ADD COLUMN payload TEXT NOT NULL DEFAULT '';    -- JSON
ALTER TABLE hook_deliveries ADD COLUMN verdict TEXT NOT NULL DEFAULT '';    -- open while the operation waits for it, then go, veto or moot
ALTER TABLE hook_deliveries ADD COLUMN deadline BIGINT NOT NULL DEFAULT 0;  -- of an open one
ALTER TABLE hook_deliveries ADD COLUMN on_timeout TEXT NOT NULL DEFAULT '';
CREATE INDEX hook_deliveries_open ON hook_deliveries (operation) WHERE verdict = 'open';

ALTER TABLE operations ADD COLUMN held BIGINT NOT NULL DEFAULT 0;       -- how many hooks it waits for
ALTER TABLE operations ADD COLUMN held_until BIGINT NOT NULL DEFAULT 0;
ALTER TABLE operations ADD COLUMN vetoed_by TEXT NOT NULL DEFAULT '';   -- the hook that said no
ALTER TABLE operations ADD COLUMN scripts TEXT NOT NULL DEFAULT '';     -- JSON: the hooks whose scripts its plan runs
CREATE INDEX operations_held ON operations (held_until) WHERE held > 0;

-- +goose Down
DROP INDEX operations_held;
ALTER TABLE operations DROP COLUMN scripts;
ALTER TABLE operations DROP COLUMN vetoed_by;
ALTER TABLE operations DROP COLUMN held_until;
ALTER TABLE operations DROP COLUMN held;
DROP INDEX hook_deliveries_open;
ALTER TABLE hook_deliveries DROP COLUMN on_timeout;
ALTER TABLE hook_deliveries DROP COLUMN deadline;
ALTER TABLE hook_deliveries DROP COLUMN verdict;
ALTER TABLE hook_deliveries DROP COLUMN payload;
ALTER TABLE hook_deliveries DROP COLUMN title;
ALTER TABLE hook_deliveries DROP COLUMN operation;
ALTER TABLE hooks DROP COLUMN on_services;
ALTER TABLE hooks DROP COLUMN script;
ALTER TABLE hooks DROP COLUMN on_timeout;
ALTER TABLE hooks DROP COLUMN patience;
ALTER TABLE hooks DROP COLUMN operations;
ALTER TABLE hooks DROP COLUMN phase;
