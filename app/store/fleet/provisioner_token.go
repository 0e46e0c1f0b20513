package fleet

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"time"

	"muster/app"
	"muster/app/fleet"
	"muster/app/store/db"
	"muster/app/store/identity"
)

func (s *Store) CreateProvisionerToken(ctx context.Context, p fleet.ProvisionerToken, hash []byte) error {
	grant, err := json.Marshal(p.ProvisionerGrant)
	if err != nil {
		return fmt.Errorf("store: provisioner token: %w", err)
	}
	return s.Write(ctx, func(t *db.Tx) error {
		n, err := t.Count(`INSERT INTO provisioner_tokens (name, hash, created_by, created_at, used_at, grants) VALUES (?, ?, ?, ?, 0, ?) ON CONFLICT DO NOTHING`,
			p.Name, hash, p.CreatedBy, db.Micros(p.CreatedAt), string(grant))
		if err != nil {
			return err
		}
		if n == 0 {
			return &app.Error{Code: app.EConflict, Field: "name", Message: fmt.Sprintf("Token %q already exists.", p.Name),
				Hint: "Revoke that token first, or choose another name."}
		}
		return t.Audit(p.CreatedAt, app.DefaultTenant, p.CreatedBy, "provisioner_token.create", p.Name, string(grant))
	})
}

func (s *Store) ProvisionerTokens(ctx context.Context) ([]fleet.ProvisionerToken, error) {
	all := []fleet.ProvisionerToken{}
	err := s.Each(ctx, func(row db.Scanner) error {
		p, err := scanProvisionerToken(row)
		all = append(all, p)
		return err
	}, `SELECT name, created_by, created_at, used_at, grants FROM provisioner_tokens ORDER BY name`)
	return all, err
}

func scanProvisionerToken(row db.Scanner) (fleet.ProvisionerToken, error) {
	var p fleet.ProvisionerToken
	var created, used int64
	var grant string
	err := row.Scan(&p.Name, &p.CreatedBy, &created, &used, &grant)
	if err != nil {
		return p, err
	}
	p.CreatedAt, p.UsedAt = db.FromMicros(created), db.FromMicros(used)
	if p.ProvisionerGrant = fleet.AnyProvisionerGrant(); grant != "" {
		p.ProvisionerGrant = fleet.ProvisionerGrant{}
		err = json.Unmarshal([]byte(grant), &p.ProvisionerGrant)
	}
	return p, err
}

func (s *Store) RevokeProvisionerToken(ctx context.Context, name, who string, now time.Time) error {
	return s.Write(ctx, func(t *db.Tx) error {
		n, err := t.Count(`DELETE FROM provisioner_tokens WHERE name = ?`, name)
		if err != nil {
			return err
		}
		if n == 0 {
			return app.Errorf(app.ENotFound, "Provisioner token %q doesn't exist.", name)
		}
		// The shares go first, while the registrations can still be distinguished by their state. Those that were lost before are revoked
		// too: their workers may still carry tokens.
		if err := t.Exec(`DELETE FROM provisioner_shares WHERE provisioner IN (SELECT id FROM provisioners WHERE token = ?)`, name); err != nil {
			return err
		}
		if err := t.Exec(`UPDATE provisioners SET state = 'revoked', ended_at = CASE WHEN ended_at = 0 THEN ? ELSE ended_at END WHERE token = ?`,
			db.Micros(now), name); err != nil {
			return err
		}
		if err := t.Audit(now, app.DefaultTenant, who, "provisioner_token.revoke", name, ""); err != nil {
			return err
		}
		return identity.SharesChanged(t)
	})
}

func (s *Store) ProvisionerTokenOf(ctx context.Context, hash []byte) (fleet.ProvisionerToken, error) {
	p, err := scanProvisionerToken(s.Row(ctx, `SELECT name, created_by, created_at, used_at, grants FROM provisioner_tokens WHERE hash = ?`, hash))
	if db.IsNoRows(err) {
		return p, app.Errorf(app.ENotFound, "The provisioner token doesn't exist.")
	}
	return p, err
}

func (s *Store) WorkerKey(ctx context.Context) ([]byte, error) {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // never fails: crypto/rand ends the process instead
	return s.SealedSetting(ctx, "worker_key", key)
}
