package store_test

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/identity"
	"muster/app/store"
	"muster/app/store/db"
	"muster/app/store/storetest"
)

func entries(t testing.TB, s *store.Store, from, to int) {
	t.Helper()
	for i := from; i < to; i++ {
		if err := s.SetSecret(admin.In(t.Context()), admin, fmt.Sprintf("S%d", i%7), []byte("value"), time.Now()); err != nil {
			t.Fatal(err)
		}
	}
}

func verify(t testing.TB, s *store.Store) identity.AuditProof {
	t.Helper()
	p, err := s.VerifyAudit(t.Context(), "t")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func chains(t *testing.T, where string, k db.KeyKeeper) {
	s := openBy(t, where, k)
	entries(t, s, 0, 30)
	fill(t, s, 0, 2)
	if p := verify(t, s); !p.Intact || p.Entries != 34 {
		t.Fatalf("a chain that no one touched: %+v", p)
	}
	// Pages meet without gaps, the newest first, and filters choose.
	var numbers []int64
	for after := int64(0); ; {
		page, err := s.Audit(t.Context(), app.AuditFilter{Tenants: []string{"t"}, After: after, Limit: 10})
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range page {
			numbers = append(numbers, d.Number)
			after = d.Number
		}
		if len(page) == 0 {
			break
		}
	}
	for i, n := range numbers {
		if n != int64(34-i) {
			t.Fatalf("pages give %v", numbers)
		}
	}
	list, err := s.Audit(t.Context(), app.AuditFilter{Tenants: []string{"t"}, Act: "secret.", Who: "ada", Object: "S3", OldestFirst: true})
	if err != nil || len(list) != 4 {
		t.Fatalf("%d entries about S3, %v", len(list), err)
	}
	if d := list[0]; d.Via != app.ViaAPI || d.From != "192.0.2.7" || d.Act != "secret.set" || strings.Contains(d.Detail, "value") {
		t.Errorf("%+v", d)
	}
	if none, err := s.Audit(t.Context(), app.AuditFilter{Tenants: []string{"u"}}); err != nil || len(none) != 0 {
		t.Errorf("another tenant's: %v, %v", none, err)
	}
	if _, err := s.Audit(t.Context(), app.AuditFilter{Tenants: []string{"t"}, Act: "secret.ü", From: time.Now()}); err != nil {
		t.Error(err)
	}
}

func TestAuditIsAChain(t *testing.T) {
	chains(t, storetest.File(t), keeper(t, 1))
}

// Anyone who writes to the database itself, past the triggers, is found out.
func TestAuditDetectsTampering(t *testing.T) {
	for name, c := range map[string]struct {
		act    string
		broken int64
	}{
		"an entry is changed":            {`UPDATE audit SET user_name = 'bob' WHERE number = 5`, 5},
		"a time is changed":              {`UPDATE audit SET at = at + 1 WHERE number = 9`, 9},
		"an entry is taken out":          {`DELETE FROM audit WHERE number = 7`, 7},
		"the end is cut off":             {`DELETE FROM audit WHERE number > 15`, 16},
		"the end and its record are cut": {`DELETE FROM audit WHERE number > 15; UPDATE audit_heads SET number = 15, hash = (SELECT hash FROM audit WHERE number = 15)`, 15},
		"all is gone but the record":     {`DELETE FROM audit`, 1},
		"the record is gone":             {`DELETE FROM audit_heads`, 1},
		"two are exchanged":              {`UPDATE audit SET number = 99 WHERE number = 3; UPDATE audit SET number = 3 WHERE number = 4; UPDATE audit SET number = 4 WHERE number = 99`, 3},
	} {
		t.Run(name, func(t *testing.T) {
			file := storetest.File(t)
			s := openBy(t, file, keeper(t, 1))
			entries(t, s, 0, 20)
			db, err := sql.Open("sqlite", file)
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			if strings.Contains(c.act, " audit ") || strings.HasSuffix(c.act, " audit") {
				if _, err := db.ExecContext(t.Context(), c.act); err == nil || !strings.Contains(err.Error(), "only added to") {
					t.Errorf("the database lets it happen: %v", err)
				}
			}
			if _, err := db.ExecContext(t.Context(), `DROP TRIGGER audit_stays; DROP TRIGGER audit_remains; `+c.act); err != nil {
				t.Fatal(err)
			}
			if p := verify(t, s); p.Intact || p.FirstInvalid != c.broken || p.Reason == "" {
				t.Errorf("%+v", p)
			}
		})
	}
}

// What was written before there were chains is chained, in its order, and nothing of it is lost.
func TestOldAuditEntriesAreChained(t *testing.T) {
	file := storetest.File(t)
	_ = openBy(t, file, keeper(t, 1)).Close()
	db, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 1203 {
		if _, err := db.ExecContext(t.Context(), `INSERT INTO audit_unchained (at, tenant, user_name, act, object, detail) VALUES (?, 't', 'ada', 'cluster.create', ?, '')`,
			i+1, fmt.Sprint(i)); err != nil {
			t.Fatal(err)
		}
	}
	_ = db.Close()
	s := openBy(t, file, keeper(t, 1))
	if p := verify(t, s); !p.Intact || p.Entries != 1203 {
		t.Errorf("%+v", p)
	}
	list, err := s.Audit(t.Context(), app.AuditFilter{Tenants: []string{"t"}, OldestFirst: true, Limit: 1, After: 1000})
	if err != nil || len(list) != 1 || list[0].Object != "1000" {
		t.Errorf("%+v, %v", list, err)
	}
}

func BenchmarkAudit(b *testing.B) {
	s := openBy(b, filepath.Join(b.TempDir(), "muster.db"), keeper(b, 1))
	b.RunParallel(func(p *testing.PB) {
		for p.Next() {
			if err := s.AddAuditEntry(b.Context(), app.AuditEntry{Tenant: "t", At: time.Now(), Who: "ada", Act: "x", Object: "y"}); err != nil {
				b.Error(err)
			}
		}
	})
	b.StopTimer()
	began := time.Now()
	if p := verify(b, s); !p.Intact {
		b.Error(p)
	}
	b.ReportMetric(float64(time.Since(began).Nanoseconds())/float64(b.N), "verify-ns/entry")
}
