-- +goose Up
-- What a cluster's users have set for its provider, such as credentials of their own: JSON, encrypted. own_account is 1 where that makes an account of its
-- own, in which its machines are. A row stays until the cluster's machines are proven to be gone.
CREATE TABLE provider_values (
    cluster     TEXT PRIMARY KEY,
    tenant      TEXT NOT NULL,
    provider    TEXT NOT NULL,
    encrypted   BLOB NOT NULL,
    own_account BIGINT NOT NULL DEFAULT 0,
    changed_at  BIGINT NOT NULL,
    changed_by  TEXT NOT NULL
);
CREATE INDEX provider_values_accounts ON provider_values (cluster) WHERE own_account = 1;

-- +goose Down
DROP INDEX provider_values_accounts;
DROP TABLE provider_values;
