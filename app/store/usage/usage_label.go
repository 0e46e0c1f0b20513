package usage

import (
	"context"

	"muster/app/store/db"
)

// LabelKeys implements usage.UsageStore. For a whole tenant it jumps from key to key in the index cluster_labels_of, however many clusters have each.
func (s *Store) LabelKeys(ctx context.Context, tenant, owner string, most int) (keys []string, err error) {
	query, args := `WITH RECURSIVE k(key) AS (
			SELECT min(l.key) FROM cluster_labels l WHERE l.tenant = ?
			UNION ALL
			SELECT (SELECT min(l.key) FROM cluster_labels l WHERE l.tenant = ? AND l.key > k.key) FROM k WHERE k.key IS NOT NULL)
		SELECT k.key FROM k WHERE k.key IS NOT NULL ORDER BY k.key LIMIT ?`, []any{tenant, tenant, most}
	if owner != "" {
		query, args = `SELECT DISTINCT l.key FROM clusters c JOIN cluster_labels l ON l.cluster = c.id WHERE c.tenant = ? AND c.owner = ? ORDER BY l.key LIMIT ?`,
			[]any{tenant, owner, most}
	}
	err = s.Each(ctx, func(row db.Scanner) error {
		var key string
		err := row.Scan(&key)
		keys = append(keys, key)
		return err
	}, query, args...)
	return keys, err
}
