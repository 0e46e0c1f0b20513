package catalog

import (
	"context"
	"fmt"
	"slices"

	"muster/app"
	"muster/app/catalog"
	"muster/app/humanize"
	"muster/app/store/db"
	apptemplate "muster/app/template"
)

const entryColumns = `kind, name, number, revision, saved_at, saved_by, note, text, gone, trusted, coopr`

func scanEntry(row db.Scanner) (catalog.Revision, error) {
	var r catalog.Revision
	var at int64
	var gone, trusted, coopr int
	err := row.Scan(&r.Kind, &r.Name, &r.Number, &r.Revision, &at, &r.By, &r.Note, &r.Text, &gone, &trusted, &coopr)
	r.At, r.Deleted, r.Trusted, r.Coopr = db.FromMicros(at), gone != 0, trusted != 0, coopr != 0
	return r, err
}

func (s *Store) TenantCatalogRevision(ctx context.Context, tenant string) (revision int64, err error) {
	err = s.Row(ctx, `SELECT revision FROM catalog_heads WHERE tenant = ?`, tenant).Scan(&revision)
	if db.IsNoRows(err) {
		return 0, nil
	}
	return revision, db.Wrapped(err)
}

func (s *Store) CatalogHead(ctx context.Context, tenant string) (revision int64, e apptemplate.Exchange, err error) {
	err = s.Row(ctx, `SELECT coalesce((SELECT revision FROM catalog_heads WHERE tenant = ?), 0),
		coalesce((SELECT currency FROM tenants WHERE name = ?), ''), coalesce((SELECT exchange_rate FROM tenants WHERE name = ?), 0)`,
		tenant, tenant, tenant).Scan(&revision, &e.Currency, &e.Rate)
	return revision, e, db.Wrapped(err)
}

// TenantCatalog implements catalog.TenantCatalogStore. The revision is that of the newest entry that was read, so that entries which are saved
// meanwhile are not taken for read.
func (s *Store) TenantCatalog(ctx context.Context, tenant string) (list []catalog.Revision, revision int64, err error) {
	list = []catalog.Revision{}
	err = s.Each(ctx, func(row db.Scanner) error {
		r, err := scanEntry(row)
		revision = max(revision, r.Revision)
		if !r.Deleted {
			list = append(list, r)
		}
		return err
	}, `SELECT `+entryColumns+` FROM catalog_entries WHERE tenant = ? AND latest = 1 ORDER BY kind, name`, tenant)
	return list, revision, err
}

func (s *Store) TenantProviders(ctx context.Context) (map[string][]catalog.Revision, error) {
	by := map[string][]catalog.Revision{}
	err := s.Each(ctx, func(row db.Scanner) error {
		var tenant string
		r, err := scanEntry(withFirst{row, &tenant})
		by[tenant] = append(by[tenant], r)
		return err
	}, `SELECT tenant, `+entryColumns+` FROM catalog_entries WHERE latest = 1 AND kind = 'provider' AND gone = 0 ORDER BY tenant, name`)
	return by, err
}

// withFirst scans one more column before the others.
type withFirst struct {
	db.Scanner
	first any
}

func (w withFirst) Scan(dest ...any) error {
	return w.Scanner.Scan(append([]any{w.first}, dest...)...)
}

func (s *Store) TenantCatalogHistory(ctx context.Context, tenant string, k apptemplate.CatalogKey, limit int) ([]catalog.Revision, error) {
	list := []catalog.Revision{}
	err := s.Each(ctx, func(row db.Scanner) error {
		r, err := scanEntry(row)
		list = append(list, r)
		return err
	}, `SELECT `+entryColumns+` FROM catalog_entries WHERE tenant = ? AND kind = ? AND name = ? ORDER BY number DESC LIMIT ?`, tenant, k.Kind, k.Name, limit)
	return list, err
}

