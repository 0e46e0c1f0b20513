package identity

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"muster/app"
	"muster/app/identity"
	"muster/app/store/db"
)

func (s *Store) Groups(ctx context.Context, tenant string) ([]identity.Group, error) {
	m, err := s.Moment(ctx)
	if err != nil {
		return nil, err
	}
	defer m.Rollback()
	return groups(func(f func(db.Scanner) error, query string, args ...any) error {
		return db.Each(ctx, m, f, query, args...)
	}, tenant, "")
}

// groups reads the groups of a tenant, or one of them, with their members.
func groups(read func(func(db.Scanner) error, string, ...any) error, tenant, only string) ([]identity.Group, error) {
	found := map[string]*identity.Group{}
	filter, args := ``, []any{tenant}
	if only != "" {
		filter, args = ` AND name = ?`, append(args, only)
	}
	err := read(func(row db.Scanner) error {
		g := identity.Group{Members: []identity.Member{}}
		var created int64
		err := row.Scan(&g.Name, &g.About, &created, &g.CreatedBy)
		g.CreatedAt = db.FromMicros(created)
		found[g.Name] = &g
		return err
	}, `SELECT name, about, created_at, created_by FROM user_groups WHERE tenant = ?`+filter, args...)
	if err != nil {
		return nil, err
	}
	err = read(func(row db.Scanner) error {
		var name, user, source string
		if err := row.Scan(&name, &user, &source); err != nil {
			return err
		}
		g := found[name]
		if g == nil {
			g = &identity.Group{Name: name, Members: []identity.Member{}}
			found[name] = g
		}
		if n := len(g.Members); n == 0 || g.Members[n-1].User != user {
			g.Members = append(g.Members, identity.Member{User: user})
		}
		member := &g.Members[len(g.Members)-1]
		if source == "" {
			member.Here = true
		} else {
			member.Sources = append(member.Sources, source)
		}
		return nil
	}, `SELECT group_name, user_name, source FROM memberships WHERE tenant = ?`+strings.Replace(filter, "name", "group_name", 1)+`
		ORDER BY group_name, user_name, source`, args...)
	list := make([]identity.Group, 0, len(found))
	for _, name := range slices.Sorted(maps.Keys(found)) {
		list = append(list, *found[name])
	}
	return list, err
}

func group(t *db.Tx, tenant, name string) (g identity.Group, found bool, err error) {
	all, err := groups(t.Each, tenant, name)
	if err != nil || len(all) == 0 {
		return identity.Group{Name: name, Members: []identity.Member{}}, false, err
	}
	return all[0], !all[0].CreatedAt.IsZero(), nil
}

func (s *Store) SaveGroup(ctx context.Context, who app.Actor, c identity.GroupChange, at time.Time) (identity.Group, error) {
	var after identity.Group
	err := s.Write(ctx, func(t *db.Tx) error {
		before, found, err := group(t, who.Tenant, c.Name)
		if err != nil {
			return err
		}
		if err := saveGroup(t, who, c, before, found, at); err != nil {
			return err
		}
		if after, _, err = group(t, who.Tenant, c.Name); err != nil {
			return err
		}
		was := any(nil)
		if found {
			was = groupFacts(before)
		}
		return t.AddAudit(at, who, "group.save", c.Name, was, groupFacts(after))
	})
	return after, err
}

func saveGroup(t *db.Tx, who app.Actor, c identity.GroupChange, before identity.Group, found bool, at time.Time) error {
	wanted := map[string]bool{}
	if c.Members == nil {
		for _, m := range before.Members {
			wanted[m.User] = m.Here
		}
	} else {
		for _, user := range *c.Members {
			wanted[user] = true
		}
	}
	for _, user := range c.Add {
		wanted[user] = true
	}
	for _, user := range c.Remove {
		wanted[user] = false
	}
	about := before.About
	if c.About != nil {
		about = *c.About
	}
	if !found {
		if err := t.Exec(`INSERT INTO user_groups (tenant, name, about, created_at, created_by) VALUES (?, ?, ?, ?, ?)`,
			who.Tenant, c.Name, about, db.Micros(at), who.Name()); err != nil {
			return err
		}
	} else if err := t.Exec(`UPDATE user_groups SET about = ? WHERE tenant = ? AND name = ?`, about, who.Tenant, c.Name); err != nil {
		return err
	}
	if err := t.Exec(`DELETE FROM memberships WHERE tenant = ? AND group_name = ? AND source = ''`, who.Tenant, c.Name); err != nil {
		return err
	}
	for _, user := range slices.Sorted(maps.Keys(wanted)) {
		if !wanted[user] {
			continue
		}
		if err := CheckUser(t, who.Tenant, user, "members"); err != nil {
			return err
		}
		if err := join(t, who.Tenant, user, c.Name, ""); err != nil {
			return err
		}
	}
	return nil
}

