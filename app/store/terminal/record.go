package terminal

import (
	"context"
	"strconv"
	"time"

	"muster/app"
	"muster/app/store/db"
	"muster/app/terminal"
)

// chunkAAD is the place of a part of a recording.
func chunkAAD(terminal string, number int64) string {
	return "terminal_chunks/" + chunkID(terminal, number)
}

func chunkID(terminal string, number int64) string {
	return terminal + "/" + strconv.FormatInt(number, 10)
}

// AddChunk implements terminal.RecordingStore.
func (s *Store) AddChunk(ctx context.Context, c terminal.Chunk) error {
	return s.Write(ctx, func(t *db.Tx) error {
		n, err := t.Count(`UPDATE terminals SET seconds = ?, bytes = bytes + ? WHERE id = ?`, c.Seconds, len(c.Events), c.Terminal)
		if err != nil {
			return err
		}
		if n == 0 { // it was deleted, with its tenant
			return app.Errorf(app.ENotFound, "There is no such terminal.")
		}
		var number int64
		if err := t.Row(`SELECT COALESCE(MAX(number), 0) + 1 FROM terminal_chunks WHERE terminal = ?`, c.Terminal).Scan(&number); err != nil {
			return db.Wrapped(err)
		}
		return t.Exec(`INSERT INTO terminal_chunks (id, terminal, number, sealed) VALUES (?, ?, ?, ?)`, chunkID(c.Terminal, number), c.Terminal, number,
			s.Seal(c.Events, chunkAAD(c.Terminal, number)))
	})
}

// Chunks implements terminal.RecordingStore. It reads one at a time.
func (s *Store) Chunks(ctx context.Context, id string, f func(events []byte) error) error {
	for number := int64(1); ; number++ {
		var sealed []byte
		found := false
		err := s.Each(ctx, func(row db.Scanner) error {
			found = true
			return row.Scan(&sealed)
		}, `SELECT sealed FROM terminal_chunks WHERE terminal = ? AND number = ?`, id, number)
		if err != nil || !found {
			return err
		}
		events, err := s.Unseal(sealed, chunkAAD(id, number))
		if err != nil {
			return err
		}
		if err := f(events); err != nil {
			return err
		}
	}
}

// AuditPlay implements terminal.RecordingStore.
func (s *Store) AuditPlay(ctx context.Context, who app.Actor, x terminal.Terminal, now time.Time) error {
	return s.Write(ctx, func(t *db.Tx) error {
		return t.Chain(who.AuditEntry(now, "terminal.play", x.Cluster, x.Node+", terminal "+x.ID+" of "+x.User))
	})
}

// TerminalSettings implements terminal.RecordingStore.
func (s *Store) TerminalSettings(ctx context.Context, tenant string) (set terminal.Settings, err error) {
	set.KeepDays = terminal.DefaultKeepDays
	err = s.Each(ctx, func(row db.Scanner) error {
		var at int64
		err := row.Scan(&set.Record, &set.KeepDays, &set.StepUp, &set.ChangedBy, &at)
		set.ChangedAt = db.FromMicros(at)
		return err
	}, `SELECT record, keep_days, step_up, changed_by, changed_at FROM terminal_settings WHERE tenant = ?`, tenant)
	return set, err
}

// SetTerminalSettings implements terminal.RecordingStore.
func (s *Store) SetTerminalSettings(ctx context.Context, who app.Actor, set terminal.Settings) error {
	before, err := s.TerminalSettings(ctx, who.Tenant)
	if err != nil {
		return err
	}
	return s.Write(ctx, func(t *db.Tx) error {
		if err := t.Exec(`INSERT INTO terminal_settings (tenant, record, keep_days, step_up, changed_by, changed_at) VALUES (?, ?, ?, ?, ?, ?)
			ON CONFLICT (tenant) DO UPDATE SET record = excluded.record, keep_days = excluded.keep_days, step_up = excluded.step_up,
			changed_by = excluded.changed_by, changed_at = excluded.changed_at`, who.Tenant, db.Flag(set.Record), set.KeepDays, db.Flag(set.StepUp),
			set.ChangedBy, db.Micros(set.ChangedAt)); err != nil {
			return err
		}
		return t.AddAudit(set.ChangedAt, who, "terminal.settings", who.Tenant, before, set)
	})
}

// SeeTerminal implements terminal.RecordingStore.
func (s *Store) SeeTerminal(ctx context.Context, id string, now time.Time) error {
	return s.Write(ctx, func(t *db.Tx) error {
		return t.Exec(`UPDATE terminals SET seen_at = ? WHERE id = ? AND ended_at = 0`, db.Micros(now), id)
	})
}

const (
	mostTidied  = 50
	mostChunks  = 200 // that one transaction removes
	microsOfDay = int64(24 * time.Hour / time.Microsecond)
)

// TidyTerminals implements terminal.RecordingStore.
func (s *Store) TidyTerminals(ctx context.Context, unseen, now time.Time) error {
	var lost, old []string
	ids := func(into *[]string) func(db.Scanner) error {
		return func(row db.Scanner) error {
			var id string
			err := row.Scan(&id)
			*into = append(*into, id)
			return err
		}
	}
	if err := s.Each(ctx, ids(&lost), `SELECT id FROM terminals WHERE ended_at = 0 AND seen_at < ? LIMIT ?`, db.Micros(unseen), mostTidied); err != nil {
		return err
	}
	if err := s.Each(ctx, ids(&old), `SELECT id FROM terminals WHERE expires_at > 0 AND expires_at < ? LIMIT ?`, db.Micros(now), mostTidied); err != nil {
		return err
	}
	for _, id := range lost {
		if err := s.endLost(ctx, id, unseen, now); err != nil {
			return err
		}
	}
	for _, id := range old {
		if err := s.removeTerminal(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

// endLost ends a terminal that no server has, unless one has it now.
func (s *Store) endLost(ctx context.Context, id string, unseen, now time.Time) error {
	return s.Write(ctx, func(t *db.Tx) error {
		var tenant, cluster, node string
		err := t.Row(endSQL+` WHERE id = ? AND ended_at = 0 AND seen_at < ? RETURNING tenant, cluster, node`, db.Micros(now), "", db.Micros(now),
			terminal.DefaultKeepDays, microsOfDay, id, db.Micros(unseen)).Scan(&tenant, &cluster, &node)
		if db.IsNoRows(err) {
			return nil
		}
		if err != nil {
			return db.Wrapped(err)
		}
		return t.Chain(app.System(tenant, app.Retrier).AuditEntry(now, "terminal.end", cluster, node+", terminal "+id))
	})
}

// removeTerminal removes a terminal and its recording, a part at a time: others write in between.
func (s *Store) removeTerminal(ctx context.Context, id string) error {
	for left := true; left; {
		err := s.Write(ctx, func(t *db.Tx) error {
			n, err := t.Count(`DELETE FROM terminal_chunks WHERE id IN (SELECT id FROM terminal_chunks WHERE terminal = ? LIMIT ?)`, id, mostChunks)
			if left = n > 0; err != nil || left {
				return err
			}
			return t.Exec(`DELETE FROM terminals WHERE id = ?`, id)
		})
		if err != nil {
			return err
		}
	}
	return nil
}
