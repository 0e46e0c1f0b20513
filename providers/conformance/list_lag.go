package conformance

import (
	"fmt"
	"slices"
	"time"

	"muster/app"
	"muster/app/family"
)

// Late is an account whose lists lack what was just made.
type Late struct {
	// Lag is for how long a list lacks a machine that was made; no longer than what the member says by family.LateLister, and long enough for a few calls.
	Lag time.Duration
	// Open returns the same account, each time as another process would see it.
	Open func() family.Provider
}

// lists are the promises of members whose lists lag behind.
type lists[S T[S]] struct{ Harness[S] }

// late holds a member whose cloud lists late to what the engine rests on: an intent is one machine also where it is asked for again while no list shows the
// first, what is not listed yet can be deleted, and once family.ListsLate has passed the list shows what is there. Another process that follows a lost
// answer looks
// twice, so long apart, before it asks; the same process need not.
func (h lists[S]) late(t S) {
	if h.Late == nil {
		if _, ok := h.Open(t).(family.LateLister); ok && h.Faults != nil {
			t.Fatal("the member's lists lag: the harness must have a lagging endpoint")
		}
		t.Skip("lists are immediately consistent")
	}
	t.Run("requested again", h.lateAgain)
	t.Run("deleted before it's listed", h.lateDeleted)
	if h.Faults == nil {
		return
	}
	for _, fault := range []Fault{Lost, Broken} {
		t.Run(fmt.Sprintf("requested again after a response that was %s", fault), func(t S) { h.lateUnclear(t, fault, false) })
		t.Run(fmt.Sprintf("requested by another process after a response that was %s", fault), func(t S) { h.lateUnclear(t, fault, true) })
	}
}

func (h lists[S]) lateAgain(t S) {
	account, p := h.lateAccount(t)
	spec, _ := h.Spec(t, "late")
	m := create(t, p, spec)
	if again := h.persist(t, p, spec); again.ID != m.ID {
		t.Errorf("a repeated create made %s next to %s", again.ID, m.ID)
	}
	h.oneOf(t, account.Open(), spec, m.ID)
}

func (h lists[S]) lateDeleted(t S) {
	account, p := h.lateAccount(t)
	spec, _ := h.Spec(t, "late")
	m := create(t, p, spec)
	if err := account.Open().Delete(t.Context(), m.ID); err != nil {
		t.Fatalf("delete before it's listed: %v", err)
	}
	_, err := p.Describe(t.Context(), m.ID)
	wantCode(t, "describe after a delete before it's listed", err, app.ENotFound)
	wait(t, family.ListsLate(p))
	if ids := idsOf(list(t, p, spec.Tags)); len(ids) > 0 {
		t.Errorf("a machine deleted before it was listed is listed: %v", ids)
	}
	again := h.persist(t, p, spec)
	if again.ID == m.ID && !again.CreatedAt.After(m.CreatedAt) {
		t.Errorf("created again, the deleted machine %s is returned", m.ID)
	}
	h.oneOf(t, account.Open(), spec, again.ID)
}

func (h lists[S]) lateUnclear(t S, fault Fault, byAnother bool) {
	account, p := h.lateAccount(t)
	spec, _ := h.Spec(t, "late")
	began := time.Now()
	h.Faults.Arm(fault, 1, h.Faults.Creates)
	_, err := p.Create(t.Context(), spec)
	if h.Faults.Disarm() > 0 {
		t.Fatal("no call created a machine: the harness doesn't recognize it")
	}
	if err != nil {
		unclear(t, err)
		ids := idsOf(list(t, p, spec.Tags))
		switch early := time.Since(began) < account.Lag; {
		case early && len(ids) > 0:
			t.Errorf("%v is listed immediately: the harness's endpoint doesn't lag", ids)
		case !early:
			t.Logf("it took %s until the repeated request: lists may have caught up", time.Since(began))
		}
	}
	if byAnother {
		p = account.Open()
		if len(list(t, p, spec.Tags)) == 0 {
			wait(t, family.ListsLate(p))
		}
		if ids := idsOf(list(t, p, spec.Tags)); len(ids) != 1 {
			t.Fatalf("the second look returns %v, want the machine with the lost response", ids)
		}
	}
	h.oneOf(t, account.Open(), spec, h.persist(t, p, spec).ID)
}

func (h lists[S]) lateAccount(t S) (Late, family.Provider) {
	t.Helper()
	account := h.Late(t)
	p := account.Open()
	if late := family.ListsLate(p); account.Lag <= 0 || account.Lag > late {
		t.Fatalf("lists lag by %s, but the member declares %s", account.Lag, late)
	}
	return account, p
}

// persist asks for a machine until it knows which it is, as the engine does.
func (h lists[S]) persist(t S, p family.Provider, spec family.MachineSpec) family.Machine {
	t.Helper()
	for deadline := time.Now().Add(h.patience()); ; time.Sleep(h.pause()) {
		m, err := p.Create(t.Context(), spec)
		if err == nil {
			return m
		}
		if app.CodeOf(err) != app.ETransient || time.Now().After(deadline) {
			t.Fatalf("create %s again: %v", spec.Intent, err)
		}
	}
}

// oneOf wants just one machine of an intent once lists are true, and removes it.
func (h lists[S]) oneOf(t S, p family.Provider, spec family.MachineSpec, id string) {
	t.Helper()
	wait(t, family.ListsLate(p))
	ids := idsOf(list(t, p, map[string]string{family.TagInstallation: Installation, family.TagIntent: spec.Intent}))
	if !slices.Equal(ids, []string{id}) {
		t.Errorf("%s later the intent's machines are %v, want only %s", family.ListsLate(p), ids, id)
	}
	for _, id := range ids {
		if err := p.Delete(t.Context(), id); err != nil {
			t.Fatal(err)
		}
	}
	wait(t, family.ListsLate(p))
	h.nothingLeft(t, p)
}
