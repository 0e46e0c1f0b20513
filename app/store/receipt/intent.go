package receipt

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"time"

	"muster/app"
	"muster/app/store/db"
)

// AskFor returns the intent under which a create step is to ask for its node's machine, and counts that it does. A node whose
// machine was given back gets an intent of its own for the next one, since whatever carries the old one may be deleted at
// any time. Unasked tells that no attempt before this one can have asked.
func AskFor(t *db.Tx, at time.Time, cluster, node string) (intent string, unasked bool, err error) {
	var asked int
	err = t.Row(`UPDATE intents SET create_attempts = create_attempts + 1 WHERE id = (SELECT id FROM intents WHERE cluster = ? AND node = ? AND ended_at = 0
		ORDER BY created_at DESC, id LIMIT 1) RETURNING id, create_attempts`, cluster, node).Scan(&intent, &asked)
	if !db.IsNoRows(err) {
		return intent, asked == 1, err
	}
	intent = strings.ToLower(rand.Text())
	n, err := t.Count(`INSERT INTO intents (id, tenant, cluster, node, provider, machine_id, created_at, ended_at, create_attempts)
		SELECT CAST(? AS TEXT), c.tenant, c.id, CAST(? AS TEXT), c.provider, '', CAST(? AS BIGINT), 0, 1 FROM clusters c WHERE c.id = ?`,
		intent, node, db.Micros(at), cluster)
	if err == nil && n == 0 {
		err = app.Errorf(app.ENotFound, "Cluster %q doesn't exist.", cluster)
	}
	return intent, true, err
}

// CountAsked counts of live intents that a create step is to ask for their machine.
func CountAsked(t *db.Tx, intents []string) error {
	return t.ExecKeyed(len(intents), `UPDATE intents SET create_attempts = create_attempts + 1 WHERE id IN (`, `?`, `)`,
		func(args []any, i int) []any { return append(args, intents[i]) })
}

// NotAsked takes back what askFor counted: the attempt ended before it asked the provider for anything.
func NotAsked(t *db.Tx, cluster, node string) error {
	return t.Exec(`UPDATE intents SET create_attempts = create_attempts - 1 WHERE cluster = ? AND node = ? AND ended_at = 0
		AND create_attempts > 0`, cluster, node)
}

// IntentsOf returns every intent of a provider that has not ended, by id.
func (s *Store) IntentsOf(ctx context.Context, provider string) (map[string]app.LiveIntent, error) {
	live := map[string]app.LiveIntent{}
	err := s.Each(ctx, func(row db.Scanner) error {
		var i app.LiveIntent
		err := row.Scan(&i.ID, &i.Tenant, &i.Cluster, &i.Node, &i.Machine, &i.Over)
		live[i.ID] = i
		return err
	}, `SELECT i.id, i.tenant, i.cluster, i.node, i.machine_id, c.deleted_at > 0 FROM intents i JOIN clusters c ON c.id = i.cluster
		WHERE i.provider = ? AND i.ended_at = 0`, provider)
	return live, err
}

// IntentKnown reports whether a provider's intent has ended, and whether there ever was such an intent.
func (s *Store) IntentKnown(ctx context.Context, provider, intent string) (ended, known bool, err error) {
	var at int64
	err = s.Row(ctx, `SELECT ended_at FROM intents WHERE id = ? AND provider = ?`, intent, provider).Scan(&at)
	if db.IsNoRows(err) {
		return false, false, nil
	}
	if err != nil {
		return false, false, fmt.Errorf("store: intent: %w", err)
	}
	return at > 0, true, nil
}
