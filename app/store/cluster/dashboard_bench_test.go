package cluster_test

import (
	"fmt"
	"testing"
	"time"

	"muster/app"
	"muster/app/dashboard"
	clusterdb "muster/app/store/cluster"
	"muster/app/store/db"
	"muster/app/store/db/dbtest"
	usagedb "muster/app/store/usage"
	"muster/app/usage"
)

// BenchmarkHome is the home of one of 50 people in a tenant with 10,000 clusters, and what their machines have cost this month.
func BenchmarkHome(b *testing.B) {
	d := dbtest.OnDisk(b)
	homes, used := clusterdb.New(d), usagedb.New(d)
	now := time.Date(2030, 5, 20, 12, 0, 0, 0, time.UTC)
	const count = 10_000
	err := d.Write(b.Context(), func(t *db.Tx) error {
		if err := t.ExecChunks(count, `INSERT INTO clusters (id, tenant, number, name, owner, template, provider, size, services, status, message, cost_per_hour,
			dns_suffix, definition, ssh_public_key, ssh_key, created_at, expires_at, deleted_at) VALUES `,
			`(?, 't', ?, ?, ?, 'web', 'p', 3, '["web"]', ?, '', 0.3, '', '{}', '', '', ?, ?, 0)`, ``, func(args []any, i int) []any {
				return append(args, fmt.Sprintf("c%d", i), i, fmt.Sprintf("c%d", i), fmt.Sprintf("u%d", i%50), []string{"active", "pending", "failed"}[i%97%3],
					db.Micros(now), db.Micros(now.Add(time.Duration(i)*time.Minute)))
			}); err != nil {
			return err
		}
		if err := t.ExecChunks(count, `INSERT INTO operations (tenant, cluster, kind, status, requester, plan_hash, message, total, done, unfinished, active, expected,
			created_at, started_at, ended_at) VALUES `,
			`('t', ?, 'create', 'succeeded', 'u', '', '', 10, 10, 0, 0, 0, ?, 0, 0)`, ``, func(args []any, i int) []any { return append(args, fmt.Sprintf("c%d", i), db.Micros(now)) }); err != nil {
			return err
		}
		return t.ExecChunks(3*count, `INSERT INTO resources (intent, kind, id, provider, tenant, cluster, node, zone, price, created_at, deleted_at, owner, template, hardware, cpu) VALUES `,
			`(?, 'machine', ?, 'p', 't', ?, 'n1', '', 0.1, ?, 0, ?, 'web', 'small', 2)`, ``, func(args []any, i int) []any {
				return append(args, fmt.Sprintf("i%d", i), fmt.Sprintf("m%d", i), fmt.Sprintf("c%d", i/3), db.Micros(now.Add(-time.Duration(i%400)*time.Hour)), fmt.Sprintf("u%d", i/3%50))
			})
	})
	if err != nil {
		b.Fatal(err)
	}
	q := dashboard.Query{Tenant: "t", Owner: "u7", Clusters: 8, EndsBy: now.Add(72 * time.Hour), Leases: 5, Notices: 6, AmongNotices: 1000, Reader: app.NoticeReader{User: "u7"}}
	b.Run("home", func(b *testing.B) {
		for b.Loop() {
			if h, err := homes.Home(b.Context(), q); err != nil || h.Live() != count/50 {
				b.Fatal(h.Live(), err)
			}
		}
	})
	for name, owner := range map[string]string{"mine": "u7", "all": ""} {
		b.Run("month of "+name, func(b *testing.B) {
			for b.Loop() {
				u := usage.Query{Tenant: "t", Owner: owner, From: app.MonthOf(now).Start, To: now, By: usage.ByNothing, Unit: 24 * time.Hour}
				if err := used.Usage(b.Context(), u, func(usage.Delta) error { return nil }); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
