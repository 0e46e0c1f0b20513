package identity

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"muster/app"
	"muster/app/humanize"
	"muster/app/identity"
	"muster/app/store/db"
	"muster/app/store/session"
	"muster/app/store/token"
	userdb "muster/app/store/user"
)

func (s *Store) Users(ctx context.Context, tenant string, f identity.UserFilter) ([]identity.User, bool, error) {
	where, args := ` WHERE u.tenant = ?`, []any{tenant}
	if f.Search != "" {
		like := "%" + strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(strings.ToLower(f.Search)) + "%"
		where += ` AND (lower(u.name) LIKE ? ESCAPE '\' OR lower(u.full_name) LIKE ? ESCAPE '\' OR lower(u.email) LIKE ? ESCAPE '\')`
		args = append(args, like, like, like)
	}
	if f.Role != "" {
		where, args = where+` AND u.role = ?`, append(args, f.Role)
	}
	if f.After != "" {
		where, args = where+` AND u.name > ?`, append(args, f.After)
	}
	users := []identity.User{}
	err := s.Each(ctx, func(row db.Scanner) error {
		var u identity.User
		if err := userdb.Scan(row, &u); err != nil {
			return err
		}
		if n := len(users); n > 0 && users[n-1].Name == u.Name {
			if last := &users[n-1]; !slices.Contains(last.Groups, u.Groups[0]) {
				last.Groups = append(last.Groups, u.Groups[0])
			}
			return nil
		}
		users = append(users, u)
		return nil
	}, `SELECT `+userdb.Columns+`, coalesce(m.group_name, '') FROM (SELECT * FROM users u`+where+` ORDER BY u.name LIMIT ?) u
		LEFT JOIN memberships m ON m.tenant = u.tenant AND m.user_name = u.name ORDER BY u.name, m.group_name`, append(args, f.Limit+1)...)
	if err != nil {
		return nil, false, err
	}
	more := len(users) > f.Limit
	return users[:min(len(users), f.Limit)], more, nil
}

func (s *Store) UserView(ctx context.Context, tenant, name string) (identity.UserView, error) {
	u, err := userdb.Find(ctx, s.DB, tenant, name)
	v := identity.UserView{User: u}
	if err != nil {
		return v, err
	}
	err = s.Each(ctx, db.Texts(&v.LocalGroups), `SELECT group_name FROM memberships WHERE tenant = ? AND user_name = ? AND source = '' ORDER BY group_name`, tenant, name)
	if err != nil {
		return v, err
	}
	if err := s.Each(ctx, db.Texts(&v.Clusters), `SELECT name FROM clusters WHERE tenant = ? AND owner = ? AND deleted_at = 0 AND pool = 0 ORDER BY number`, tenant, name); err != nil {
		return v, err
	}
	return v, s.Row(ctx, `SELECT count(*) FROM api_tokens WHERE tenant = ? AND user_name = ?`, tenant, name).Scan(&v.Tokens)
}

// others counts who else could manage things.
func others(t *db.Tx, u identity.User) (o identity.Others, err error) {
	err = t.Row(`SELECT coalesce(sum(CASE WHEN role = 'superadmin' THEN 1 ELSE 0 END), 0), coalesce(sum(CASE WHEN tenant = ? THEN 1 ELSE 0 END), 0)
		FROM users WHERE role IN ('superadmin', 'admin') AND disabled_at = 0 AND NOT (tenant = ? AND name = ?)`,
		u.Tenant, u.Tenant, u.Name).Scan(&o.Superadmins, &o.Admins)
	return o, err
}

func (s *Store) AddUser(ctx context.Context, who app.Actor, u identity.User) error {
	return s.Write(ctx, func(t *db.Tx) error {
		if err := TenantExists(t, u.Tenant); err != nil {
			return err
		}
		if err := userdb.Add(t, who, u); err != nil {
			return err
		}
		return putInto(t, u.Tenant, u.Name, u.Groups)
	})
}

