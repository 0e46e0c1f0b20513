package fleet_test

import (
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/fleet"
)

func TestOrphanStates(t *testing.T) {
	now := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	seen := now.Add(-10 * time.Minute)
	for name, c := range map[string]struct {
		mode  fleet.OrphanMode
		o     fleet.Orphan
		state fleet.OrphanState
		at    time.Time
	}{
		"ended":                      {fleet.OrphansDelete, fleet.Orphan{Kind: fleet.OrphanEnded, FirstSeen: seen}, fleet.OrphanDue, seen.Add(5 * time.Minute)},
		"a duplicate":                {fleet.OrphansDelete, fleet.Orphan{Kind: fleet.OrphanDuplicate, FirstSeen: seen}, fleet.OrphanDue, seen.Add(5 * time.Minute)},
		"unknown":                    {fleet.OrphansDelete, fleet.Orphan{Kind: fleet.OrphanUnknown, FirstSeen: seen}, fleet.OrphanReported, time.Time{}},
		"only reported":              {fleet.OrphansReport, fleet.Orphan{Kind: fleet.OrphanEnded, FirstSeen: seen}, fleet.OrphanReported, time.Time{}},
		"kept":                       {fleet.OrphansDelete, fleet.Orphan{Kind: fleet.OrphanEnded, FirstSeen: seen, Decision: fleet.DecideKeep}, fleet.OrphanKept, time.Time{}},
		"unknown, but ordered":       {fleet.OrphansReport, fleet.Orphan{Kind: fleet.OrphanUnknown, LastSeen: now, Decision: fleet.DecideDelete}, fleet.OrphanDue, now},
		"gone, whatever was ordered": {fleet.OrphansDelete, fleet.Orphan{Kind: fleet.OrphanEnded, DeletedAt: now, Decision: fleet.DecideDelete}, fleet.OrphanGone, time.Time{}},
	} {
		p := fleet.DefaultOrphanPolicy
		p.Mode = c.mode
		if state, at := p.Judge(c.o); state != c.state || !at.Equal(c.at) {
			t.Errorf("%s: %s at %s, want %s at %s", name, state, at, c.state, c.at)
		}
	}
}

func TestHowManyOrphansAPassDeletes(t *testing.T) {
	now := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	some := func(n, sightings int, age time.Duration, d fleet.OrphanDecision) (os []fleet.Orphan) {
		for i := range n {
			os = append(os, fleet.Orphan{ID: strings.Repeat("x", i+1), Kind: fleet.OrphanEnded, SeenCount: sightings, FirstSeen: now.Add(-age), LastSeen: now, Decision: d})
		}
		return os
	}
	for name, c := range map[string]struct {
		orphans      []fleet.Orphan
		machines     int
		chosen, held int
	}{
		"one of one":                      {some(1, 2, time.Hour, ""), 1, 1, 0},
		"seen once only":                  {some(1, 1, time.Hour, ""), 10, 0, 0},
		"seen twice, but just now":        {some(1, 2, time.Minute, ""), 10, 0, 0},
		"five of many":                    {some(9, 2, time.Hour, ""), 100, 5, 4},
		"a quarter of few":                {some(9, 2, time.Hour, ""), 9, 2, 7},
		"ordered ones have no bounds":     {some(9, 1, time.Minute, fleet.DecideDelete), 9, 9, 0},
		"ordered ones beside those bound": {append(some(3, 1, 0, fleet.DecideDelete), some(8, 2, time.Hour, "")...), 100, 8, 3},
		"nothing":                         {nil, 0, 0, 0},
	} {
		if chosen, held := fleet.DefaultOrphanPolicy.Choose(c.orphans, c.machines, now); len(chosen) != c.chosen || held != c.held {
			t.Errorf("%s: %d and %d held back, want %d and %d", name, len(chosen), held, c.chosen, c.held)
		}
	}
}

func TestReceiptAddsUp(t *testing.T) {
	now := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	r := fleet.NewReceipt(app.Cluster{ID: "c"}, []fleet.CloudResource{
		{ID: "b", Node: "n10", Price: 0.5, CreatedAt: now.Add(-4 * time.Hour), DeletedAt: now.Add(-2 * time.Hour)},
		{ID: "a", Node: "n2", Price: 0.25, CreatedAt: now.Add(-4 * time.Hour)},
		{ID: "c", Node: "n2", CreatedAt: now.Add(time.Hour), DeletedAt: now}, // made by a clock that is ahead
	}, fleet.Proof{}, now)
	if r.Remaining != 1 || r.Cost != 2 || r.Lifetime != 6*time.Hour || r.Unpriced != 1 || r.Lines[0].ID != "a" || r.Lines[1].Lifetime != 0 || r.Lines[2].Cost != 1 {
		t.Errorf("%+v", r)
	}
}

func TestReceiptsShowProofState(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	down := "Account eu cannot be listed from here: no route to host."
	for name, c := range map[string]struct {
		deleted time.Time
		proof   fleet.Proof
		at      time.Time
		state   fleet.ProofState
		words   string
	}{
		"not deleted": {time.Time{}, fleet.Proof{}, now, "", ""},
		"not checked yet": {now, fleet.Proof{}, now, fleet.ProofPending,
			"Proof pending: provider eu will be checked for remaining machines by 12:00:30 UTC."},
		"not checked, and late": {now, fleet.Proof{}, now.Add(time.Hour), fleet.ProofPending,
			"Proof pending: provider eu will be checked for remaining machines as soon as a server is available."},
		"the cloud is down": {now, fleet.Proof{How: down, CheckedAt: now.Add(time.Minute)}, now.Add(80 * time.Second), fleet.ProofFailed,
			"Proof pending: Account eu cannot be listed from here: no route to host. Last checked 2026-01-02 12:01:00 UTC; next check by 12:01:30 UTC."},
		"proven": {now, fleet.Proof{At: now.Add(time.Minute), How: "None listed.", CheckedAt: now.Add(time.Minute)}, now.Add(time.Hour), fleet.ProofProven,
			"Proven 2026-01-02 12:01:00 UTC: None listed."},
	} {
		r := fleet.NewReceipt(app.Cluster{ID: "c", Provider: "eu", DeletedAt: c.deleted}, nil, c.proof, c.at)
		if unproven := c.state == fleet.ProofPending || c.state == fleet.ProofFailed; r.Proof.State != c.state || r.ProofWords() != c.words || r.Unproven() != unproven ||
			unproven == r.Proof.NextAt.IsZero() {
			t.Errorf("%s: %+v\n%s", name, r.Proof, r.ProofWords())
		}
	}
}