// CheckUser refuses the name of a user that the tenant does not have.
func CheckUser(t *db.Tx, tenant, user, field string) error {
	var one int64
	err := t.Row(`SELECT 1 FROM users WHERE tenant = ? AND name = ?`, tenant, user).Scan(&one)
	if db.IsNoRows(err) {
		return &app.Error{Code: app.EInvalid, Field: field, Message: fmt.Sprintf("User %q doesn't exist.", user), Hint: "Create the user first, or check the spelling of the name."}
	}
	return err
}

func join(t *db.Tx, tenant, user, group, source string) error {
	return t.Exec(`INSERT INTO memberships (tenant, user_name, group_name, source) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING`, tenant, user, group, source)
}

func groupFacts(g identity.Group) map[string]any {
	members := []string{}
	for _, m := range g.Members {
		if m.Here {
			members = append(members, m.User)
		}
	}
	return map[string]any{"about": g.About, "members": members}
}

func (s *Store) DeleteGroup(ctx context.Context, who app.Actor, name string, at time.Time) error {
	return s.Write(ctx, func(t *db.Tx) error {
		g, found, err := group(t, who.Tenant, name)
		if err != nil {
			return err
		}
		if !found {
			e := app.Errorf(app.ENotFound, "Group %q doesn't exist in this tenant.", name)
			if len(g.Members) > 0 {
				e.Hint = "Its members come from your identity provider; the group disappears when they're removed there."
			}
			return e
		}
		if err := groupOwnsNothing(t, who.Tenant, name); err != nil {
			return err
		}
		// A new group of the same name must not get them.
		for _, drop := range []string{`DELETE FROM cluster_shares WHERE tenant = ? AND in_group = ?`, `DELETE FROM user_groups WHERE tenant = ? AND name = ?`} {
			if err := t.Exec(drop, who.Tenant, name); err != nil {
				return err
			}
		}
		if err := t.Exec(`DELETE FROM memberships WHERE tenant = ? AND group_name = ? AND source = ''`, who.Tenant, name); err != nil {
			return err
		}
		return t.AddAudit(at, who, "group.delete", name, groupFacts(g), nil)
	})
}

// SetGroupsFrom sets in which groups one source says that a user is; those that people made stay. Names that cannot be groups
// are left out. It writes nothing where nothing changes.
func SetGroupsFrom(t *db.Tx, tenant, user, source string, groups []string, at time.Time) error {
	groups = identity.ExternalGroups(groups)
	before := []string{}
	err := t.Each(func(row db.Scanner) error {
		var g string
		err := row.Scan(&g)
		before = append(before, g)
		return err
	}, `SELECT group_name FROM memberships WHERE tenant = ? AND user_name = ? AND source = ? ORDER BY group_name`, tenant, user, source)
	if err != nil || slices.Equal(before, groups) {
		return err
	}
	if err := t.Exec(`DELETE FROM memberships WHERE tenant = ? AND user_name = ? AND source = ?`, tenant, user, source); err != nil {
		return err
	}
	for _, g := range groups {
		if err := join(t, tenant, user, g, source); err != nil {
			return err
		}
	}
	who := app.Actor{Tenant: tenant, User: user, Via: app.ViaServer}
	return t.AddAudit(at, who, "user.groups", user, map[string]any{"source": source, "groups": before}, map[string]any{"source": source, "groups": groups})
}

// groupOwnsNothing refuses to delete a group that owns clusters: its members would lose them.
func groupOwnsNothing(t *db.Tx, tenant, group string) error {
	var name string
	err := t.Row(`SELECT name FROM clusters WHERE tenant = ? AND owner_group = ? AND deleted_at = 0 ORDER BY number LIMIT 1`, tenant, group).Scan(&name)
	if db.IsNoRows(err) {
		return nil
	}
	if err == nil {
		err = &app.Error{Code: app.EConflict, Reason: "owns_clusters", Message: fmt.Sprintf("Group %s owns cluster %s.", group, name), Hint: "Transfer or delete the group's clusters first."}
	}
	return err
}