func (s *Store) TenantCatalogVersion(ctx context.Context, tenant string, k apptemplate.CatalogKey, number int) (catalog.Revision, error) {
	r, err := scanEntry(s.Row(ctx, `SELECT `+entryColumns+` FROM catalog_entries WHERE tenant = ? AND kind = ? AND name = ? AND number = ?`,
		tenant, k.Kind, k.Name, number))
	if db.IsNoRows(err) {
		return r, &app.Error{Code: app.ENotFound, Field: "number", Message: fmt.Sprintf("%[2]s %[3]s has no version %[1]d in your tenant's catalog.", number, humanize.Upper(k.Kind), k.Name)}
	}
	return r, db.Wrapped(err)
}

func (s *Store) SaveTenantCatalog(ctx context.Context, who app.Actor, c catalog.TenantCatalogSave) (revision int64, err error) {
	err = s.Write(ctx, func(t *db.Tx) error {
		latest := map[apptemplate.CatalogKey]catalog.Revision{}
		head := int64(0)
		if err := t.Each(func(row db.Scanner) error {
			r, err := scanEntry(row)
			r.Text = ""
			latest[r.CatalogKey], head = r, max(head, r.Revision)
			return err
		}, `SELECT `+entryColumns+` FROM catalog_entries WHERE tenant = ? AND latest = 1`, who.Tenant); err != nil {
			return err
		}
		for _, e := range c.Entries {
			if was := latest[e.CatalogKey]; c.AsOf >= 0 && was.Revision > c.AsOf {
				return changedMeanwhile(was)
			}
		}
		if head != c.Revision {
			return &app.Error{Code: app.EConflict, Reason: "catalog_moved", Message: "Someone else changed the catalog at the same time.", Hint: "Try again."}
		}
		for _, name := range c.Accounts {
			if err := freeAccount(t, who.Tenant, name); err != nil {
				return err
			}
		}
		if err := t.Row(`INSERT INTO catalog_heads (tenant, revision) VALUES ('', 1)
			ON CONFLICT (tenant) DO UPDATE SET revision = catalog_heads.revision + 1 RETURNING revision`).Scan(&revision); err != nil {
			return err
		}
		if err := t.Exec(`INSERT INTO catalog_heads (tenant, revision) VALUES (?, ?) ON CONFLICT (tenant) DO UPDATE SET revision = excluded.revision`,
			who.Tenant, revision); err != nil {
			return err
		}
		for _, e := range c.Entries {
			was := latest[e.CatalogKey]
			e.Number, e.Revision, e.At, e.By = was.Number+1, revision, c.At, who.Name()
			if err := saveEntry(t, who, was, e); err != nil {
				return err
			}
		}
		if err := recordTemplates(t, who.Tenant, c.Templates); err != nil {
			return err
		}
		// What pools make may be another thing from now on.
		return t.Exec(`UPDATE pools SET due_at = ?, version = version + 1 WHERE tenant = ? AND ended_at = 0`, db.Micros(c.At), who.Tenant)
	})
	return revision, err
}

func changedMeanwhile(was catalog.Revision) error {
	did := "changed"
	if was.Deleted {
		did = "removed"
	}
	return &app.Error{Code: app.EConflict, Reason: "catalog_changed", Field: "as_of",
		Message: fmt.Sprintf("%s %s has been %s by %s since you opened it.", humanize.Upper(was.Kind), was.Name, did, was.By), Hint: "Reload the entry, then make your change."}
}

func saveEntry(t *db.Tx, who app.Actor, was, e catalog.Revision) error {
	if was.Number > 0 {
		if err := t.Exec(`UPDATE catalog_entries SET latest = 0 WHERE tenant = ? AND kind = ? AND name = ? AND number = ?`, who.Tenant, e.Kind, e.Name, was.Number); err != nil {
			return err
		}
		if old := e.Number - catalog.KeptCatalogTexts; old > 0 {
			if err := t.Exec(`UPDATE catalog_entries SET text = '' WHERE tenant = ? AND kind = ? AND name = ? AND number = ?`, who.Tenant, e.Kind, e.Name, old); err != nil {
				return err
			}
		}
	}
	if err := t.Exec(`INSERT INTO catalog_entries (tenant, kind, name, number, revision, saved_at, saved_by, note, text, gone, trusted, coopr, latest)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1)`, who.Tenant, e.Kind, e.Name, e.Number, e.Revision, db.Micros(e.At), e.By, e.Note, e.Text,
		db.Flag(e.Deleted), db.Flag(e.Trusted), db.Flag(e.Coopr)); err != nil {
		return err
	}
	act := "catalog.save"
	var before, after any
	if was.Number > 0 && !was.Deleted {
		before = map[string]any{"version": was.Number}
	}
	if e.Deleted {
		act = "catalog.remove"
	} else {
		after = map[string]any{"version": e.Number, "note": e.Note}
	}
	return t.AddAudit(e.At, who, act, e.Kind+"/"+e.Name, before, after)
}

