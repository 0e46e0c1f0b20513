package resource

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"muster/app"
	"muster/app/humanize"
	"muster/app/resource"
	"muster/app/store/db"
	"muster/app/store/identity"
)

// versioned is how the audit and people call a version.
func versioned(id resource.ID, number int64) string { return fmt.Sprintf("%s@%d", id, number) }

func (s *Store) AddResourceVersion(ctx context.Context, who app.Actor, p resource.Push, b resource.Blob, name string, at time.Time) (v resource.Version, added bool, err error) {
	source, err := json.Marshal(p.Source)
	if err != nil {
		return v, false, fmt.Errorf("store: resource: %w", err)
	}
	err = s.Write(ctx, func(t *db.Tx) error {
		v, added = resource.Version{}, false
		kept, err := t.Count(`UPDATE resource_blobs SET state = 'here', at = ?, idle_at = 0 WHERE tenant = ? AND hash = ? AND name = ? AND state IN ('coming', 'here')`,
			db.Micros(at), who.Tenant, b.Hash, name)
		if err != nil {
			return err
		}
		if kept == 0 {
			return &app.Error{Code: app.ETransient, Message: "The upload took so long that its content was removed as unused.", Hint: "Upload again."}
		}
		row, err := resourceFor(t, who.Tenant, p, at)
		if err != nil {
			return err
		}
		before, _, _, err := scanVersion(t.Row(`SELECT `+versionColumns+` FROM resource_versions v WHERE v.resource = ? AND v.deleted_at = 0 ORDER BY v.number DESC LIMIT 1`, row))
		if err != nil && !db.IsNoRows(err) {
			return err
		}
		if before.Hash != b.Hash || p.Source.Trusted && !before.Source.Trusted { // the same content is no new version, unless it becomes trusted by that
			added = true
			var number int64
			if err := t.Row(`UPDATE resource_items SET latest = latest + 1, format = ?, mode = ? WHERE id = ? RETURNING latest`, p.Format, p.Mode, row).Scan(&number); err != nil {
				return err
			}
			if err := t.Exec(`INSERT INTO resource_versions (resource, number, tenant, hash, size, live, slated, source, note, created_by, created_at, deleted_at)
				VALUES (?, ?, ?, ?, ?, 0, 0, ?, ?, ?, ?, 0)`, row, number, who.Tenant, b.Hash, b.Size, string(source), p.Note, who.Name(), db.Micros(at)); err != nil {
				return err
			}
			if err := t.AddAudit(at, who, "resource.push", versioned(p.ID, number), nil,
				map[string]any{"sha256": b.Hash, "size": b.Size, "source": p.Source}); err != nil {
				return err
			}
		}
		read := func() error {
			v, _, _, err = scanVersion(t.Row(`SELECT `+versionColumns+` FROM resource_versions v WHERE v.resource = ? AND v.deleted_at = 0 ORDER BY v.number DESC LIMIT 1`, row))
			return err
		}
		if err := read(); err != nil || !p.Stage {
			return err
		}
		if err := stage(t, who, p.ID, v.Number, at); err != nil {
			return err
		}
		return read()
	})
	return v, added, err
}

// resourceFor finds the resource of a push, or makes it.
func resourceFor(t *db.Tx, tenant string, p resource.Push, at time.Time) (row int64, err error) {
	if row, err = resourceRow(t, tenant, p.ID); app.CodeOf(err) != app.ENotFound {
		return row, err
	}
	if err := identity.TenantOpen(t, tenant); err != nil {
		return 0, err
	}
	var n int
	if err := t.Row(`SELECT count(*) FROM resource_items WHERE tenant = ?`, tenant).Scan(&n); err != nil {
		return 0, err
	}
	if n >= resource.MaxResources {
		return 0, &app.Error{Code: app.EConflict, Message: fmt.Sprintf("A tenant can have at most %d resources.", resource.MaxResources), Hint: "Push a new version of an existing resource."}
	}
	err = t.Row(`INSERT INTO resource_items (tenant, family, member, kind, name, format, mode, latest, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, 0, ?)
		RETURNING id`,
		tenant, p.Family, p.Member, p.Type, p.Name, p.Format, p.Mode, db.Micros(at)).Scan(&row)
	return row, err
}

func (s *Store) StageResource(ctx context.Context, who app.Actor, id resource.ID, number int64, at time.Time) error {
	return s.Write(ctx, func(t *db.Tx) error { return stage(t, who, id, number, at) })
}

func stage(t *db.Tx, who app.Actor, id resource.ID, number int64, at time.Time) error {
	row, v, live, slated, err := versionRow(t, who.Tenant, id, number)
	if err != nil || slated {
		return err
	}
	if err := t.Exec(`UPDATE resource_versions SET slated = 0 WHERE resource = ? AND slated = 1`, row); err != nil {
		return err
	}
	if err := t.Exec(`UPDATE resource_versions SET slated = 1 WHERE resource = ? AND number = ?`, row, number); err != nil {
		return err
	}
	return t.AddAudit(at, who, "resource.stage", versioned(id, number), v.State, resource.StateOf(live, true))
}

