package aws

import (
	"testing"
	"time"

	appfamily "muster/app/family"
	"muster/providers/providertest"
)

func TestInterruptionsOfSpotMachinesAreListed(t *testing.T) {
	r := newRegion(t)
	plain := r.open(t, nil)
	own := providertest.Eventually(t, plain, mustCreate(t, plain, specOf(t, "dear")).ID)
	all := map[string]string{appfamily.TagInstallation: own.Tags[appfamily.TagInstallation]}
	leaves := func(id string) time.Time {
		t.Helper()
		found, err := plain.List(t.Context(), all)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range found {
			if m.ID == id {
				return m.LeavesAt
			}
		}
		t.Fatalf("%s isn't listed", id)
		return time.Time{}
	}
	asked := func() int {
		r.sim.mu.Lock()
		defer r.sim.mu.Unlock()
		return r.sim.asked["DescribeSpotInstanceRequests"]
	}
	if at := leaves(own.ID); !at.IsZero() || asked() != 0 {
		t.Errorf("without spot machines, one leaves at %s, and EC2 is asked %d times", at, asked())
	}
	c := r.open(t, map[string]any{"spot": "true"})
	cheap := providertest.Eventually(t, c, mustCreate(t, c, specOf(t, "cheap")).ID)
	if at := leaves(cheap.ID); !at.IsZero() || asked() != 1 {
		t.Errorf("nothing is announced, and it leaves at %s; asked %d times", at, asked())
	}
	marked := time.Now().UTC().Truncate(time.Second)
	mark := func(code string) {
		r.sim.mu.Lock()
		defer r.sim.mu.Unlock()
		i := r.sim.byID(cheap.ID)
		i.marked, i.markedAt = code, marked
	}
	mark("instance-terminated-by-user")
	if at := leaves(cheap.ID); !at.IsZero() {
		t.Errorf("a user ended it, and it leaves at %s", at)
	}
	for _, code := range []string{"instance-terminated-no-capacity", "instance-terminated-by-experiment", "marked-for-termination"} {
		mark(code)
		if at := leaves(cheap.ID); !at.Equal(marked.Add(2 * time.Minute)) {
			t.Errorf("%s: it leaves at %s, want two minutes after %s", code, at, marked)
		}
	}
	if at := leaves(own.ID); !at.IsZero() {
		t.Errorf("another one leaves at %s", at)
	}
	before := asked()
	one := map[string]string{appfamily.TagInstallation: all[appfamily.TagInstallation], appfamily.TagIntent: cheap.Tags[appfamily.TagIntent]}
	if _, err := plain.List(t.Context(), one); err != nil || asked() != before {
		t.Errorf("the list of a step: %v, asked %d times more", err, asked()-before)
	}

	// Without the permission, lists are what they were, and the check warns.
	r.sim.mu.Lock()
	r.sim.denied["DescribeSpotInstanceRequests"] = true
	r.sim.mu.Unlock()
	if at := leaves(cheap.ID); !at.IsZero() {
		t.Errorf("not allowed to ask, it leaves at %s", at)
	}
	found, err := c.CheckAccount(t.Context(), appfamily.AccountNeeds{})
	warned := 0
	for _, f := range found {
		if f.Subject == "ec2:DescribeSpotInstanceRequests" && f.Warning && !f.OK {
			warned++
		}
	}
	if err != nil || warned != 1 {
		t.Errorf("%d warnings, %v: %+v", warned, err, found)
	}
}
