package resource

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"muster/app"
	"muster/app/resource"
	"muster/app/store/db"
	"muster/app/template"
)

// whichResources is how a filter's fields stand in a statement over resources r.
func whichResources(tenant string, f resource.Filter) (where string, args []any) {
	where, args = `r.tenant = ?`, []any{tenant}
	for _, c := range []struct{ column, value string }{{"family", string(f.Family)}, {"member", f.Member}, {"kind", f.Type}} {
		if c.value != "" {
			where, args = where+` AND r.`+c.column+` = ?`, append(args, c.value)
		}
	}
	if f.Search != "" {
		where, args = where+` AND lower(r.name) LIKE ? ESCAPE '!'`, append(args, "%"+db.LikeEscaper.Replace(strings.ToLower(f.Search))+"%")
	}
	return where, args
}

func (s *Store) ResourceInfos(ctx context.Context, tenant string, f resource.Filter) ([]resource.Info, error) {
	where, args := whichResources(tenant, f)
	if f.After != "" {
		id, err := resource.ParseResourceID(f.After)
		if err != nil {
			return nil, err
		}
		where += ` AND (r.family > ? OR r.family = ? AND (r.member > ? OR r.member = ? AND (r.kind > ? OR r.kind = ? AND r.name > ?)))`
		args = append(args, id.Family, id.Family, id.Member, id.Member, id.Type, id.Type, id.Name)
	}
	list := []resource.Info{}
	err := s.Each(ctx, func(row db.Scanner) error {
		r := resource.Info{Tenant: tenant}
		var made, slated int64
		err := row.Scan(&r.Family, &r.Member, &r.Type, &r.Name, &r.Format, &r.Mode, &r.Latest, &made, &r.Active, &slated, &r.Size)
		r.CreatedAt, r.Recall = db.FromMicros(made), slated == 0 && r.Active != 0
		if slated != r.Active {
			r.Staged = slated
		}
		list = append(list, r)
		return err
	}, `SELECT r.family, r.member, r.kind, r.name, r.format, r.mode, r.latest, r.created_at,
		CAST(coalesce(sum(v.number * v.live), 0) AS BIGINT), CAST(coalesce(sum(v.number * v.slated), 0) AS BIGINT), CAST(coalesce(sum(v.size), 0) AS BIGINT)
		FROM resource_items r JOIN resource_versions v ON v.resource = r.id AND v.deleted_at = 0
		WHERE `+where+` GROUP BY r.id, r.family, r.member, r.kind, r.name, r.format, r.mode, r.latest, r.created_at
		ORDER BY r.family, r.member, r.kind, r.name LIMIT ?`, append(args, min(max(f.Limit, 1), 1000))...)
	return list, err
}

// maxVersions is how many versions of a resource are shown.
const maxVersions = 500

