-- +goose Up
-- A step that a person carries out is asked, not queued: for so long, and then it goes on or fails.
ALTER TABLE steps ADD COLUMN ask_for BIGINT NOT NULL DEFAULT 0;   -- microseconds; 0: no person is asked
ALTER TABLE steps ADD COLUMN ask_go_on BIGINT NOT NULL DEFAULT 0; -- 1: where nobody answers in time, it goes on
CREATE INDEX steps_asked ON steps (deadline) WHERE state = 'asked';

-- What is asked at such a step, and what was answered. A row comes with its plan; an attempt that was asked anew takes the place of
-- the one before it, of which the audit tells.
CREATE TABLE questions (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    name         TEXT NOT NULL UNIQUE,             -- OPERATION.STEP: the place that the answer is sealed for
    tenant       TEXT NOT NULL,
    cluster      TEXT NOT NULL,
    operation    BIGINT NOT NULL,
    idx          BIGINT NOT NULL,
    step         TEXT NOT NULL,
    node         TEXT NOT NULL,
    service      TEXT NOT NULL,
    action       TEXT NOT NULL,
    person       TEXT NOT NULL,                    -- JSON: what is asked, of whom
    state        TEXT NOT NULL DEFAULT 'later',    -- later, open, answered, refused, overdue, withdrawn
    attempt      BIGINT NOT NULL DEFAULT 0,
    asked        TEXT NOT NULL DEFAULT '',         -- with macros expanded
    help         TEXT NOT NULL DEFAULT '',         -- the same
    asked_at     BIGINT NOT NULL DEFAULT 0,
    until        BIGINT NOT NULL DEFAULT 0,
    remind_at    BIGINT NOT NULL DEFAULT 0,        -- 0: nobody is to be reminded any more
    answered_at  BIGINT NOT NULL DEFAULT 0,
    answered_by  TEXT NOT NULL DEFAULT '',
    reason       TEXT NOT NULL DEFAULT '',
    answer       BLOB NOT NULL,                    -- sealed JSON: the values; empty for none
    same_as      TEXT NOT NULL DEFAULT '',         -- the name of the question whose answer counts for this one too
    UNIQUE (operation, idx)
);
CREATE INDEX questions_open ON questions (tenant, id) WHERE state = 'open';
CREATE INDEX questions_remind ON questions (remind_at) WHERE remind_at > 0;
CREATE INDEX questions_answers ON questions (cluster, node, service) WHERE state IN ('answered', 'overdue');

-- +goose Down
DROP TABLE questions;
DROP INDEX steps_asked;
ALTER TABLE steps DROP COLUMN ask_go_on;
ALTER TABLE steps DROP COLUMN ask_for;