// freeAccount refuses where something of the tenant is at a provider.
func freeAccount(t *db.Tx, tenant, provider string) error {
	u, err := providerUse(t.Each, tenant, provider)
	if err != nil || u.None() {
		return err
	}
	return u.Refusal(provider)
}

func (s *Store) ProviderUse(ctx context.Context, tenant, provider string) (catalog.ProviderUse, error) {
	return providerUse(func(f func(db.Scanner) error, query string, args ...any) error { return s.Each(ctx, f, query, args...) }, tenant, provider)
}

const usesNamed = 20

func providerUse(each func(f func(db.Scanner) error, query string, args ...any) error, tenant, provider string) (u catalog.ProviderUse, err error) {
	name := func(list *[]string) func(db.Scanner) error {
		return func(row db.Scanner) error {
			var n string
			err := row.Scan(&n)
			if len(*list) < usesNamed {
				*list = append(*list, n)
			} else {
				u.More++
			}
			return err
		}
	}
	count := func(n *int) func(db.Scanner) error { return func(row db.Scanner) error { return row.Scan(n) } }
	for _, q := range []struct {
		f     func(db.Scanner) error
		query string
		args  []any
	}{
		{name(&u.Clusters), `SELECT name FROM clusters WHERE tenant = ? AND deleted_at = 0 AND provider = ? ORDER BY number`, []any{tenant, provider}},
		{name(&u.Pools), `SELECT name FROM pools WHERE tenant = ? AND ended_at = 0 AND provider = ? ORDER BY name`, []any{tenant, provider}},
		{count(&u.Orphans), `SELECT count(*) FROM orphans WHERE provider = ? AND gone_at = 0`, []any{apptemplate.AccountName(tenant, provider)}},
		{count(&u.Unproven), `SELECT count(*) FROM clusters WHERE tenant = ? AND deleted_at > 0 AND deletion_verified_at = 0
			AND provider = ?`, []any{tenant, provider}},
	} {
		if err := each(q.f, q.query, q.args...); err != nil {
			return u, err
		}
	}
	return u, nil
}

func (s *Store) CatalogUse(ctx context.Context, tenant string) (catalog.Use, error) {
	u := catalog.Use{Templates: map[string]int{}, Providers: map[string]int{}}
	for column, of := range map[string]map[string]int{"template": u.Templates, "provider": u.Providers} {
		if err := s.Each(ctx, func(row db.Scanner) error {
			var name string
			var n int
			err := row.Scan(&name, &n)
			of[name] = n
			return err
		}, useBy(column), tenant, tenant, tenant, catalog.MaxCounted); err != nil {
			return u, err
		}
	}
	return u, nil
}

// useBy counts the live clusters of each template or provider up to a limit: an index finds the next name, and the clusters of each.
func useBy(column string) string {
	const live = ` FROM clusters c WHERE c.tenant = ? AND c.deleted_at = 0`
	return `WITH RECURSIVE k(name) AS (SELECT min(c.` + column + `)` + live + ` UNION ALL
			SELECT (SELECT min(c.` + column + `)` + live + ` AND c.` + column + ` > k.name) FROM k WHERE k.name IS NOT NULL)
		SELECT k.name, (SELECT count(*) FROM (SELECT 1` + live + ` AND c.` + column + ` = k.name LIMIT ?) AS counted) FROM k WHERE k.name IS NOT NULL`
}

type lastTemplate struct {
	number int
	hash   string
}

const lastTemplates = `SELECT v.name, v.number, v.hash FROM catalog_templates v WHERE v.tenant = ?
	AND v.number = (SELECT max(w.number) FROM catalog_templates w WHERE w.tenant = v.tenant AND w.name = v.name)`

