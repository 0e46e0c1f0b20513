package image

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"muster/app"
	"muster/app/image"
	"muster/app/store/db"
	"muster/app/store/identity"
)

// Store keeps images.
type Store struct{ *db.DB }

// New returns the store of a database.
func New(d *db.DB) *Store { return &Store{d} }

const columns = `i.id, i.tenant, i.image_key, i.template, i.provider, i.zone, i.hardware, i.image, i.services, i.state, i.provider_image, i.cluster,
	i.created_by, i.created_at,
	i.ready_at, i.used_at, i.uses, i.install_time, i.keep_unused, i.unused_at, i.error`

func scan(row db.Scanner, more ...any) (i image.Image, err error) {
	var services []byte
	var created, ready, used, took, keep, unused int64
	err = row.Scan(append([]any{&i.ID, &i.Tenant, &i.Key, &i.Template, &i.Provider, &i.Zone, &i.Hardware, &i.Base, &services, &i.State, &i.Image,
		&i.Cluster, &i.CreatedBy, &created,
		&ready, &used, &i.Uses, &took, &keep, &unused, &i.Error}, more...)...)
	if err != nil {
		return i, err
	}
	i.CreatedAt, i.ReadyAt, i.UsedAt, i.UnusedAt = db.FromMicros(created), db.FromMicros(ready), db.FromMicros(used), db.FromMicros(unused)
	i.InstallTime, i.Keep = time.Duration(took)*time.Microsecond, time.Duration(keep)*time.Microsecond
	if err := json.Unmarshal(services, &i.Services); err != nil {
		return i, fmt.Errorf("store: image %d: %w", i.ID, err)
	}
	return i, nil
}

// Images implements image.Store.
func (s *Store) Images(ctx context.Context, tenant string) (list []image.Image, err error) {
	err = s.Each(ctx, func(row db.Scanner) error {
		i, err := scan(row)
		list = append(list, i)
		return err
	}, `SELECT `+columns+` FROM baked_images i WHERE i.tenant = ? ORDER BY i.id DESC LIMIT ?`, tenant, image.MaxImages)
	return list, err
}

// ReadyImages implements image.FinderStore.
func (s *Store) ReadyImages(ctx context.Context, tenant string) (map[string]string, error) {
	out := map[string]string{}
	err := s.Each(ctx, func(row db.Scanner) error {
		var key, name string
		err := row.Scan(&key, &name)
		out[key] = name
		return err
	}, `SELECT image_key, provider_image FROM baked_images WHERE tenant = ? AND state = 'ready' LIMIT ?`, tenant, image.MaxImages)
	return out, err
}

// AddImages implements image.Store. Failed ones of the same key make room.
func (s *Store) AddImages(ctx context.Context, who app.Actor, list []image.Image, now time.Time) (out []image.Image, err error) {
	err = s.Write(ctx, func(t *db.Tx) error {
		out = nil
		if err := identity.TenantOpen(t, who.Tenant); err != nil {
			return err
		}
		for _, i := range list {
			is, err := add(t, who, i, now)
			if err != nil {
				return err
			}
			out = append(out, is)
		}
		return nil
	})
	return out, err
}

func add(t *db.Tx, who app.Actor, i image.Image, now time.Time) (image.Image, error) {
	const live = `SELECT ` + columns + ` FROM baked_images i WHERE i.tenant = ? AND i.image_key = ? AND i.state IN ('waiting', 'building', 'ready')`
	is, err := scan(t.Row(live, who.Tenant, i.Key))
	if err == nil || !db.IsNoRows(err) {
		return is, db.Wrapped(err)
	}
	if err := t.Exec(`DELETE FROM baked_images WHERE tenant = ? AND image_key = ? AND state = 'failed'`, who.Tenant, i.Key); err != nil {
		return i, err
	}
	var there int
	if err := t.Row(`SELECT count(*) FROM baked_images WHERE tenant = ?`, who.Tenant).Scan(&there); err != nil {
		return i, db.Wrapped(err)
	}
	if there >= image.MaxImages {
		return i, &app.Error{Code: app.EConflict, Message: fmt.Sprintf("You've reached the limit of %d baked images.", image.MaxImages),
			Hint: "Delete images that you don't need."}
	}
	if err := t.Row(`INSERT INTO baked_images (tenant, image_key, template, provider, zone, hardware, image, services, recipe, state, provider_image,
		cluster, created_by, created_at,
			ready_at, used_at, uses, install_time, keep_unused, unused_at, error)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 'waiting', '', '', ?, ?, 0, 0, 0, 0, ?, 0,
			'') RETURNING id`, who.Tenant, i.Key, i.Template, i.Provider, i.Zone, i.Hardware, i.Base,
		db.JSON(i.Services), db.JSON(i.Recipe), i.CreatedBy, db.Micros(now), i.Keep.Microseconds()).Scan(&i.ID); err != nil {
		return i, db.Wrapped(err)
	}
	i.CreatedAt = now
	return i, t.AddAudit(now, who, "image.bake", Object(i.ID), nil, map[string]any{"template": i.Template, "provider": i.Provider, "services": i.Services})
}

