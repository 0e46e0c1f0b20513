-- +goose Up
-- Keys that values are sealed with, each wrapped by the key-encryption key. None is deleted: a value that a server sealed just
-- before it learnt of a newer key must still open.
CREATE TABLE data_keys (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    wrapped    BLOB NOT NULL,
    kek        TEXT NOT NULL,     -- name of the key-encryption key; never the key
    made_at    BIGINT NOT NULL,
    retired_at BIGINT NOT NULL    -- when nothing was sealed with it any more
);

-- Named values of tenants, sealed. No face reads them back.
CREATE TABLE secrets (
    tenant  TEXT NOT NULL,
    name    TEXT NOT NULL,
    value   BLOB NOT NULL,
    set_by  TEXT NOT NULL,
    set_at  BIGINT NOT NULL,
    used_at BIGINT NOT NULL,
    PRIMARY KEY (tenant, name)
);

-- The audit becomes a chain for each tenant. What stood before is chained when the store is next opened.
DROP INDEX audit_by_tenant;
ALTER TABLE audit RENAME TO audit_before;
CREATE TABLE audit (
    tenant    TEXT NOT NULL,
    number    BIGINT NOT NULL,    -- 1, 2, 3 … in each tenant, without gaps
    at        BIGINT NOT NULL,
    user_name TEXT NOT NULL,
    via       TEXT NOT NULL,
    address   TEXT NOT NULL,      -- that it was asked from
    token     TEXT NOT NULL,      -- label of the API token, where it was one
    act       TEXT NOT NULL,
    object    TEXT NOT NULL,
    detail    TEXT NOT NULL,
    hash      BLOB NOT NULL,      -- SHA-256 of the hash before it and of all the rest of the row
    PRIMARY KEY (tenant, number)
);
CREATE INDEX audit_by_user ON audit (tenant, user_name, number);
CREATE INDEX audit_by_object ON audit (tenant, object, number);

-- Where each chain ends, so that a chain that was cut short is seen. The mac takes a key that is sealed.
CREATE TABLE audit_ends (
    tenant TEXT PRIMARY KEY,
    number BIGINT NOT NULL,
    hash   BLOB NOT NULL,
    mac    BLOB NOT NULL
);

--sqlite{
-- +goose StatementBegin
CREATE TRIGGER audit_stays BEFORE UPDATE ON audit BEGIN SELECT RAISE(ABORT, 'the audit is only added to'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER audit_remains BEFORE DELETE ON audit BEGIN SELECT RAISE(ABORT, 'the audit is only added to'); END;
-- +goose StatementEnd
--sqlite}
--postgres{
--postgres: CREATE FUNCTION audit_refuses() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'the audit is only added to'; END $$;
--postgres}
--postgres: CREATE TRIGGER audit_stays BEFORE UPDATE OR DELETE ON audit FOR EACH ROW EXECUTE FUNCTION audit_refuses();
--postgres: CREATE TRIGGER audit_remains BEFORE TRUNCATE ON audit FOR EACH STATEMENT EXECUTE FUNCTION audit_refuses();

-- +goose Down
DROP TABLE audit_ends;
DROP TABLE audit;
ALTER TABLE audit_before RENAME TO audit;
CREATE INDEX audit_by_tenant ON audit (tenant, seq);
DROP TABLE secrets;
DROP TABLE data_keys;
--postgres: DROP FUNCTION audit_refuses();