// putInto sets the groups into which people put a user here.
func putInto(t *db.Tx, tenant, user string, groups []string) error {
	if err := t.Exec(`DELETE FROM memberships WHERE tenant = ? AND user_name = ? AND source = ''`, tenant, user); err != nil {
		return err
	}
	for _, g := range groups {
		var one int64
		err := t.Row(`SELECT 1 FROM user_groups WHERE tenant = ? AND name = ?`, tenant, g).Scan(&one)
		if db.IsNoRows(err) {
			return &app.Error{Code: app.EInvalid, Field: "groups", Message: fmt.Sprintf("Group %q doesn't exist.", g), Hint: "Create the group first, or check the spelling of the name."}
		}
		if err != nil {
			return err
		}
		if err := join(t, tenant, user, g, ""); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) ChangeUser(ctx context.Context, who app.Actor, name string, c identity.UserChange, at time.Time) (after identity.User, err error) {
	err = s.Write(ctx, func(t *db.Tx) error {
		before, err := userdb.Read(t, who.Tenant, name)
		if err != nil {
			return err
		}
		others, err := others(t, before)
		if err != nil {
			return err
		}
		if after, err = c.Apply(who, before, others, at); err != nil {
			return err
		}
		if err := t.Exec(`UPDATE users SET full_name = ?, email = ?, role = ?, disabled_at = ? WHERE tenant = ? AND name = ?`,
			after.FullName, after.Email, after.Role, db.Micros(after.DisabledAt), after.Tenant, after.Name); err != nil {
			return err
		}
		if after.Email != before.Email {
			if err := userdb.DropEmailChange(t, after.Tenant, after.Name); err != nil {
				return err
			}
		}
		if after.Disabled() && !before.Disabled() {
			// They don't come back with the account: it may be disabled because one of them is in wrong hands.
			if _, err := session.Revoke(t, who, name, 0, 0, at); err != nil {
				return err
			}
		}
		was, is := userdb.Facts(before), userdb.Facts(after)
		if c.Groups != nil {
			if err := putInto(t, after.Tenant, after.Name, *c.Groups); err != nil {
				return err
			}
			now, err := userdb.Read(t, after.Tenant, after.Name)
			if err != nil {
				return err
			}
			after.Groups = now.Groups
			was["groups"], is["groups"] = before.Groups, after.Groups
		}
		return t.AddAudit(at, who, "user.change", name, was, is)
	})
	return after, err
}

func (s *Store) ResetPassword(ctx context.Context, who app.Actor, name, hash string, at time.Time) error {
	return s.Write(ctx, func(t *db.Tx) error {
		u, err := userdb.Read(t, who.Tenant, name)
		if err != nil {
			return err
		}
		if err := u.MayManage(who); err != nil {
			return err
		}
		switch {
		case u.Role == app.RoleRobot:
			return &app.Error{Code: app.EConflict, Reason: "robot", Message: "Robot accounts have no password.", Hint: "Create a token instead."}
		case u.PasswordHash == "":
			return &app.Error{Code: app.EConflict, Reason: "no_password", Message: fmt.Sprintf("%s signs in at an identity provider and has no password in Muster.", name),
				Hint: "Reset the password there."}
		}
		if err := t.Exec(`UPDATE users SET password_hash = ?, must_change_password = 1, password_at = ? WHERE tenant = ? AND name = ?`,
			hash, db.Micros(at), u.Tenant, u.Name); err != nil {
			return err
		}
		if err := t.AddAudit(at, who, "user.reset_password", name, nil, nil); err != nil {
			return err
		}
		if _, err := session.Revoke(t, who, name, 0, 0, at); err != nil {
			return err
		}
		return token.RevokeAll(t, who, name, at)
	})
}

func (s *Store) DeleteUser(ctx context.Context, who app.Actor, name, transferTo string, at time.Time) error {
	return s.Write(ctx, func(t *db.Tx) error {
		u, err := userdb.Read(t, who.Tenant, name)
		if err != nil {
			return err
		}
		if err := u.MayManage(who); err != nil {
			return err
		}
		others, err := others(t, u)
		if err != nil {
			return err
		}
		if err := others.Spare(u); err != nil {
			return err
		}
		if err := noneRequested(t, u); err != nil {
			return err
		}
		moved, err := handOver(t, u, transferTo)
		if err != nil {
			return err
		}
		for _, end := range userEnds {
			if err := end(t, u.Tenant, u.Name); err != nil {
				return err
			}
		}
		if err := t.Exec(`DELETE FROM users WHERE tenant = ? AND name = ?`, u.Tenant, u.Name); err != nil {
			return err
		}
		after := any(nil)
		if len(moved) > 0 {
			after = map[string]any{"clusters": moved, "transferred_to": transferTo}
		}
		return t.AddAudit(at, who, "user.delete", name, userdb.Facts(u), after)
	})
}

// handOver returns the live clusters of a user to another one, and refuses where there are some and no one gets them.
func handOver(t *db.Tx, u identity.User, to string) (names []string, err error) {
	if err := t.Each(db.Texts(&names), `SELECT name FROM clusters WHERE tenant = ? AND owner = ? AND deleted_at = 0 AND pool = 0 ORDER BY number`, u.Tenant, u.Name); err != nil {
		return nil, err
	}
	if to == "" {
		if len(names) == 0 {
			return nil, noneKept(t, u)
		}
		const shown = 10
		list := strings.Join(names[:min(len(names), shown)], ", ")
		if more := len(names) - shown; more > 0 {
			list += fmt.Sprintf(" and %d more", more)
		}
		return nil, &app.Error{Code: app.EConflict, Reason: "owns_clusters", Message: fmt.Sprintf("%s still owns %s: %s.", u.Name, humanize.Count(len(names), "cluster"), list),
			Hint: "Delete the clusters, or name a user to transfer them to."}
	}
	heir, err := userdb.Read(t, u.Tenant, to)
	if app.CodeOf(err) == app.ENotFound {
		return nil, &app.Error{Code: app.EInvalid, Field: "transfer_to", Message: fmt.Sprintf("User %q doesn't exist.", to)}
	}
	if err != nil {
		return nil, err
	}
	if heir.Disabled() || heir.Role == app.RoleViewer {
		return nil, &app.Error{Code: app.EConflict, Field: "transfer_to", Message: fmt.Sprintf("%s can't own clusters: the account is disabled, or its role is viewer.", to)}
	}
	if err := t.Exec(`UPDATE clusters SET owner = ? WHERE tenant = ? AND owner = ? AND deleted_at = 0`, to, u.Tenant, u.Name); err != nil {
		return nil, err
	}
	if err := t.Exec(`UPDATE volumes SET owner = ? WHERE tenant = ? AND owner = ? AND deleted_at = 0`, to, u.Tenant, u.Name); err != nil {
		return nil, err
	}
	if err := t.Exec(`UPDATE volume_snapshots SET owner = ? WHERE tenant = ? AND owner = ? AND deleted_at = 0`, to, u.Tenant, u.Name); err != nil {
		return nil, err
	}
	return names, t.Exec(`UPDATE reservations SET owner = ? WHERE tenant = ? AND owner = ? AND ended_at = 0`, to, u.Tenant, u.Name)
}

// noneKept refuses while a user has volumes or snapshots without a cluster: they hold data and cost money, and would be of no one.
func noneKept(t *db.Tx, u identity.User) error {
	var left []string
	err := t.Each(db.Texts(&left), `SELECT id FROM volumes WHERE tenant = ? AND owner = ? AND state = 'kept'
		UNION ALL SELECT id FROM volume_snapshots WHERE tenant = ? AND owner = ? AND state IN ('creating', 'ready') ORDER BY id`,
		u.Tenant, u.Name, u.Tenant, u.Name)
	if err != nil || len(left) == 0 {
		return err
	}
	return &app.Error{Code: app.EConflict, Reason: "owns_volumes",
		Message: fmt.Sprintf("%s still owns volumes or snapshots: %s.", u.Name, humanize.Some(left, 10)),
		Hint:    "Delete them, or name a user to transfer them to."}
}

// noneRequested refuses while requests of a user wait: approved, they would make clusters of no one.
func noneRequested(t *db.Tx, u identity.User) error {
	var open []string
	err := t.Each(db.Texts(&open), `SELECT CAST(id AS TEXT) FROM requests WHERE tenant = ? AND owner = ? AND status IN ('waiting', 'offered', 'scheduled') ORDER BY id`, u.Tenant, u.Name)
	if err != nil || len(open) == 0 {
		return err
	}
	return &app.Error{Code: app.EConflict, Reason: "has_requests", Message: fmt.Sprintf("%s still has open requests: %s.", u.Name, strings.Join(open[:min(len(open), 10)], ", ")),
		Hint: "Withdraw or decide on them first."}
}

func (s *Store) Superadmin(ctx context.Context) (identity.User, error) {
	var tenant, name string
	err := s.Row(ctx, `SELECT tenant, name FROM users WHERE role = 'superadmin' AND disabled_at = 0
		ORDER BY CASE WHEN tenant = 'default' AND name = 'admin' THEN 0 ELSE 1 END, created_at, tenant, name LIMIT 1`).Scan(&tenant, &name)
	if db.IsNoRows(err) {
		return identity.User{}, app.Errorf(app.ENotFound, "This installation has no superadmin.")
	}
	if err != nil {
		return identity.User{}, fmt.Errorf("store: superadmin: %w", err)
	}
	return userdb.Find(ctx, s.DB, tenant, name)
}