func (s *Store) ResourceInfo(ctx context.Context, tenant string, id resource.ID) (resource.Info, error) {
	m, err := s.Moment(ctx)
	if err != nil {
		return resource.Info{}, err
	}
	defer func() { _ = m.Rollback() }()
	r := resource.Info{ID: id, Tenant: tenant}
	var row, made int64
	err = m.QueryRowContext(ctx, `SELECT id, format, mode, latest, created_at FROM resource_items WHERE tenant = ? AND family = ? AND member = ? AND kind = ? AND name = ?`,
		tenant, id.Family, id.Member, id.Type, id.Name).Scan(&row, &r.Format, &r.Mode, &r.Latest, &made)
	if db.IsNoRows(err) {
		return r, errNoResource(id)
	}
	if err != nil {
		return r, fmt.Errorf("store: resource: %w", err)
	}
	r.CreatedAt = db.FromMicros(made)
	places := map[string][]int{}
	err = db.Each(ctx, m, func(row db.Scanner) error {
		v, live, slated, err := scanVersion(row)
		if err != nil {
			return err
		}
		if v.DeletedAt.IsZero() {
			r.Size += v.Size
		}
		if live {
			r.Active = v.Number
		}
		if slated && !live {
			r.Staged = v.Number
		}
		r.Recall = r.Recall || live && !slated
		places[v.Hash] = append(places[v.Hash], len(r.Versions))
		r.Versions = append(r.Versions, v)
		return nil
	}, `SELECT `+versionColumns+` FROM resource_versions v WHERE v.resource = ? ORDER BY v.number DESC LIMIT ?`, row, maxVersions)
	if err != nil {
		return r, err
	}
	r.Recall = r.Recall && r.Staged == 0
	err = db.Each(ctx, m, func(row db.Scanner) error {
		var hash string
		var n int
		err := row.Scan(&hash, &n)
		for _, i := range places[hash] {
			r.Versions[i].Clusters = n
		}
		return err
	}, `SELECT u.hash, count(*) FROM resource_uses u JOIN clusters c ON c.id = u.cluster AND c.deleted_at = 0
		WHERE u.tenant = ? AND u.standing = 1 AND u.hash IN (SELECT v.hash FROM resource_versions v WHERE v.resource = ?) GROUP BY u.hash`, tenant, row)
	if err != nil {
		return r, err
	}
	err = db.Each(ctx, m, func(row db.Scanner) error {
		var hash string
		var h resource.CachedCopy
		var at int64
		err := row.Scan(&hash, &h.Provisioner, &at)
		h.At = db.FromMicros(at)
		for _, i := range places[hash] {
			r.Versions[i].Held = append(r.Versions[i].Held, h)
		}
		return err
	}, `SELECT k.hash, k.provisioner, k.at FROM resource_caches k
		WHERE k.tenant = ? AND k.hash IN (SELECT v.hash FROM resource_versions v WHERE v.resource = ?) ORDER BY k.hash, k.provisioner LIMIT 10000`, tenant, row)
	return r, err
}

func errNoResource(id resource.ID) error {
	return &app.Error{Code: app.ENotFound, Message: fmt.Sprintf("Resource %s doesn't exist.", id), Hint: "Run muster resource list."}
}

const versionColumns = `v.number, v.hash, v.size, v.live, v.slated, v.source, v.note, v.created_by, v.created_at, v.deleted_at`

func scanVersion(row db.Scanner) (v resource.Version, live, slated bool, err error) {
	var in, next, made, deleted int64
	var source []byte
	err = row.Scan(&v.Number, &v.Hash, &v.Size, &in, &next, &source, &v.Note, &v.By, &made, &deleted)
	if err == nil {
		err = json.Unmarshal(source, &v.Source)
	}
	live, slated = in == 1, next == 1
	v.State, v.At, v.DeletedAt = resource.StateOf(live, slated), db.FromMicros(made), db.FromMicros(deleted)
	return v, live, slated, err
}

// resourceRow finds a resource within a transaction.
func resourceRow(t *db.Tx, tenant string, id resource.ID) (row int64, err error) {
	err = t.Row(`SELECT id FROM resource_items WHERE tenant = ? AND family = ? AND member = ? AND kind = ? AND name = ?`,
		tenant, id.Family, id.Member, id.Type, id.Name).Scan(&row)
	if db.IsNoRows(err) {
		return 0, errNoResource(id)
	}
	return row, err
}

// versionRow finds a version that is not deleted.
func versionRow(t *db.Tx, tenant string, id resource.ID, number int64) (row int64, v resource.Version, live, slated bool, err error) {
	if row, err = resourceRow(t, tenant, id); err != nil {
		return row, v, false, false, err
	}
	v, live, slated, err = scanVersion(t.Row(`SELECT `+versionColumns+` FROM resource_versions v WHERE v.resource = ? AND v.number = ? AND v.deleted_at = 0`, row, number))
	if db.IsNoRows(err) {
		err = resource.NoResourceVersion(id, number)
	}
	return row, v, live, slated, err
}

