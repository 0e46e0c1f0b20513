package image

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	appcluster "muster/app/cluster"
	"muster/app/image"
	"muster/app/store/db"
	"muster/app/store/operation"
)

// WaitingImages implements image.BuildStore.
func (s *Store) WaitingImages(ctx context.Context, limit int) (list []image.Image, err error) {
	err = s.Each(ctx, func(row db.Scanner) error {
		var recipe []byte
		i, err := scan(row, &recipe)
		if err != nil {
			return err
		}
		if err := json.Unmarshal(recipe, &i.Recipe); err != nil {
			return fmt.Errorf("store: image %d: %w", i.ID, err)
		}
		list = append(list, i)
		return nil
	}, `SELECT `+columns+`, i.recipe FROM baked_images i WHERE i.state = 'waiting'
		AND NOT EXISTS (SELECT 1 FROM baked_images b WHERE b.tenant = i.tenant AND b.provider = i.provider
			AND (b.state = 'building' OR b.state = 'waiting' AND b.id < i.id))
		AND NOT EXISTS (SELECT 1 FROM baked_images g WHERE g.tenant = i.tenant AND g.image_key = i.image_key AND g.state = 'deleting')
		ORDER BY i.id LIMIT ?`, limit)
	return list, err
}

// BuildImage implements image.BuildStore. The installs of the image that its machine starts from are in it, too.
func (s *Store) BuildImage(ctx context.Context, id int64, n appcluster.NewCluster) (did bool, err error) {
	var from string
	if b := n.Definition.Baked.Of(n.Nodes[0].Node.Name); b != nil {
		from = b.Key
	}
	err = s.Write(ctx, func(t *db.Tx) error {
		moved, err := t.Count(`UPDATE baked_images SET state = 'building', cluster = ?, install_time = coalesce((SELECT f.install_time
				FROM baked_images f WHERE f.tenant = ? AND f.image_key = ? AND f.state = 'ready'), 0) WHERE id = ? AND state = 'waiting'
			AND NOT EXISTS (SELECT 1 FROM baked_images b WHERE b.tenant = ? AND b.provider = ? AND b.state = 'building')
			AND NOT EXISTS (SELECT 1 FROM baked_images g WHERE g.tenant = baked_images.tenant AND g.image_key = baked_images.image_key
				AND g.state = 'deleting')`, n.Cluster.ID, n.Cluster.Tenant, from, id, n.Cluster.Tenant,
			n.Cluster.Provider)
		if did = moved > 0; err != nil || !did {
			return err
		}
		_, err = operation.Create(t, n)
		return err
	})
	return did, err
}

// FailImage implements image.BuildStore.
func (s *Store) FailImage(ctx context.Context, i image.Image, why string, now time.Time) error {
	return s.Write(ctx, func(t *db.Tx) error {
		return t.Exec(`UPDATE baked_images SET state = 'failed', error = ?, unused_at = ? WHERE id = ? AND state = 'waiting'`, cut(why),
			db.Micros(now.Add(image.KeepFailures)), i.ID)
	})
}

func cut(text string) string {
	if len(text) > 1000 {
		return text[:1000]
	}
	return text
}

// EndBuilds implements image.BuildStore. Each of the three has an index that is nearly always empty.
func (s *Store) EndBuilds(ctx context.Context, now time.Time) error {
	const failed = `state = 'building' AND EXISTS (SELECT 1 FROM operations o WHERE o.cluster = baked_images.cluster AND o.kind = 'create' AND o.status
		IN ('failed', 'cancelled'))`
	var ended, unused bool
	if err := s.Row(ctx, `SELECT EXISTS (SELECT 1 FROM baked_images WHERE `+failed+`), EXISTS (SELECT 1 FROM baked_images WHERE unused_at > 0 AND unused_at <= ?)`,
		db.Micros(now)).Scan(&ended, &unused); err != nil || !ended && !unused {
		return db.Wrapped(err)
	}
	return s.Write(ctx, func(t *db.Tx) error {
		if err := t.Exec(`UPDATE clusters SET expires_at = ? WHERE deleted_at = 0 AND id IN (SELECT cluster FROM baked_images WHERE `+failed+`)`,
			db.Micros(now)); err != nil {
			return err
		}
		if err := t.Exec(`UPDATE baked_images SET state = 'failed', unused_at = ?, error = coalesce((SELECT o.message FROM operations o WHERE o.cluster =
			baked_images.cluster
			AND o.kind = 'create' ORDER BY o.id LIMIT 1), '') WHERE `+failed, db.Micros(now.Add(image.KeepFailures))); err != nil {
			return err
		}
		if err := t.Exec(`DELETE FROM baked_images WHERE state = 'failed' AND unused_at > 0 AND unused_at <= ?`, db.Micros(now)); err != nil {
			return err
		}
		return t.Exec(`UPDATE baked_images SET state = 'deleting', unused_at = 0 WHERE state = 'ready' AND unused_at > 0 AND unused_at <= ?`, db.Micros(now))
	})
}

