package db

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"time"

	"muster/app"
)

// auditKeyRow names the sealed setting that ends of chains are authenticated with: anyone who can write to the database but does
// not have the secret key can make a new chain, but not one that ends as it should.
const auditKeyRow = "audit_key"

// Chain writes an entry behind the last of its tenant. Writes of all servers come one after the other, so no one else does
// at the same time.
func (t *Tx) Chain(d app.AuditEntry) error {
	t.Topics[app.TenantTopic(d.Tenant)] = true
	var number int64
	var before []byte
	err := t.Row(`SELECT number, hash FROM audit_heads WHERE tenant = ?`, d.Tenant).Scan(&number, &before)
	if err != nil && !IsNoRows(err) {
		return fmt.Errorf("store: audit: %w", err)
	}
	d.Number = number + 1
	d.Detail, d.Object, d.Who, d.From, d.Token = text(d.Detail), text(d.Object), text(d.Who), text(d.From), text(d.Token)
	hash := Chain(before, d)
	if err := t.Exec(`INSERT INTO audit (tenant, number, at, user_name, via, address, token, act, object, detail, hash)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		d.Tenant, d.Number, Micros(d.At), d.Who, d.Via, d.From, d.Token, d.Act, d.Object, d.Detail, hash); err != nil {
		return err
	}
	return t.Exec(`INSERT INTO audit_heads (tenant, number, hash, mac) VALUES (?, ?, ?, ?)
		ON CONFLICT (tenant) DO UPDATE SET number = excluded.number, hash = excluded.hash, mac = excluded.mac`,
		d.Tenant, d.Number, hash, t.Keys.EndMAC(d.Tenant, d.Number, hash))
}

// Chain returns the hash of an entry behind another. Each field goes in with its length, so no two entries read the same.
func Chain(before []byte, d app.AuditEntry) []byte {
	h := sha256.New()
	put := func(b []byte) {
		var n [8]byte
		binary.BigEndian.PutUint64(n[:], uint64(len(b)))
		h.Write(n[:])
		h.Write(b)
	}
	put(before)
	put([]byte(d.Tenant))
	put(binary.BigEndian.AppendUint64(nil, uint64(d.Number)))
	put(binary.BigEndian.AppendUint64(nil, uint64(Micros(d.At))))
	for _, s := range []string{d.Who, string(d.Via), d.From, d.Token, d.Act, d.Object, d.Detail} {
		put([]byte(s))
	}
	return h.Sum(nil)
}

// EndMAC authenticates where the chain of a tenant ends.
func (k *Keyring) EndMAC(tenant string, number int64, hash []byte) []byte {
	m := hmac.New(sha256.New, k.auditKey)
	fmt.Fprintf(m, "audit %q %d %x", tenant, number, hash)
	return m.Sum(nil)
}

// openAudit gets the key of ends, and chains what was written before there were chains.
func (s *DB) openAudit(ctx context.Context) error {
	key := make([]byte, sha256.Size)
	_, _ = rand.Read(key) // never fails: crypto/rand ends the process instead
	key, err := s.SealedSetting(ctx, auditKeyRow, key)
	if err != nil {
		if code := app.CodeOf(err); code == app.ETransient || code == app.ETimeout || code == app.ECredentials {
			return err
		}
		// It was sealed with a key that is lost. A new one cannot vouch for ends that the old one has; they are said to be broken.
		if key, err = s.renewSetting(ctx, auditKeyRow); err != nil {
			return err
		}
	}
	s.Keyring.auditKey = key
	for {
		moved, err := s.chainBefore(ctx)
		if err != nil || moved == 0 {
			return err
		}
	}
}

// renewSetting replaces a sealed setting that does not open.
func (s *DB) renewSetting(ctx context.Context, row string) ([]byte, error) {
	if err := s.Write(ctx, func(t *Tx) error { return t.Exec(`DELETE FROM settings WHERE name = ?`, row) }); err != nil {
		return nil, err
	}
	key := make([]byte, sha256.Size)
	_, _ = rand.Read(key)
	return s.SealedSetting(ctx, row, key)
}

// chainBefore moves some of the entries from before there were chains.
func (s *DB) chainBefore(ctx context.Context) (moved int, err error) {
	err = s.Write(ctx, func(t *Tx) error {
		var list []app.AuditEntry
		var last int64
		err := t.Each(func(row Scanner) error {
			var d app.AuditEntry
			var at int64
			err := row.Scan(&last, &at, &d.Tenant, &d.Who, &d.Act, &d.Object, &d.Detail)
			d.At = FromMicros(at)
			list = append(list, d)
			return err
		}, `SELECT seq, at, tenant, user_name, act, object, detail FROM audit_unchained ORDER BY seq LIMIT 500`)
		if moved = len(list); err != nil || moved == 0 {
			return err
		}
		for _, d := range list {
			if err := t.Chain(d); err != nil {
				return err
			}
		}
		return t.Exec(`DELETE FROM audit_unchained WHERE seq <= ?`, last)
	})
	return moved, err
}

// Audit notes who did what to what. Via, address and token are those of the actor that the write is for.
func (t *Tx) Audit(at time.Time, tenant, user, act, object, detail string) error {
	d := app.AuditEntry{Tenant: tenant, At: at, Who: user, Act: act, Object: object, Detail: detail}
	if a := t.who; a != nil && (a.User == user || a.Name() == user) {
		d.Who, d.Via, d.From, d.Token = a.Name(), a.Via, a.From, a.Token
	}
	return t.Chain(d)
}