// PinResources implements resource.ResourceStore. One statement reads all, so that of two resources that a sync put into use together
// no one gets one without the other.
func (s *Store) PinResources(ctx context.Context, tenant string, refs []resource.AutomatorRef) ([]resource.PinnedResource, error) {
	type found struct {
		member string
		ref    template.ResourceRef
		live   bool
	}
	names := make([]string, 0, len(refs))
	numbers := []int64{0}
	for _, r := range refs {
		names = append(names, r.Ref.Name)
		numbers = append(numbers, r.Ref.Version)
	}
	slices.Sort(names)
	slices.Sort(numbers)
	names, numbers = slices.Compact(names), slices.Compact(numbers)
	args := []any{tenant}
	for _, n := range names {
		args = append(args, n)
	}
	for _, n := range numbers {
		args = append(args, n)
	}
	var all []found
	err := s.Each(ctx, func(row db.Scanner) error {
		var f found
		var live int64
		var source []byte
		err := row.Scan(&f.member, &f.ref.Type, &f.ref.Name, &f.ref.Format, &f.ref.Mode, &f.ref.Version, &f.ref.Hash, &f.ref.Size, &live, &source)
		if f.live = live == 1; err == nil && len(source) > 0 {
			var from resource.Source
			err = json.Unmarshal(source, &from)
			f.ref.Trusted = from.Trusted
		}
		all = append(all, f)
		return err
	}, `SELECT r.member, r.kind, r.name, r.format, r.mode, coalesce(v.number, 0), coalesce(v.hash, ''), coalesce(v.size, 0), coalesce(v.live, 0), coalesce(v.source, '')
		FROM resource_items r LEFT JOIN resource_versions v ON v.resource = r.id AND v.deleted_at = 0 AND (v.live = 1 OR v.number IN (?`+strings.Repeat(", ?", len(numbers)-1)+`))
		WHERE r.tenant = ? AND r.family = 'automator' AND r.name IN (?`+strings.Repeat(", ?", len(names)-1)+`)
			AND EXISTS (SELECT 1 FROM resource_versions w WHERE w.resource = r.id AND w.deleted_at = 0)
		ORDER BY r.member, r.kind, r.name, v.number`,
		append(append(args[1+len(names):len(args):len(args)], tenant), args[1:1+len(names)]...)...)
	if err != nil {
		return nil, err
	}
	out := make([]resource.PinnedResource, len(refs))
	for i, want := range refs {
		types := map[string]bool{}
		for _, f := range all {
			if f.member != want.Automator || f.ref.Name != want.Ref.Name || want.Ref.Type != "" && f.ref.Type != want.Ref.Type {
				continue
			}
			types[f.ref.Type] = true
			if f.ref.Hash != "" && (want.Ref.Version == 0 && f.live || want.Ref.Version != 0 && want.Ref.Version == f.ref.Version) {
				out[i].Ref = f.ref
			}
		}
		out[i].Err = pinTrouble(want, types, out[i].Ref.Hash != "")
	}
	return out, nil
}

func pinTrouble(want resource.AutomatorRef, types map[string]bool, found bool) *app.Error {
	name := want.Automator + "/" + want.Ref.String()
	e := &app.Error{Code: app.EInvalid, Reason: "resource", Field: "resources"}
	switch {
	case len(types) == 0:
		e.Message = fmt.Sprintf("your tenant has no resource %s.", name)
		e.Hint = "An admin can push it with muster resource push."
	case len(types) > 1:
		e.Message = fmt.Sprintf("several resources of different types are named %s.", name)
		e.Hint = "Add the type in the catalog, as in archive/" + want.Ref.Name + "."
	case !found && want.Ref.Version > 0:
		e.Message = fmt.Sprintf("%[2]s/%[3]s has no version %[1]d.", want.Ref.Version, want.Automator, want.Ref.Name)
		e.Hint = "Use an existing version, or leave it out to use the active one."
	case !found:
		e.Message = fmt.Sprintf("no version of %s is in use.", name)
		e.Hint = "An admin can activate one with muster resource stage and muster resource sync."
	default:
		return nil
	}
	return e
}
