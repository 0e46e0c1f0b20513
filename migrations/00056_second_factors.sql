-- +goose Up
-- Second factors of accounts that have a password. Servers of the version before ask for the password alone; a sign-in that they begin for an account with a second
-- factor has no value in signins.second, and newer servers do not accept it.
CREATE TABLE second_factors (
    id           TEXT NOT NULL PRIMARY KEY,
    tenant       TEXT NOT NULL,
    user_name    TEXT NOT NULL,
    kind         TEXT NOT NULL,   -- app, key
    name         TEXT NOT NULL,
    sealed       BLOB NOT NULL,   -- encrypted: the secret shared with an app, or the public key of a security key
    used_step    BIGINT NOT NULL, -- of an app: the time step of the last code; no earlier one is accepted
    started_at   BIGINT NOT NULL,
    confirmed_at BIGINT NOT NULL, -- 0: the secret was shown, but no code was entered yet
    used_at      BIGINT NOT NULL  -- 0: never
);
CREATE INDEX second_factors_by_user ON second_factors (tenant, user_name);

-- Recovery codes. Each works once; only its hash is kept.
CREATE TABLE recovery_codes (
    tenant    TEXT NOT NULL,
    user_name TEXT NOT NULL,
    hash      BLOB NOT NULL,
    used_at   BIGINT NOT NULL, -- 0: not yet
    PRIMARY KEY (tenant, user_name, hash)
);

ALTER TABLE users ADD COLUMN code_failures BIGINT NOT NULL DEFAULT 0;  -- wrong codes since code_failed_at
ALTER TABLE users ADD COLUMN code_failed_at BIGINT NOT NULL DEFAULT 0;
ALTER TABLE tenants ADD COLUMN require_second_factor BIGINT NOT NULL DEFAULT 0;
ALTER TABLE signins ADD COLUMN second TEXT NOT NULL DEFAULT '';        -- app, key, recovery

-- +goose Down
ALTER TABLE signins DROP COLUMN second;
ALTER TABLE tenants DROP COLUMN require_second_factor;
ALTER TABLE users DROP COLUMN code_failed_at;
ALTER TABLE users DROP COLUMN code_failures;
DROP TABLE recovery_codes;
DROP TABLE second_factors;
