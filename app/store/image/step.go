package image

import (
	"time"

	"muster/app/store/db"
)

// Made notes that the image of a build is ready, and has the build's machine deleted.
func Made(t *db.Tx, now time.Time, tenant, cluster, name string) error {
	moved, err := t.Count(`UPDATE baked_images SET state = 'ready', provider_image = ?, ready_at = ?, unused_at = CAST(? AS BIGINT) + keep_unused,
		install_time = install_time + (SELECT coalesce(sum(s.ended_at - s.started_at), 0) FROM steps s
			WHERE s.cluster = ? AND s.action = 'install' AND s.state = 'succeeded')
		WHERE tenant = ? AND cluster = ? AND state = 'building'`, name, db.Micros(now), db.Micros(now), cluster, tenant, cluster)
	if err != nil || moved == 0 {
		return err
	}
	return t.Exec(`UPDATE clusters SET expires_at = ? WHERE tenant = ? AND id = ?`, db.Micros(now), tenant, cluster)
}

// Used notes that a machine has started from an image, or that none can any more. One that is gone is deleted, so that another can be built.
func Used(t *db.Tx, now time.Time, tenant, name string, gone bool) error {
	if gone {
		return t.Exec(`UPDATE baked_images SET state = 'deleting', unused_at = 0 WHERE tenant = ? AND provider_image = ? AND state = 'ready'`, tenant, name)
	}
	return t.Exec(`UPDATE baked_images SET uses = uses + 1, used_at = ?, unused_at = CAST(? AS BIGINT) + keep_unused WHERE tenant = ? AND provider_image
		= ? AND state = 'ready'`,
		db.Micros(now), db.Micros(now), tenant, name)
}
