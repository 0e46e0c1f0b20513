package store

import (
	"context"
	"encoding/json"
	"fmt"

	"muster/app"
)

// notice writes what people are to be told, in the transaction of what it tells.
func (t *tx) notice(n app.Notice) error {
	return t.exec(`INSERT INTO notices (at, tenant, kind, cluster, request, users, in_groups, title, body, path, action, action_name)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		micros(n.At), n.Tenant, n.Kind, n.Cluster, n.Request, jsonText(n.Users), jsonText(n.Groups), n.Title, n.Text, n.Path, n.Action, n.ActionName)
}

// Notify implements app.NoticeStore.
func (s *Store) Notify(ctx context.Context, n app.Notice) error {
	return s.write(ctx, func(t *tx) error { return t.notice(n) })
}

// Notices implements app.NoticeStore.
func (s *Store) Notices(ctx context.Context, tenant string, after int64, limit int) ([]app.Notice, error) {
	list := []app.Notice{}
	err := s.each(ctx, func(row scanner) error {
		var n app.Notice
		var at int64
		var users, groups []byte
		if err := row.Scan(&n.ID, &at, &n.Tenant, &n.Kind, &n.Cluster, &n.Request, &users, &groups, &n.Title, &n.Text, &n.Path,
			&n.Action, &n.ActionName); err != nil {
			return err
		}
		n.At = fromMicros(at)
		if err := json.Unmarshal(users, &n.Users); err != nil {
			return fmt.Errorf("store: notice %d: %w", n.ID, err)
		}
		list = append(list, n)
		return json.Unmarshal(groups, &list[len(list)-1].Groups)
	}, `SELECT id, at, tenant, kind, cluster, request, users, in_groups, title, body, path, action, action_name
		FROM notices WHERE tenant = ? AND id > ? ORDER BY id LIMIT ?`, tenant, after, min(max(limit, 1), 1000))
	return list, err
}
