package audit

import (
	"context"
	"crypto/hmac"
	"encoding/hex"
	"fmt"
	"strings"
	"unicode/utf8"

	"muster/app"
	"muster/app/identity"
	"muster/app/store/db"
)

const entryColumns = `tenant, number, at, user_name, via, address, token, act, object, detail, hash`

func scanEntry(row db.Scanner) (d app.AuditEntry, hash []byte, err error) {
	var at int64
	err = row.Scan(&d.Tenant, &d.Number, &at, &d.Who, &d.Via, &d.From, &d.Token, &d.Act, &d.Object, &d.Detail, &hash)
	d.At, d.Hash = db.FromMicros(at), hex.EncodeToString(hash)
	return d, hash, err
}

func (s *Store) Audit(ctx context.Context, f app.AuditFilter) ([]app.AuditEntry, error) {
	where, args := []string{"1 = 1"}, []any{}
	add := func(cond string, more ...any) { where, args = append(where, cond), append(args, more...) }
	if f.Tenants != nil {
		list := make([]any, len(f.Tenants))
		for i, t := range f.Tenants {
			list[i] = t
		}
		if len(list) == 0 {
			return []app.AuditEntry{}, nil
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
		add("at >= ?", db.Micros(f.From))
	}
	if !f.To.IsZero() {
		add("at < ?", db.Micros(f.To))
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
	if limit <= 0 || limit > identity.MaxAuditEntries+1 {
		limit = identity.MaxAuditEntries + 1
	}
	list := []app.AuditEntry{}
	err := s.Each(ctx, func(row db.Scanner) error {
		d, _, err := scanEntry(row)
		list = append(list, d)
		return err
	}, `SELECT `+entryColumns+` FROM audit WHERE `+strings.Join(where, " AND ")+` ORDER BY `+order+` LIMIT ?`, append(args, limit)...)
	return list, err
}

func (s *Store) AuditTenants(ctx context.Context) (all []string, err error) {
	err = s.Each(ctx, func(row db.Scanner) error {
		var t string
		err := row.Scan(&t)
		all = append(all, t)
		return err
	}, `SELECT tenant FROM audit_heads ORDER BY tenant`)
	return all, err
}

func (s *Store) AddAuditEntry(ctx context.Context, d app.AuditEntry) error {
	return s.Write(ctx, func(t *db.Tx) error { return t.Chain(d) })
}

// verifyBatch is how many entries are read at once.
const verifyBatch = 2000

// VerifyAudit implements identity.AuditStore. The end is read first, and no further than it is walked: entries are added meanwhile.
func (s *Store) VerifyAudit(ctx context.Context, tenant string) (identity.AuditProof, error) {
	p := identity.AuditProof{Tenant: tenant, Intact: true}
	var end int64
	var endHash, mac []byte
	err := s.Row(ctx, `SELECT number, hash, mac FROM audit_heads WHERE tenant = ?`, tenant).Scan(&end, &endHash, &mac)
	if err != nil && !db.IsNoRows(err) {
		return p, fmt.Errorf("store: audit: %w", err)
	}
	if db.IsNoRows(err) {
		var n int64
		if err := s.Row(ctx, `SELECT count(*) FROM audit WHERE tenant = ?`, tenant).Scan(&n); err != nil {
			return p, fmt.Errorf("store: audit: %w", err)
		}
		if n > 0 {
			broken(&p, 1, "The record of the chain's end is missing.")
		}
		return p, nil
	}
	var before []byte
	for p.Intact && p.Entries < end {
		read := 0
		err := s.Each(ctx, func(row db.Scanner) error {
			d, hash, err := scanEntry(row)
			if err != nil {
				return err
			}
			read++
			switch want := p.Entries + 1; {
			case !p.Intact:
			case d.Number != want:
				broken(&p, want, fmt.Sprintf("Entry %d is missing.", want))
			case string(db.Chain(before, d)) != string(hash):
				broken(&p, want, fmt.Sprintf("Entry %d, or one before it, was changed after it was written.", want))
			default:
				p.Entries, before = want, hash
			}
			return nil
		}, `SELECT `+entryColumns+` FROM audit WHERE tenant = ? AND number > ? AND number <= ? ORDER BY number LIMIT ?`,
			tenant, p.Entries, end, verifyBatch)
		if err != nil {
			return p, err
		}
		if read == 0 {
			broken(&p, p.Entries+1, fmt.Sprintf("The chain ends before entry %d instead of at entry %d.", p.Entries+1, end))
		}
	}
	p.Hash = hex.EncodeToString(before)
	switch {
	case !p.Intact:
	case string(before) != string(endHash):
		broken(&p, end, "The last entry isn't the one that was written last.")
	case !hmac.Equal(mac, s.EndMAC(tenant, end, endHash)):
		broken(&p, end, "The record of the chain's end wasn't written by Muster with this key.")
	}
	return p, nil
}

func broken(p *identity.AuditProof, number int64, why string) {
	p.Intact, p.FirstInvalid, p.Reason = false, number, why
}
