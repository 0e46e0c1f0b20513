package db

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"muster/app"
	"muster/app/identity"
)

// auditKeyRow names the sealed setting that ends of chains are authenticated with: whoever can write to the database but does
// not have the secret key can make a new chain, but not one that ends as it should.
const auditKeyRow = "audit_key"

// chained writes an entry behind the last of its tenant. Writes of all servers come one after the other, so nobody else does
// at the same time.
func (t *Tx) chained(d app.Deed) error {
	t.Topics[app.TenantTopic(d.Tenant)] = true
	var number int64
	var before []byte
	err := t.Row(`SELECT number, hash FROM audit_ends WHERE tenant = ?`, d.Tenant).Scan(&number, &before)
	if err != nil && !IsNoRows(err) {
		return fmt.Errorf("store: audit: %w", err)
	}
	d.Number = number + 1
	d.Detail, d.Object, d.Who, d.From, d.Token = text(d.Detail), text(d.Object), text(d.Who), text(d.From), text(d.Token)
	hash := chain(before, d)
	if err := t.Exec(`INSERT INTO audit (tenant, number, at, user_name, via, address, token, act, object, detail, hash)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		d.Tenant, d.Number, Micros(d.At), d.Who, d.Via, d.From, d.Token, d.Act, d.Object, d.Detail, hash); err != nil {
		return err
	}
	return t.Exec(`INSERT INTO audit_ends (tenant, number, hash, mac) VALUES (?, ?, ?, ?)
		ON CONFLICT (tenant) DO UPDATE SET number = excluded.number, hash = excluded.hash, mac = excluded.mac`,
		d.Tenant, d.Number, hash, endMAC(t.auditKey, d.Tenant, d.Number, hash))
}

// chain gives the hash of an entry behind another. Each field goes in with its length, so no two entries read the same.
func chain(before []byte, d app.Deed) []byte {
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

func endMAC(key []byte, tenant string, number int64, hash []byte) []byte {
	m := hmac.New(sha256.New, key)
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
	s.writer.auditKey = key
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
		var list []app.Deed
		var last int64
		err := t.Each(func(row Scanner) error {
			var d app.Deed
			var at int64
			err := row.Scan(&last, &at, &d.Tenant, &d.Who, &d.Act, &d.Object, &d.Detail)
			d.At = FromMicros(at)
			list = append(list, d)
			return err
		}, `SELECT seq, at, tenant, user_name, act, object, detail FROM audit_before ORDER BY seq LIMIT 500`)
		if moved = len(list); err != nil || moved == 0 {
			return err
		}
		for _, d := range list {
			if err := t.chained(d); err != nil {
				return err
			}
		}
		return t.Exec(`DELETE FROM audit_before WHERE seq <= ?`, last)
	})
	return moved, err
}

const deedColumns = `tenant, number, at, user_name, via, address, token, act, object, detail, hash`

func scanDeed(row Scanner) (d app.Deed, hash []byte, err error) {
	var at int64
	err = row.Scan(&d.Tenant, &d.Number, &at, &d.Who, &d.Via, &d.From, &d.Token, &d.Act, &d.Object, &d.Detail, &hash)
	d.At, d.Hash = FromMicros(at), hex.EncodeToString(hash)
	return d, hash, err
}

// Audit implements app.AuditStore.
func (s *DB) Audit(ctx context.Context, f app.AuditFilter) ([]app.Deed, error) {
	where, args := []string{"1 = 1"}, []any{}
	add := func(cond string, more ...any) { where, args = append(where, cond), append(args, more...) }
	if f.Tenants != nil {
		list := make([]any, len(f.Tenants))
		for i, t := range f.Tenants {
			list[i] = t
		}
		if len(list) == 0 {
			return []app.Deed{}, nil
		}
		add("tenant IN (?"+strings.Repeat(", ?", len(list)-1)+")", list...)
	}
	if f.Who != "" {
		add("user_name = ?", f.Who)
	}
	if f.Act != "" {
		add(fmt.Sprintf("substr(act, 1, %d) = ?", utf8.RuneCountInString(f.Act)), f.Act)
	}
	if f.Object != "" {
		add("object = ?", f.Object)
	}
	if !f.From.IsZero() {
		add("at >= ?", Micros(f.From))
	}
	if !f.To.IsZero() {
		add("at < ?", Micros(f.To))
	}
	// The order within a tenant is that of its chain; of several tenants it is by tenant, so that a cursor is two values.
	order, behind := "tenant, number DESC", "(tenant > ? OR tenant = ? AND number < ?)"
	if f.OldestFirst {
		order, behind = "tenant, number", "(tenant > ? OR tenant = ? AND number > ?)"
	}
	if f.After > 0 {
		tenant := f.AfterTenant
		if tenant == "" && len(f.Tenants) == 1 {
			tenant = f.Tenants[0]
		}
		add(behind, tenant, tenant, f.After)
	}
	limit := f.Limit
	if limit <= 0 || limit > identity.MaxDeeds+1 {
		limit = identity.MaxDeeds + 1
	}
	list := []app.Deed{}
	err := s.Each(ctx, func(row Scanner) error {
		d, _, err := scanDeed(row)
		list = append(list, d)
		return err
	}, `SELECT `+deedColumns+` FROM audit WHERE `+strings.Join(where, " AND ")+` ORDER BY `+order+` LIMIT ?`, append(args, limit)...)
	return list, err
}

// AuditTenants implements app.AuditStore.
func (s *DB) AuditTenants(ctx context.Context) (all []string, err error) {
	err = s.Each(ctx, func(row Scanner) error {
		var t string
		err := row.Scan(&t)
		all = append(all, t)
		return err
	}, `SELECT tenant FROM audit_ends ORDER BY tenant`)
	return all, err
}

// NoteDeed implements app.AuditStore.
func (s *DB) NoteDeed(ctx context.Context, d app.Deed) error {
	return s.Write(ctx, func(t *Tx) error { return t.chained(d) })
}

// verifyBatch is how many entries are read at once.
const verifyBatch = 2000

// VerifyAudit implements app.AuditStore. The end is read first, and no further than it is walked: entries are added meanwhile.
func (s *DB) VerifyAudit(ctx context.Context, tenant string) (identity.AuditProof, error) {
	p := identity.AuditProof{Tenant: tenant, Whole: true}
	var end int64
	var endHash, mac []byte
	err := s.Row(ctx, `SELECT number, hash, mac FROM audit_ends WHERE tenant = ?`, tenant).Scan(&end, &endHash, &mac)
	if err != nil && !IsNoRows(err) {
		return p, fmt.Errorf("store: audit: %w", err)
	}
	if IsNoRows(err) {
		var n int64
		if err := s.Row(ctx, `SELECT count(*) FROM audit WHERE tenant = ?`, tenant).Scan(&n); err != nil {
			return p, fmt.Errorf("store: audit: %w", err)
		}
		if n > 0 {
			broken(&p, 1, "The record of where the chain ends is missing.")
		}
		return p, nil
	}
	var before []byte
	for p.Whole && p.Entries < end {
		read := 0
		err := s.Each(ctx, func(row Scanner) error {
			d, hash, err := scanDeed(row)
			if err != nil {
				return err
			}
			read++
			switch want := p.Entries + 1; {
			case !p.Whole:
			case d.Number != want:
				broken(&p, want, fmt.Sprintf("Entry %d is missing.", want))
			case string(chain(before, d)) != string(hash):
				broken(&p, want, fmt.Sprintf("Entry %d is not what was written, or what was before it is not.", want))
			default:
				p.Entries, before = want, hash
			}
			return nil
		}, `SELECT `+deedColumns+` FROM audit WHERE tenant = ? AND number > ? AND number <= ? ORDER BY number LIMIT ?`,
			tenant, p.Entries, end, verifyBatch)
		if err != nil {
			return p, err
		}
		if read == 0 {
			broken(&p, p.Entries+1, fmt.Sprintf("The chain ends before entry %d, and should go on to %d.", p.Entries+1, end))
		}
	}
	p.Hash = hex.EncodeToString(before)
	switch {
	case !p.Whole:
	case string(before) != string(endHash):
		broken(&p, end, "The last entry is not the one that was written last.")
	case !hmac.Equal(mac, endMAC(s.writer.auditKey, tenant, end, endHash)):
		broken(&p, end, "The record of where the chain ends was not written by Muster with this key.")
	}
	return p, nil
}

func broken(p *identity.AuditProof, number int64, why string) {
	p.Whole, p.Broken, p.Why = false, number, why
}

// Audit notes who did what to what. Via, address and token are those of whoever the write is for.
func (t *Tx) Audit(at time.Time, tenant, user, act, object, detail string) error {
	d := app.Deed{Tenant: tenant, At: at, Who: user, Act: act, Object: object, Detail: detail}
	if a := t.who; a != nil && (a.User == user || a.Name() == user) {
		d.Who, d.Via, d.From, d.Token = a.Name(), a.Via, a.From, a.Token
	}
	return t.chained(d)
}