// dueRules bounds how many rules are looked at in one go.
const dueRules = 50

// DueRules implements image.BuildStore. A rule that was applied is left alone until there is another cluster of its template.
func (s *Store) DueRules(ctx context.Context, now time.Time) (list []image.DueRule, err error) {
	var any bool
	if err := s.Row(ctx, `SELECT EXISTS (SELECT 1 FROM bake_rules)`).Scan(&any); err != nil || !any {
		return nil, db.Wrapped(err)
	}
	err = s.Each(ctx, func(row db.Scanner) error {
		var d image.DueRule
		rule, err := scanRule(row, &d.Cluster, &d.Provider)
		d.Rule = rule
		list = append(list, d)
		return err
	}, `SELECT `+ruleColumns+`, c.id, c.provider FROM bake_rules r JOIN clusters c ON c.tenant = r.tenant AND c.template = r.template
		WHERE c.id = (SELECT n.id FROM clusters n WHERE n.tenant = r.tenant AND n.template = r.template ORDER BY n.created_at DESC, n.id DESC LIMIT 1)
		AND c.created_at > ? - r.within
		AND (SELECT count(*) FROM clusters m WHERE m.tenant = r.tenant AND m.template = r.template AND m.created_at > ? - r.within) >= r.after_creates
		AND c.id <> r.looked_at
		ORDER BY r.tenant, r.template LIMIT ?`, db.Micros(now), db.Micros(now), dueRules)
	return list, err
}

// DoomedImages returns images that are to be deleted at their providers.
func (s *Store) DoomedImages(ctx context.Context, limit int) (list []image.Image, err error) {
	err = s.Each(ctx, func(row db.Scanner) error {
		i, err := scan(row)
		list = append(list, i)
		return err
	}, `SELECT `+columns+` FROM baked_images i WHERE i.state = 'deleting' AND (SELECT count(*) FROM baked_images b WHERE b.state = 'deleting'
		AND b.tenant = i.tenant AND b.provider = i.provider AND b.id < i.id) < 10 ORDER BY i.id LIMIT ?`, limit)
	return list, err
}

// ImageGone forgets an image that its provider doesn't have any more.
func (s *Store) ImageGone(ctx context.Context, id int64) error {
	return s.Write(ctx, func(t *db.Tx) error {
		return t.Exec(`DELETE FROM baked_images WHERE id = ? AND state = 'deleting'`, id)
	})
}

// KeptImages returns the keys of all images that providers may have.
func (s *Store) KeptImages(ctx context.Context) (map[string]bool, error) {
	keys := map[string]bool{}
	err := s.Each(ctx, func(row db.Scanner) error {
		var key string
		err := row.Scan(&key)
		keys[key] = true
		return err
	}, `SELECT image_key FROM baked_images WHERE state IN ('building', 'ready', 'deleting')`)
	return keys, err
}

// RuleApplied implements image.BuildStore.
func (s *Store) RuleApplied(ctx context.Context, r image.DueRule) error {
	return s.Write(ctx, func(t *db.Tx) error {
		return t.Exec(`UPDATE bake_rules SET looked_at = ? WHERE tenant = ? AND template = ?`, r.Cluster, r.Tenant, r.Template)
	})
}
