package fleet

import (
	"context"

	"muster/app/store/db"
)

// WaitingByProvider counts the steps that wait, by their provider. An index has the steps that wait for a provider and no
// others, so that it costs as much as waits.
func (s *Store) WaitingByProvider(ctx context.Context) (map[string]int, error) {
	all := map[string]int{}
	err := s.Each(ctx, func(row db.Scanner) error {
		var provider string
		var n int
		err := row.Scan(&provider, &n)
		all[provider] = n
		return err
	}, `SELECT c.provider, CAST(sum(w.n) AS BIGINT) FROM (
			SELECT operation, count(*) AS n FROM steps WHERE state IN ('ready', 'queued') AND action IN ('create', 'delete', 'confirm') GROUP BY operation) w
		JOIN operations o ON o.id = w.operation JOIN clusters c ON c.id = o.cluster
		WHERE o.status IN ('running', 'cancelling') GROUP BY c.provider`)
	return all, err
}
