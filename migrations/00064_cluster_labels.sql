-- +goose Up
-- A text for people, and labels: as JSON where they are read with the cluster, and a row each where clusters are looked for and counted by them. Both are written
-- together. Rows stay with deleted clusters, whose usage is counted by them.
ALTER TABLE clusters ADD COLUMN description TEXT NOT NULL DEFAULT '';
ALTER TABLE clusters ADD COLUMN labels TEXT NOT NULL DEFAULT '{}';

CREATE TABLE cluster_labels (
    cluster TEXT NOT NULL,
    key     TEXT NOT NULL,
    tenant  TEXT NOT NULL,
    value   TEXT NOT NULL,
    PRIMARY KEY (cluster, key)
);
CREATE INDEX cluster_labels_of ON cluster_labels (tenant, key, value, cluster);

-- +goose Down
DROP TABLE cluster_labels;
ALTER TABLE clusters DROP COLUMN labels;
ALTER TABLE clusters DROP COLUMN description;
