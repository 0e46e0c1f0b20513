package policy

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"muster/app"
)

// quotaStore counts how often it is asked what a tenant with so many machines uses.
type quotaStore struct {
	QuotaStore
	nodes int
	takes time.Duration
	asked int
}

func (s *quotaStore) QuotaLimits(context.Context, string) ([]Quota, error) {
	return []Quota{{Scope: QuotaTenant}}, nil
}

func (s *quotaStore) Quotas(context.Context, string, time.Time) ([]QuotaUse, error) {
	s.asked++
	time.Sleep(s.takes)
	return []QuotaUse{{Used: Amounts{Nodes: float64(s.nodes)}}}, nil
}

func (s *quotaStore) QuotaLines(context.Context, string, string, []string, time.Time) ([]QuotaLine, error) {
	s.asked++
	time.Sleep(s.takes)
	return []QuotaLine{{Measure: MeasureNodes, Used: float64(s.nodes)}}, nil
}

// What large tenants use is kept for some seconds, what others use never is.
func TestUsageOfLargeTenantsIsCached(t *testing.T) {
	for _, c := range []struct {
		name  string
		nodes int
		takes time.Duration
		asked int
	}{{"a large tenant", manyNodes, 20 * time.Millisecond, 1}, {"any other, however long it takes", manyNodes - 1, time.Second, 3}} {
		synctest.Test(t, func(t *testing.T) {
			s := &quotaStore{nodes: c.nodes, takes: c.takes}
			p := NewQuotas(QuotasConfig{Now: time.Now, Store: s})
			root := app.Actor{Tenant: "t", User: "root", Role: app.RoleSuperadmin}
			for range 3 {
				if _, err := p.Quotas(t.Context(), root); err != nil {
					t.Fatal(err)
				}
			}
			if s.asked != c.asked {
				t.Errorf("%s: use was added up %d times, want %d", c.name, s.asked, c.asked)
			}
			s.asked = 0
			for range 3 {
				if _, err := p.QuotaLeft(t.Context(), root); err != nil {
					t.Fatal(err)
				}
			}
			if s.asked != c.asked {
				t.Errorf("%s: what is left was added up %d times, want %d", c.name, s.asked, c.asked)
			}
		})
	}
}
