-- +goose Up
-- How long steps take, by kind of step: running summaries, in which what is long ago hardly counts. A mean is of the natural
-- logarithm of seconds, a spread is the variance of that.
CREATE TABLE paces (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant        TEXT NOT NULL,   -- '': of the whole installation
    kind          TEXT NOT NULL,   -- action, service, version, provider, its type, hardware and image, with U+001F between
    wider         BIGINT NOT NULL, -- the rows in which the same times are counted too; 0 for none
    widest        BIGINT NOT NULL,
    done_runs     BIGINT NOT NULL DEFAULT 0, -- the first attempt succeeded
    done_mean     DOUBLE PRECISION NOT NULL DEFAULT 0,
    done_spread   DOUBLE PRECISION NOT NULL DEFAULT 0,
    again_runs    BIGINT NOT NULL DEFAULT 0, -- a later one did
    again_mean    DOUBLE PRECISION NOT NULL DEFAULT 0,
    again_spread  DOUBLE PRECISION NOT NULL DEFAULT 0,
    failed_runs   BIGINT NOT NULL DEFAULT 0, -- one failed
    failed_mean   DOUBLE PRECISION NOT NULL DEFAULT 0,
    failed_spread DOUBLE PRECISION NOT NULL DEFAULT 0,
    seen_at       BIGINT NOT NULL,
    UNIQUE (tenant, kind)
);
CREATE INDEX paces_seen ON paces (seen_at);

-- The kind of a step; 0 for none.
ALTER TABLE steps ADD COLUMN pace BIGINT NOT NULL DEFAULT 0;

-- How long an operation was expected to take, beside the figure that there was: between what, how much of it is a guess, and by how
-- many runs the rest is known.
ALTER TABLE operations ADD COLUMN expected_low BIGINT NOT NULL DEFAULT 0;
ALTER TABLE operations ADD COLUMN expected_high BIGINT NOT NULL DEFAULT 0;
ALTER TABLE operations ADD COLUMN expected_guess BIGINT NOT NULL DEFAULT 0;
ALTER TABLE operations ADD COLUMN expected_runs BIGINT NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE operations DROP COLUMN expected_runs;
ALTER TABLE operations DROP COLUMN expected_guess;
ALTER TABLE operations DROP COLUMN expected_high;
ALTER TABLE operations DROP COLUMN expected_low;
ALTER TABLE steps DROP COLUMN pace;
DROP TABLE paces;
