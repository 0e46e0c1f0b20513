package feed

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"muster/app"
	"muster/app/store/db"
)

func (s *Store) Notify(ctx context.Context, n app.Notice) error {
	return s.Write(ctx, func(t *db.Tx) error { return t.Notice(n) })
}

// NoticeColumns are those of a notice n, as NoticeRow scans them.
const NoticeColumns = `n.id, n.at, n.tenant, n.kind, n.cluster, n.request, n.users, n.in_groups, n.title, n.body, n.path, n.action, n.action_name`

// NoticeRow is where the columns of a notice are scanned to.
type NoticeRow struct {
	app.Notice
	at            int64
	users, groups []byte
	about, act    string
}

// Dest returns where to scan NoticeColumns to.
func (r *NoticeRow) Dest() []any {
	return []any{&r.ID, &r.at, &r.Tenant, &r.Kind, &r.Cluster, &r.Request, &r.users, &r.groups, &r.Title, &r.Text, &r.about, &r.act, &r.ActionName}
}

// Value returns the notice that was scanned.
func (r *NoticeRow) Value() (app.Notice, error) {
	r.At, r.About, r.Act = db.FromMicros(r.at), app.ParseSubject(r.about), app.ParseSubject(r.act)
	if err := errors.Join(json.Unmarshal(r.users, &r.Users), json.Unmarshal(r.groups, &r.Groups)); err != nil {
		return r.Notice, fmt.Errorf("store: notice %d: %w", r.ID, err)
	}
	return r.Notice, nil
}

func (s *Store) Notices(ctx context.Context, tenant string, after int64, limit int) ([]app.Notice, error) {
	list := []app.Notice{}
	err := s.Each(ctx, func(row db.Scanner) error {
		var r NoticeRow
		if err := row.Scan(r.Dest()...); err != nil {
			return err
		}
		n, err := r.Value()
		list = append(list, n)
		return err
	}, `SELECT `+NoticeColumns+` FROM notifications n WHERE n.tenant = ? AND n.id > ? ORDER BY n.id LIMIT ?`, tenant, after, min(max(limit, 1), 1000))
	return list, err
}

func (s *Store) NoticesFor(ctx context.Context, tenant string, reader *app.NoticeReader, before int64, limit int) ([]app.Notice, error) {
	if before <= 0 {
		before = math.MaxInt64
	}
	query, args := `SELECT `+NoticeColumns+` FROM notifications n WHERE n.tenant = ? AND n.id < ?`, []any{tenant, before}
	if reader != nil {
		if len(reader.Groups) > MaxReaderGroups {
			reader = &app.NoticeReader{User: reader.User, Groups: reader.Groups[:MaxReaderGroups]}
		}
		// Lists are short JSON; what LIKE finds is looked at again below, since SQLite does not tell A from a.
		query += ` AND (n.users LIKE ? ESCAPE '!'` + strings.Repeat(` OR n.in_groups LIKE ? ESCAPE '!'`, len(reader.Groups)) + `)`
		args = append(args, db.Listed(reader.User))
		for _, g := range reader.Groups {
			args = append(args, db.Listed(g))
		}
	}
	list := []app.Notice{}
	err := s.Each(ctx, func(row db.Scanner) error {
		var r NoticeRow
		if err := row.Scan(r.Dest()...); err != nil {
			return err
		}
		n, err := r.Value()
		if err == nil && (reader == nil || slices.Contains(n.Users, reader.User) ||
			slices.ContainsFunc(reader.Groups, func(g string) bool { return slices.Contains(n.Groups, g) })) {
			list = append(list, n)
		}
		return err
	}, query+` ORDER BY n.id DESC LIMIT ?`, append(args, min(max(limit, 1), 1000))...)
	return list, err
}

// MaxReaderGroups is how many groups of a reader are looked for.
const MaxReaderGroups = 500
