package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"muster/app"
)

// notice writes what people are to be told, in the transaction of what it tells.
func (t *tx) notice(n app.Notice) error {
	t.clusters[app.WatchNotices], t.clusters[app.WatchTenant(n.Tenant)] = true, true
	if n.Cluster != "" && len(n.Groups) == 0 && slices.Contains(app.OwnerNoticeKinds, n.Kind) {
		var group string
		err := t.row(`SELECT owner_group FROM clusters WHERE tenant = ? AND id = ?`, n.Tenant, n.Cluster).Scan(&group)
		if err != nil && !isNoRows(err) {
			return wrapped(err)
		}
		if group != "" {
			n.Groups = []string{group}
		}
	}
	return t.exec(`INSERT INTO notices (at, tenant, kind, cluster, request, users, in_groups, title, body, path, action, action_name)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		micros(n.At), n.Tenant, n.Kind, n.Cluster, n.Request, jsonText(n.Users), jsonText(n.Groups), n.Title, n.Text, n.Path, n.Action, n.ActionName)
}

// Notify implements app.NoticeStore.
func (s *DB) Notify(ctx context.Context, n app.Notice) error {
	return s.write(ctx, func(t *tx) error { return t.notice(n) })
}

const noticeColumns = `n.id, n.at, n.tenant, n.kind, n.cluster, n.request, n.users, n.in_groups, n.title, n.body, n.path, n.action, n.action_name`

// noticeRow is where the columns of a notice are scanned to.
type noticeRow struct {
	app.Notice
	at            int64
	users, groups []byte
}

func (r *noticeRow) dest() []any {
	return []any{&r.ID, &r.at, &r.Tenant, &r.Kind, &r.Cluster, &r.Request, &r.users, &r.groups, &r.Title, &r.Text, &r.Path, &r.Action, &r.ActionName}
}

func (r *noticeRow) notice() (app.Notice, error) {
	r.At = fromMicros(r.at)
	if err := errors.Join(json.Unmarshal(r.users, &r.Users), json.Unmarshal(r.groups, &r.Groups)); err != nil {
		return r.Notice, fmt.Errorf("store: notice %d: %w", r.ID, err)
	}
	return r.Notice, nil
}

// Notices implements app.NoticeStore.
func (s *DB) Notices(ctx context.Context, tenant string, after int64, limit int) ([]app.Notice, error) {
	list := []app.Notice{}
	err := s.each(ctx, func(row scanner) error {
		var r noticeRow
		if err := row.Scan(r.dest()...); err != nil {
			return err
		}
		n, err := r.notice()
		list = append(list, n)
		return err
	}, `SELECT `+noticeColumns+` FROM notices n WHERE n.tenant = ? AND n.id > ? ORDER BY n.id LIMIT ?`, tenant, after, min(max(limit, 1), 1000))
	return list, err
}

// NoticesFor implements app.NoticeStore.
func (s *DB) NoticesFor(ctx context.Context, tenant string, reader *app.NoticeReader, before int64, limit int) ([]app.Notice, error) {
	if before <= 0 {
		before = math.MaxInt64
	}
	query, args := `SELECT `+noticeColumns+` FROM notices n WHERE n.tenant = ? AND n.id < ?`, []any{tenant, before}
	if reader != nil {
		if len(reader.Groups) > mostReaderGroups {
			reader = &app.NoticeReader{User: reader.User, Groups: reader.Groups[:mostReaderGroups]}
		}
		// Lists are short JSON; what LIKE finds is looked at again below, since SQLite does not tell A from a.
		query += ` AND (n.users LIKE ? ESCAPE '!'` + strings.Repeat(` OR n.in_groups LIKE ? ESCAPE '!'`, len(reader.Groups)) + `)`
		args = append(args, listed(reader.User))
		for _, g := range reader.Groups {
			args = append(args, listed(g))
		}
	}
	list := []app.Notice{}
	err := s.each(ctx, func(row scanner) error {
		var r noticeRow
		if err := row.Scan(r.dest()...); err != nil {
			return err
		}
		n, err := r.notice()
		if err == nil && (reader == nil || slices.Contains(n.Users, reader.User) ||
			slices.ContainsFunc(reader.Groups, func(g string) bool { return slices.Contains(n.Groups, g) })) {
			list = append(list, n)
		}
		return err
	}, query+` ORDER BY n.id DESC LIMIT ?`, append(args, min(max(limit, 1), 1000))...)
	return list, err
}

// mostReaderGroups is how many groups of a reader are looked for.
const mostReaderGroups = 500

var likeMarks = strings.NewReplacer("!", "!!", "%", "!%", "_", "!_")

// listed is a LIKE pattern for a word in a JSON list.
func listed(word string) string { return "%" + likeMarks.Replace(jsonText(word)) + "%" }