func (s *Store) RecallResource(ctx context.Context, who app.Actor, id resource.ID, number int64, at time.Time) error {
	return s.Write(ctx, func(t *db.Tx) error {
		row, v, live, slated, err := versionRow(t, who.Tenant, id, number)
		if err != nil || !slated {
			return err
		}
		if err := t.Exec(`UPDATE resource_versions SET slated = 0 WHERE resource = ? AND number = ?`, row, number); err != nil {
			return err
		}
		return t.AddAudit(at, who, "resource.recall", versioned(id, number), v.State, resource.StateOf(live, false))
	})
}

func (s *Store) SyncResources(ctx context.Context, who app.Actor, f resource.Filter, dry bool, at time.Time) (out resource.Sync, err error) {
	where, args := whichResources(who.Tenant, f)
	query := `SELECT r.id, r.family, r.member, r.kind, r.name, CAST(sum(v.number * v.live) AS BIGINT), CAST(sum(v.number * v.slated) AS BIGINT)
		FROM resource_items r JOIN resource_versions v ON v.resource = r.id AND v.live + v.slated > 0
		WHERE ` + where + ` GROUP BY r.id, r.family, r.member, r.kind, r.name HAVING sum(v.number * v.live) <> sum(v.number * v.slated)
		ORDER BY r.family, r.member, r.kind, r.name`
	var rows []int64
	read := func(row db.Scanner) error {
		var c resource.VersionSwitch
		var id int64
		err := row.Scan(&id, &c.Family, &c.Member, &c.Type, &c.Name, &c.From, &c.To)
		out.Changes, rows = append(out.Changes, c), append(rows, id)
		return err
	}
	if dry {
		out.Changes = []resource.VersionSwitch{}
		err = s.Each(ctx, read, query, args...)
		return out, err
	}
	err = s.Write(ctx, func(t *db.Tx) error {
		out, rows = resource.Sync{Changes: []resource.VersionSwitch{}}, nil
		if err := t.Each(read, query, args...); err != nil || len(rows) == 0 {
			return err
		}
		// Out of use first: of a resource, one version is in use at most.
		for _, set := range []string{`live = 0 WHERE live = 1 AND slated = 0`, `live = 1 WHERE live = 0 AND slated = 1`} {
			for _, id := range rows {
				if err := t.Exec(`UPDATE resource_versions SET `+set+` AND resource = ?`, id); err != nil {
					return err
				}
			}
		}
		before, after := map[string]int64{}, map[string]int64{}
		var names []string
		for _, c := range out.Changes {
			before[c.String()], after[c.String()] = c.From, c.To
			names = append(names, c.ID.String())
		}
		if err := t.AddAudit(at, who, "resource.sync", fmt.Sprintf("%d resources", len(rows)), before, after); err != nil {
			return err
		}
		return t.Notice(app.Notice{At: at, Tenant: who.Tenant, Kind: app.NoticeResource, Title: fmt.Sprintf("New versions of %s are active", humanize.Count(len(rows), "resource")),
			Text: who.Name() + " has synced " + clipped(strings.Join(names, ", "), 500) + ". Existing clusters get the new versions when upgraded.", About: app.Subject{Kind: app.SubjectResources}})
	})
	return out, err
}

func clipped(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}

func (s *Store) DeleteResourceVersion(ctx context.Context, who app.Actor, id resource.ID, number int64, at time.Time) error {
	return s.Write(ctx, func(t *db.Tx) error {
		row, v, live, slated, err := versionRow(t, who.Tenant, id, number)
		if err != nil {
			return err
		}
		if live || slated {
			e := &app.Error{Code: app.EConflict, Reason: "in_use", Message: fmt.Sprintf("%s is %s; only inactive versions can be deleted.", versioned(id, number), v.State),
				Hint: "Recall it first, then sync if it's active."}
			if v.State == resource.StateRecalled {
				e.Hint = "Sync first to deactivate it."
			}
			return e
		}
		if err := t.Exec(`UPDATE resource_versions SET deleted_at = ? WHERE resource = ? AND number = ?`, db.Micros(at), row, number); err != nil {
			return err
		}
		return t.AddAudit(at, who, "resource.delete", versioned(id, number), map[string]any{"sha256": v.Hash, "size": v.Size}, nil)
	})
}

// DropOf takes all versions of a tenant that is deleted out of use; their contents are swept.
func DropOf(t *db.Tx, tenant string) error {
	if err := t.Exec(`UPDATE resource_versions SET live = 0, slated = 0, deleted_at = created_at WHERE tenant = ? AND deleted_at = 0`, tenant); err != nil {
		return err
	}
	return t.Exec(`DELETE FROM resource_caches WHERE tenant = ?`, tenant)
}
