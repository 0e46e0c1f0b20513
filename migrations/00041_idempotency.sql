-- +goose Up
-- Requests that carried a key of their sender's, and what was answered, so that one that is sent again is not carried out twice.
CREATE TABLE idempotency_keys (
    tenant      TEXT NOT NULL,
    account     TEXT NOT NULL,
    name        TEXT NOT NULL,   -- the key
    fingerprint BLOB NOT NULL,   -- of method, address and body; sealed, since the body may hold a secret
    begun_at    BIGINT NOT NULL,
    changed     BIGINT NOT NULL, -- 1: something was written for it, in the transaction that set this
    answer      BLOB NOT NULL,   -- sealed; empty until there is one
    PRIMARY KEY (tenant, account, name)
);
CREATE INDEX idempotency_keys_begun ON idempotency_keys (begun_at);

-- +goose Down
DROP TABLE idempotency_keys;