// Object names an image in the audit log.
func Object(id int64) string { return fmt.Sprintf("image/%d", id) }

// DeleteImage implements image.Store.
func (s *Store) DeleteImage(ctx context.Context, who app.Actor, id int64, now time.Time) error {
	return s.Write(ctx, func(t *db.Tx) error {
		i, err := scan(t.Row(`SELECT `+columns+` FROM baked_images i WHERE i.tenant = ? AND i.id = ?`, who.Tenant, id))
		switch {
		case db.IsNoRows(err):
			return app.Errorf(app.ENotFound, "Image %d doesn't exist.", id)
		case err != nil:
			return db.Wrapped(err)
		case i.State == image.StateDeleting:
			return nil
		case i.State == image.StateBuilding:
			return &app.Error{Code: app.EConflict, Message: fmt.Sprintf("Image %d is being built.", id), Hint: "To stop that, delete cluster " + i.Cluster + "."}
		}
		err = t.Exec(`UPDATE baked_images SET state = 'deleting', unused_at = 0 WHERE id = ?`, id)
		if i.Image == "" {
			err = t.Exec(`DELETE FROM baked_images WHERE id = ?`, id)
		}
		if err != nil {
			return err
		}
		return t.AddAudit(now, who, "image.delete", Object(id), map[string]any{"template": i.Template, "provider": i.Provider, "image": i.Image}, nil)
	})
}

const ruleColumns = `r.tenant, r.template, r.after_creates, r.within, r.keep_unused, r.set_by, r.set_at`

func scanRule(row db.Scanner, more ...any) (r image.Rule, err error) {
	var within, keep, at int64
	err = row.Scan(append([]any{&r.Tenant, &r.Template, &r.AfterCreates, &within, &keep, &r.SetBy, &at}, more...)...)
	r.Within, r.KeepUnused, r.SetAt = time.Duration(within)*time.Microsecond, time.Duration(keep)*time.Microsecond, db.FromMicros(at)
	return r, err
}

// BakeRules implements image.Store.
func (s *Store) BakeRules(ctx context.Context, tenant string) (list []image.Rule, err error) {
	err = s.Each(ctx, func(row db.Scanner) error {
		r, err := scanRule(row)
		list = append(list, r)
		return err
	}, `SELECT `+ruleColumns+` FROM bake_rules r WHERE r.tenant = ? ORDER BY r.template LIMIT ?`, tenant, image.MaxRules)
	return list, err
}

// SetBakeRule implements image.Store.
func (s *Store) SetBakeRule(ctx context.Context, who app.Actor, r image.Rule, remove bool) error {
	return s.Write(ctx, func(t *db.Tx) error {
		if err := identity.TenantOpen(t, who.Tenant); err != nil {
			return err
		}
		var before, after any
		was, err := scanRule(t.Row(`SELECT `+ruleColumns+` FROM bake_rules r WHERE r.tenant = ? AND r.template = ?`, who.Tenant, r.Template))
		switch {
		case err == nil:
			before = was
		case !db.IsNoRows(err):
			return db.Wrapped(err)
		case remove:
			return app.Errorf(app.ENotFound, "Template %.60q has no rule for baked images.", r.Template)
		}
		if remove {
			if err := t.Exec(`DELETE FROM bake_rules WHERE tenant = ? AND template = ?`, who.Tenant, r.Template); err != nil {
				return err
			}
			return t.AddAudit(r.SetAt, who, "image.rule", r.Template, before, nil)
		}
		var there int
		if err := t.Row(`SELECT count(*) FROM bake_rules WHERE tenant = ?`, who.Tenant).Scan(&there); err != nil {
			return db.Wrapped(err)
		}
		if before == nil && there >= image.MaxRules {
			return app.Errorf(app.EConflict, "You've reached the limit of %d rules for baked images.", image.MaxRules)
		}
		if err := t.Exec(`INSERT INTO bake_rules (tenant, template, after_creates, within, keep_unused, set_by, set_at) VALUES (?, ?, ?, ?, ?, ?, ?)
			ON CONFLICT (tenant, template) DO UPDATE SET after_creates = excluded.after_creates, within = excluded.within, keep_unused = excluded.keep_unused,
				set_by = excluded.set_by, set_at = excluded.set_at`,
			who.Tenant, r.Template, r.AfterCreates, r.Within.Microseconds(), r.KeepUnused.Microseconds(), r.SetBy, db.Micros(r.SetAt)); err != nil {
			return err
		}
		after = r
		return t.AddAudit(r.SetAt, who, "image.rule", r.Template, before, after)
	})
}

// DropOf forgets the rules of a tenant that is deleted, and has its images deleted as far as their accounts can still be reached.
func DropOf(t *db.Tx, tenant string) error {
	if err := t.Exec(`DELETE FROM bake_rules WHERE tenant = ?`, tenant); err != nil {
		return err
	}
	if err := t.Exec(`DELETE FROM baked_images WHERE tenant = ? AND provider_image = ''`, tenant); err != nil {
		return err
	}
	return t.Exec(`UPDATE baked_images SET state = 'deleting', unused_at = 0, recipe = '{}' WHERE tenant = ?`, tenant)
}
