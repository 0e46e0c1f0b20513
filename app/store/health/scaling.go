package health

import (
	"context"

	"muster/app/scaling"
	"muster/app/store/db"
	scalingdb "muster/app/store/scaling"
)

// SetScaling implements scaling.Store. Clusters without health checks are looked at for scripts of their rules from now on.
func (s *Store) SetScaling(ctx context.Context, ch scaling.Change) error {
	return s.Write(ctx, func(t *db.Tx) error {
		c, err := scalingdb.Set(t, ch)
		if err != nil || ch.Resume {
			return err
		}
		var sealed []byte
		if err := t.Row(`SELECT encrypted_definition FROM clusters WHERE id = ?`, c.ID).Scan(&sealed); err != nil {
			return db.Wrapped(err)
		}
		definition, err := t.Keys.Unseal(sealed, db.DefinitionAAD(c.ID))
		if err != nil {
			return err
		}
		return KeepOf(t, ch.Now, c.ID, definition)
	})
}