// RecordTemplates implements catalog.VersionStore. Mostly nothing has changed, which takes no writing.
func (s *Store) RecordTemplates(ctx context.Context, tenant string, versions []apptemplate.CatalogVersion) error {
	had := map[string]string{}
	err := s.Each(ctx, func(row db.Scanner) error {
		var name string
		var l lastTemplate
		err := row.Scan(&name, &l.number, &l.hash)
		had[name] = l.hash
		return err
	}, lastTemplates, tenant)
	if err != nil || !slices.ContainsFunc(versions, func(v apptemplate.CatalogVersion) bool { return had[v.Name] != v.Hash }) {
		return err
	}
	return s.Write(ctx, func(t *db.Tx) error { return recordTemplates(t, tenant, versions) })
}

func recordTemplates(t *db.Tx, tenant string, versions []apptemplate.CatalogVersion) error {
	if len(versions) == 0 {
		return nil
	}
	had := map[string]lastTemplate{}
	if err := t.Each(func(row db.Scanner) error {
		var name string
		var l lastTemplate
		err := row.Scan(&name, &l.number, &l.hash)
		had[name] = l
		return err
	}, lastTemplates, tenant); err != nil {
		return err
	}
	for _, v := range versions {
		l := had[v.Name]
		if l.hash == v.Hash {
			continue
		}
		if err := t.Exec(`INSERT INTO catalog_templates (tenant, name, number, hash, text, published_at, published_by) VALUES (?, ?, ?, ?, ?, ?, ?)`,
			tenant, v.Name, l.number+1, v.Hash, v.Text, db.Micros(v.At), v.By); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) TemplateHistory(ctx context.Context, tenant, name string, text bool) ([]apptemplate.CatalogVersion, error) {
	column := `''`
	if text {
		column = `text`
	}
	list := []apptemplate.CatalogVersion{}
	err := s.Each(ctx, func(row db.Scanner) error {
		v := apptemplate.CatalogVersion{Kind: apptemplate.KindTemplate, Name: name}
		var at int64
		err := row.Scan(&v.Number, &v.Hash, &v.Text, &at, &v.By)
		v.At = db.FromMicros(at)
		list = append(list, v)
		return err
	}, `SELECT place, hash, text, published_at, published_by FROM (
			SELECT row_number() OVER (ORDER BY published_at, own, number) AS place, hash, text, published_at, published_by FROM (
				SELECT 0 AS own, number, hash, `+column+` AS text, published_at, published_by FROM catalog_versions WHERE kind = 'template' AND name = ?
				UNION ALL
				SELECT 1 AS own, number, hash, `+column+` AS text, published_at, published_by FROM catalog_templates WHERE tenant = ? AND name = ?
			) AS both_kinds
		) AS numbered ORDER BY place DESC LIMIT 1000`, name, tenant, name)
	return list, err
}

// SameProvider refuses a cluster whose provider's entry has changed since it was worked out: its machines would be made elsewhere.
func SameProvider(t *db.Tx, tenant, provider string, asOf int64) error {
	var revision int64
	err := t.Row(`SELECT revision FROM catalog_entries WHERE latest = 1 AND kind = 'provider' AND tenant = ? AND name = ?`, tenant, provider).Scan(&revision)
	if db.IsNoRows(err) || err == nil && revision <= asOf {
		return nil
	}
	if err != nil {
		return db.Wrapped(err)
	}
	return &app.Error{Code: app.EConflict, Reason: "plan_changed", Message: fmt.Sprintf("Provider %s has changed in the catalog since the preview.", provider),
		Hint: "Preview again, then submit."}
}

// DropOf drops a tenant's own entries. What manages accounts notices by the revision of all.
func DropOf(t *db.Tx, tenant string) error {
	for _, table := range []string{"catalog_entries", "catalog_templates", "catalog_heads"} {
		if err := t.Exec(`DELETE FROM `+table+` WHERE tenant = ?`, tenant); err != nil {
			return err
		}
	}
	return t.Exec(`UPDATE catalog_heads SET revision = revision + 1 WHERE tenant = ''`)
}
