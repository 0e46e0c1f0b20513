package db

import (
	"context"
	"fmt"
)

// maxIntegrityErrors is how many things that do not fit are notified of each kind.
const maxIntegrityErrors = 20

// IntegrityErrors looks whether what is in the database fits together, and says in words what does not: nil where all does. It reads everything that
// is not over, so it costs seconds where there is much. The audit's chains are walked by VerifyAudit.
func (s *DB) IntegrityErrors(ctx context.Context) (found []string, err error) {
	m, err := s.Moment(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = m.Rollback() }() // nothing was written
	for _, rule := range []struct{ words, query string }{
		{"operation %s has wrong step counts", `SELECT CAST(o.id AS TEXT) FROM operations o LEFT JOIN (
				SELECT operation, count(*) AS n, sum(1 - is_barrier) AS acts, sum(CASE WHEN state = 'succeeded' THEN 1 ELSE 0 END) AS over,
					sum(CASE WHEN state = 'succeeded' AND is_barrier = 0 THEN 1 ELSE 0 END) AS done, sum(CASE WHEN state = 'queued' THEN 1 ELSE 0 END) AS queued,
					sum(CASE WHEN state = 'running' THEN 1 ELSE 0 END) AS running, sum(CASE WHEN state IN ('ready', 'queued', 'running', 'asked') THEN 1 ELSE 0 END) AS live
				FROM steps GROUP BY operation) s ON s.operation = o.id
			WHERE o.total <> coalesce(s.acts, 0) OR o.done <> coalesce(s.done, 0) OR o.unfinished <> coalesce(s.n - s.over, 0) OR o.queued <> coalesce(s.queued, 0)
				OR o.running <> coalesce(s.running, 0) OR o.active <> coalesce(s.live, 0) ORDER BY o.id LIMIT ?`},
		{"a step of operation %s has a wrong count of the steps it waits for", `SELECT CAST(s.operation AS TEXT) FROM steps s WHERE s.state = 'waiting' AND s.needs_left <>
				(SELECT count(*) FROM step_dependencies e JOIN steps n ON n.operation = e.operation AND n.idx = e.from_idx WHERE e.operation = s.operation AND e.to_idx = s.idx AND n.state <> 'succeeded')
			ORDER BY s.operation LIMIT ?`},
		{"operation %s is running, but none of its steps is", `SELECT CAST(id AS TEXT) FROM operations WHERE status = 'running' AND active = 0 AND pending_hooks = 0 ORDER BY id LIMIT ?`},
		{"operation %s belongs to a missing cluster", `SELECT CAST(o.id AS TEXT) FROM operations o WHERE o.cluster <> '' AND NOT EXISTS (SELECT 1 FROM clusters c WHERE c.id = o.cluster) ORDER BY o.id LIMIT ?`},
		{"cluster %s has no operation", `SELECT c.id FROM clusters c WHERE c.deleted_at = 0 AND NOT EXISTS (SELECT 1 FROM operations o WHERE o.cluster = c.id) ORDER BY c.id LIMIT ?`},
		{"a node of cluster %s has a machine but no intent", `SELECT n.cluster FROM nodes n WHERE n.status IN ('created', 'ready') AND n.removal = 0 AND NOT EXISTS
			(SELECT 1 FROM intents i WHERE i.cluster = n.cluster AND i.node = n.name AND i.ended_at = 0) ORDER BY n.cluster LIMIT ?`},
		{"cluster %s is deleted but still has an open intent", `SELECT DISTINCT i.cluster FROM intents i JOIN clusters c ON c.id = i.cluster WHERE i.ended_at = 0 AND c.deleted_at > 0 ORDER BY i.cluster LIMIT ?`},
		{"the audit log of tenant %s doesn't end where its record says", `SELECT e.tenant FROM audit_heads e WHERE e.number <> (SELECT count(*) FROM audit a WHERE a.tenant = e.tenant) ORDER BY e.tenant LIMIT ?`},
	} {
		if err := Each(ctx, m, func(row Scanner) error {
			var which string
			err := row.Scan(&which)
			found = append(found, fmt.Sprintf(rule.words, which))
			return err
		}, rule.query, maxIntegrityErrors); err != nil {
			return nil, err
		}
	}
	return found, nil
}
