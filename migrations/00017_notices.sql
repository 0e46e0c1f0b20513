-- +goose Up
-- What people are to be told, in the order in which it happened.
CREATE TABLE notices (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    at          BIGINT NOT NULL,
    tenant      TEXT NOT NULL,
    kind        TEXT NOT NULL,
    cluster     TEXT NOT NULL,
    request     BIGINT NOT NULL,
    users       TEXT NOT NULL, -- JSON
    in_groups   TEXT NOT NULL, -- JSON
    title       TEXT NOT NULL,
    body        TEXT NOT NULL,
    path        TEXT NOT NULL,
    action      TEXT NOT NULL,
    action_name TEXT NOT NULL
);
CREATE INDEX notices_by_tenant ON notices (tenant, id);

-- +goose Down
DROP TABLE notices;
