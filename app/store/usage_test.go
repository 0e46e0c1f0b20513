package store

import (
	"fmt"
	"os"
	"syscall"
	"testing"
	"time"

	"muster/app"
	"muster/app/policy"
	"muster/app/store/db"
	"muster/app/usage"
)

// yearOfMachines fills a store with machines of a year, 50 users and 10 tenants of which the first has nearly all.
func yearOfMachines(t testing.TB, s *Store, count int, end time.Time) {
	t.Helper()
	year := 365 * 24 * time.Hour
	err := s.Write(t.Context(), func(t *db.Tx) error {
		return t.ExecChunks(count, `INSERT INTO resources (intent, kind, id, provider, tenant, cluster, node, zone, price, created_at, deleted_at, owner, template, hardware, cpu) VALUES `,
			`(?, 'machine', ?, ?, ?, ?, 'n1', '', ?, ?, ?, ?, ?, ?, ?)`, ``, func(args []any, i int) []any {
				made := end.Add(-year + time.Duration(i)*(year/time.Duration(count)))
				gone := made.Add(time.Duration(1+i%200) * 37 * time.Minute)
				tenant, at := "t", db.Micros(gone)
				if i%20 == 0 {
					tenant = fmt.Sprintf("t%d", i%9)
				}
				if gone.After(end) {
					at = 0
				}
				id := fmt.Sprintf("m%d", i)
				return append(args, id, id, fmt.Sprintf("p%d", i%3), tenant, fmt.Sprintf("c%d", i/4), float64(i%7)/10, db.Micros(made), at, fmt.Sprintf("u%d", i%50),
					fmt.Sprintf("t%d", i%12), fmt.Sprintf("h%d", i%5), float64(i%9))
			})
	})
	if err != nil {
		t.Fatal(err)
	}
	err = s.Write(t.Context(), func(t *db.Tx) error {
		return t.ExecChunks(count/5, `INSERT INTO cluster_labels (cluster, key, tenant, value) VALUES `, `(?, 'cost-centre', 't', ?)`, ``, func(args []any, i int) []any {
			return append(args, fmt.Sprintf("c%d", i), fmt.Sprintf("%d", i%20))
		})
	})
	if err != nil {
		t.Fatal(err)
	}
}

// cpuTime is what this process has used so far, which others on the host do not add to.
func cpuTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// TestOneYearOfUsage tells how long sums over a year of 100,000 machines take. It measures only where it is asked for, with
// USAGE=100000; else it tries a tenth and how much comes out of the database.
func TestOneYearOfUsage(t *testing.T) {
	s := onDisk(t)
	yearOfUsage(t, s)
}

func yearOfUsage(t *testing.T, s *Store) {
	count := 10_000
	if os.Getenv("USAGE") != "" {
		count = 100_000
	}
	end := time.Date(2026, 11, 21, 10, 30, 0, 0, time.UTC)
	yearOfMachines(t, s, count, end)
	for _, c := range []struct {
		by   usage.GroupBy
		unit time.Duration
		from time.Time
		all  string
		most int // changes that leave the database
	}{
		{usage.ByNothing, 24 * time.Hour, end.AddDate(-1, 0, 0), "", 367},
		{usage.ByUser, 24 * time.Hour, end.AddDate(-1, 0, 0), "t", 50 * 367},
		{usage.ByCluster, 24 * time.Hour, end.AddDate(-1, 0, 0), "t", 2 * count},
		{usage.ByLabel + "cost-centre", 24 * time.Hour, end.AddDate(-1, 0, 0), "t", 21 * 367},
		{usage.ByUser, 24 * time.Hour, app.MonthOf(end).Start, "t", 50 * 22},
		{usage.ByTemplate, time.Hour, end.AddDate(0, 0, -7), "t", 12 * 170},
	} {
		began, busy := time.Now(), cpuTime()
		changes := 0
		hours := 0.0
		err := s.Usage(t.Context(), usage.Query{Tenant: c.all, From: c.from, To: end, By: c.by, Unit: c.unit}, func(d usage.Delta) error {
			changes++
			hours += d.Nodes
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if hours != 0 || changes == 0 || changes > c.most {
			t.Errorf("by %s: %d changes, want at most %d; %g machines have no end", c.by, changes, c.most, hours)
		}
		t.Logf("%d machines, by %s, since %s, each %s: %s (%s of CPU) for %d changes", count, c.by, c.from.Format(time.DateOnly), c.unit,
			time.Since(began).Round(time.Millisecond), (cpuTime() - busy).Round(time.Millisecond), changes)
	}
	for _, q := range []policy.Quota{{Scope: policy.QuotaTenant}, {Scope: policy.QuotaUser, Name: "u1"}, {Scope: policy.QuotaGroup, Name: "g"}} {
		q.Limits.Nodes, q.ChangedAt = new(float64), end
		if err := s.SetQuota(t.Context(), app.Actor{Tenant: "t", User: "u1"}, q); err != nil {
			t.Fatal(err)
		}
	}
	began := time.Now()
	uses, err := s.Quotas(t.Context(), "t", end)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("what of %d quotas is used this month in %s", len(uses), time.Since(began).Round(100*time.Microsecond))
}
