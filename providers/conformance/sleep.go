package conformance

import (
	"slices"
	"time"

	"muster/app"
	"muster/app/family"
)

// power is the promises about machines that sleep and wake.
type power[S T[S]] struct{ Harness[S] }

// sleeps holds a member that is a family.Sleeper to what that promises.
func (h power[S]) sleeps(t S) {
	p := h.Open(t)
	s, ok := family.PowerOf[family.Sleeper](p)
	if !ok {
		t.Skip("the member can't stop machines")
	}
	for _, id := range []string{"no-such-machine", "../escape", ""} {
		wantCode(t, "sleep of an unknown machine", s.Sleep(t.Context(), id), app.ENotFound)
		wantCode(t, "wake of an unknown machine", s.Wake(t.Context(), id), app.ENotFound)
	}
	spec, keys := h.Spec(t, "sleeper")
	m := h.eventually(t, p, create(t, p, spec).ID)
	if h.Login {
		h.ask(t, m, keys, "echo dream >$HOME/kept")
	}
	if err := s.Sleep(done(t), m.ID); err == nil {
		t.Error("sleep succeeds with a cancelled context")
	}
	err := s.Sleep(t.Context(), m.ID)
	if e := app.AsError(err); err != nil && e.Code == app.EInvalid && e.Reason == "cannot_sleep" {
		t.Skip("these machines can't be stopped:", err)
	}
	if err != nil {
		t.Fatalf("sleep: %v", err)
	}
	h.stopped(t, p, m.ID, spec)
	if h.Login {
		h.silent(t, m, keys)
	}
	if err := s.Sleep(t.Context(), m.ID); err != nil {
		t.Errorf("second sleep: %v", err)
	}
	if h.Reopen != nil {
		if c, ok := p.(family.ProviderCloser); ok {
			if err := c.Close(); err != nil {
				t.Fatalf("close: %v", err)
			}
		}
		p = h.Reopen(t)
		s = p.(family.Sleeper)
		h.stopped(t, p, m.ID, spec)
	}
	for range 2 { // a second time it runs already
		if err := s.Wake(t.Context(), m.ID); err != nil {
			t.Fatalf("wake: %v", err)
		}
	}
	woken := h.eventually(t, p, m.ID)
	if woken.HostKey != m.HostKey || woken.Hostname != m.Hostname || !woken.CreatedAt.Equal(m.CreatedAt) {
		t.Errorf("after waking it's %+v, before it was %+v", woken, m)
	}
	if h.Login {
		if got := h.ask(t, woken, keys, "cat $HOME/kept"); got != "dream" {
			t.Errorf("%q remains of its files", got)
		}
	}
	if err := s.Sleep(t.Context(), m.ID); err != nil {
		t.Fatalf("sleep again: %v", err)
	}
	if err := p.Delete(t.Context(), m.ID); err != nil {
		t.Fatalf("delete while asleep: %v", err)
	}
	wantCode(t, "wake after delete", s.Wake(t.Context(), m.ID), app.ENotFound)
}

// stopped waits until a machine is described, and listed, as stopped.
func (h power[S]) stopped(t S, p family.Provider, id string, spec family.MachineSpec) {
	t.Helper()
	for deadline := time.Now().Add(h.patience()); ; time.Sleep(h.pause()) {
		m, err := p.Describe(t.Context(), id)
		if err == nil && m.State == family.MachineStopped {
			break
		}
		if err != nil || time.Now().After(deadline) {
			t.Fatalf("machine %s doesn't stop: %+v, %v", id, m, err)
		}
	}
	if ids := idsOf(list(t, p, spec.Tags)); !slices.Equal(ids, []string{id}) {
		t.Errorf("while asleep the list returns %v, want only %s", ids, id)
	}
}

// silent wants a machine not to accept SSH, after a moment: a cloud may report it as stopped before its system has ended.
func (h Harness[S]) silent(t TB, m family.Machine, keys Keys) {
	t.Helper()
	for deadline := time.Now().Add(h.patience()); ; time.Sleep(h.pause()) {
		c, err := dial(m, keys)
		if err != nil {
			return
		}
		_ = c.Close()
		if time.Now().After(deadline) {
			t.Fatal("a sleeping machine accepts SSH")
		}
	}
}
