-- +goose Up
-- What each person was notified of, written in the transaction of the notification. read_at is 0 until they have read it.
CREATE TABLE inbox (
    tenant TEXT NOT NULL,
    user_name TEXT NOT NULL,
    notice BIGINT NOT NULL,
    kind TEXT NOT NULL,
    at BIGINT NOT NULL,
    read_at BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (tenant, user_name, notice)
);
CREATE INDEX inbox_unread ON inbox (tenant, user_name, notice) WHERE read_at = 0;
CREATE INDEX inbox_by_age ON inbox (at);

-- What people chose of a kind of notification, by channel: 1 or 0. Without a row, the defaults apply.
CREATE TABLE notification_preferences (
    tenant TEXT NOT NULL,
    user_name TEXT NOT NULL,
    kind TEXT NOT NULL,
    portal BIGINT NOT NULL,
    slack BIGINT NOT NULL,
    email BIGINT NOT NULL,
    PRIMARY KEY (tenant, user_name, kind)
);

-- Emails to people, written in the transaction of the notification. state is 'waiting', 'sent', 'failed' or 'dropped'; next_at is when a
-- waiting one is due. holder is the claim of the server that is sending it, until next_at.
CREATE TABLE notification_emails (
    tenant TEXT NOT NULL,
    user_name TEXT NOT NULL,
    notice BIGINT NOT NULL,
    state TEXT NOT NULL,
    attempts BIGINT NOT NULL DEFAULT 0,
    queued_at BIGINT NOT NULL,
    next_at BIGINT NOT NULL,
    holder TEXT NOT NULL DEFAULT '',
    error TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (tenant, user_name, notice)
);
CREATE INDEX notification_emails_due ON notification_emails (next_at) WHERE state = 'waiting';
CREATE INDEX notification_emails_held ON notification_emails (holder) WHERE holder <> '';
CREATE INDEX notification_emails_by_age ON notification_emails (queued_at);

-- +goose Down
DROP TABLE notification_emails;
DROP TABLE notification_preferences;
DROP TABLE inbox;
