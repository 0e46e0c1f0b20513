-- +goose Up
-- The configuration of clusters, encrypted. The server, which has the key, moves the plaintext of the old columns here when it starts; the old columns are no longer
-- written. Older servers read and write only the plaintext.
ALTER TABLE clusters ADD COLUMN sealed_definition BLOB NOT NULL DEFAULT x'';
ALTER TABLE changes ADD COLUMN sealed_definition BLOB NOT NULL DEFAULT x'';
ALTER TABLE requests ADD COLUMN sealed_asked BLOB NOT NULL DEFAULT x'';
ALTER TABLE requests ADD COLUMN sealed_terms BLOB NOT NULL DEFAULT x'';
ALTER TABLE requests ADD COLUMN sealed_kept BLOB NOT NULL DEFAULT x'';
ALTER TABLE builds ADD COLUMN sealed_wanted BLOB NOT NULL DEFAULT x'';
CREATE INDEX clusters_to_seal ON clusters (id) WHERE definition <> '';
CREATE INDEX changes_to_seal ON changes (operation) WHERE definition <> '';
CREATE INDEX requests_asked_to_seal ON requests (id) WHERE asked <> '';
CREATE INDEX requests_terms_to_seal ON requests (id) WHERE terms <> '';
CREATE INDEX requests_kept_to_seal ON requests (id) WHERE kept <> '';
CREATE INDEX builds_to_seal ON builds (id) WHERE wanted <> '';
INSERT INTO settings (name, value) VALUES ('needs_migration', '54') ON CONFLICT (name) DO UPDATE SET value = excluded.value;

-- +goose Down
DELETE FROM settings WHERE name = 'needs_migration' AND value = '54';
DROP INDEX builds_to_seal;
DROP INDEX requests_kept_to_seal;
DROP INDEX requests_terms_to_seal;
DROP INDEX requests_asked_to_seal;
DROP INDEX changes_to_seal;
DROP INDEX clusters_to_seal;
ALTER TABLE builds DROP COLUMN sealed_wanted;
ALTER TABLE requests DROP COLUMN sealed_kept;
ALTER TABLE requests DROP COLUMN sealed_terms;
ALTER TABLE requests DROP COLUMN sealed_asked;
ALTER TABLE changes DROP COLUMN sealed_definition;
ALTER TABLE clusters DROP COLUMN sealed_definition;
