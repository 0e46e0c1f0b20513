package conformance

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"muster/app"
	"muster/app/family"
)

// story is the life of a single machine, from the account's check to the proof that nothing is left of it.
type story[S T[S]] struct {
	Harness[S]
	root S // accounts stay open until it ends
	p    family.Provider
	spec family.MachineSpec
	keys Keys
	m    family.Machine // empty before it was created

	unclear bool // whether a create was given up that the cloud may still carry out
}

// StoryMachines is how many machines RunStory has at most if the member keeps its promises; one that breaks them may make one more.
const StoryMachines = 1

// RunStory checks what a member promises with a single machine, so that it costs little in a real account. It's what
// `muster provider prove` does; Run checks more, with some thirty machines. It reports whether a create was given up that the cloud may still carry out.
func RunStory[S T[S]](t S, h Harness[S]) (unclear bool) {
	s := &story[S]{Harness: h, root: t, p: h.Open(t)}
	s.spec, s.keys = h.Spec(t, "story")
	s.spec.Zone, s.spec.Firewall = h.Zone, h.Firewall
	t.Run("the account has no problems", s.account)
	t.Run("a create that was cut off makes no second machine", s.create)
	t.Run("the machine starts and has an address", s.starts)
	t.Run("the machine has its tags and is listed by them", s.listed)
	t.Run("another process sees the same machine", s.reopens)
	t.Run("the machine proves its identity and accepts our key", s.signIn)
	t.Run("the cluster's firewall exists", s.firewall)
	t.Run("the machine sleeps, wakes and keeps its files", s.sleeps)
	t.Run("the machine is deleted", s.deletes)
	t.Run("nothing is left", s.nothingLeft)
	return s.unclear
}

func (s *story[S]) account(t S) {
	c, ok := family.PowerOf[family.AccountChecker](s.p)
	if !ok {
		t.Skip("this type of provider can't check accounts")
	}
	found, err := c.CheckAccount(t.Context(), family.AccountNeeds{Machines: []family.MachineNeed{
		{Count: StoryMachines, Flavor: s.spec.Flavor, Image: s.spec.Image, Zone: s.spec.Zone}}})
	if err != nil {
		t.Fatalf("check: %v", err)
	}
	for _, f := range found {
		text := strings.TrimSpace(strings.TrimSuffix(f.Message, ".") + ". " + f.Hint)
		switch {
		case f.OK:
		case f.Warning:
			t.Logf("warning: %s", text)
		default:
			t.Errorf("%s", text)
		}
	}
}

// cutOff are moments after which the first calls of a create are given up. A cloud may have received them or not.
var cutOff = []time.Duration{20 * time.Millisecond, 300 * time.Millisecond, time.Second}

func (s *story[S]) create(t S) {
	s.unclear = true
	for i, after := range cutOff {
		ctx, cancel := context.WithTimeout(t.Context(), after)
		_, err := s.p.Create(ctx, s.spec)
		cancel()
		if err == nil {
			break // the cloud was faster
		}
		if e := app.AsError(err); e.Code == app.EInvalid || e.Code == app.ECredentials || e.Code == app.EQuota {
			s.unclear = i > 0 // the earlier ones had no answer
			t.Fatalf("create: %v", err)
		}
	}
	s.m = lists[S]{s.Harness}.persist(t, s.p, s.spec)
	s.unclear = false
	again := create(t, s.p, s.spec)
	if s.m.ID == "" || again.ID != s.m.ID {
		t.Errorf("one intent created the machines %q and %q", s.m.ID, again.ID)
	}
	if ids := s.listing(t, map[string]string{family.TagInstallation: Installation}, s.m.ID); len(ids) > 1 {
		t.Errorf("one intent created %d machines: %s", len(ids), strings.Join(ids, ", "))
	}
	t.Logf("machine %s", s.m.ID)
}

// Patiently does something again, a second apart, while its error is one that passes, for as long as patience lasts.
func Patiently(ctx context.Context, patience time.Duration, do func() error) error {
	for deadline := time.Now().Add(patience); ; {
		err := do()
		code := app.CodeOf(err)
		if err == nil || code != app.ETransient && code != app.ETimeout && code != app.ERateLimit || time.Now().After(deadline) {
			return err
		}
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
			return err
		}
	}
}

// needed ends a check that needs the machine.
func (s *story[S]) needed(t S) {
	if s.m.ID == "" {
		t.Skip("there's no machine")
	}
}

func (s *story[S]) starts(t S) {
	s.needed(t)
	s.m = s.running(t)
	if s.Zone != "" && s.m.Zone != s.Zone {
		t.Errorf("the machine is in zone %q, not in %q", s.m.Zone, s.Zone)
	}
	t.Logf("%s", strings.TrimSpace(s.m.Note+" "+s.m.Zone))
}

// running waits until the machine runs. Only Create needs to know its host key.
func (s *story[S]) running(t S) family.Machine {
	t.Helper()
	m := s.eventually(t, s.p, s.m.ID)
	m.HostKey = cmp.Or(m.HostKey, s.m.HostKey)
	return m
}

// listing returns the ids that are listed once lists have caught up: these, or others.
func (s *story[S]) listing(t S, tags map[string]string, want ...string) []string {
	t.Helper()
	for deadline := time.Now().Add(family.ListsLate(s.p)); ; time.Sleep(s.pause()) {
		ids := idsOf(list(t, s.p, tags))
		if slices.Equal(ids, want) || time.Now().After(deadline) || t.Context().Err() != nil {
			return ids
		}
	}
}

func (s *story[S]) listed(t S) {
	s.needed(t)
	got, err := s.p.Describe(t.Context(), s.m.ID)
	if err != nil {
		t.Fatalf("describe: %v", err)
	}
	if !maps.Equal(got.Tags, s.spec.Tags) {
		t.Errorf("tags %v, want %v", got.Tags, s.spec.Tags)
	}
	if ids := s.listing(t, s.spec.Tags, s.m.ID); !slices.Equal(ids, []string{s.m.ID}) {
		t.Errorf("list returns %v, want only %s", ids, s.m.ID)
	}
}

func (s *story[S]) reopens(t S) {
	s.needed(t)
	if s.Reopen == nil {
		t.Skip("the harness can't reopen an account")
	}
	if c, ok := s.p.(family.ProviderCloser); ok {
		if err := c.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	}
	s.p = s.Reopen(s.root)
	if again := create(t, s.p, s.spec); again.ID != s.m.ID {
		t.Errorf("the same intent created a new machine %s", again.ID)
	}
}

func (s *story[S]) signIn(t S) {
	s.needed(t)
	if !s.Login {
		t.Skip("signing in was turned off")
	}
	if s.m.HostKey == "" {
		t.Skip("this type of provider can't hand over a host key, so Muster pins it at first contact")
	}
	if out := s.ask(t, s.m, s.keys, "echo hello >$HOME/kept; cat $HOME/kept"); out != "hello" {
		t.Errorf("the machine responds %q, want %q", out, "hello")
	}
	_, stranger := newKey(t)
	if c, err := dial(s.m, Keys{Host: s.keys.Host, Client: stranger}); err == nil {
		_ = c.Close()
		t.Error("the machine accepts a stranger's key")
	}
}

func (s *story[S]) firewall(t S) {
	s.needed(t)
	sharer, ok := family.PowerOf[family.Sharer](s.p)
	if !ok || s.Firewall == nil {
		t.Skip("this type of provider makes no firewalls")
	}
	things, err := sharer.Shared(t.Context(), map[string]string{family.TagCluster: s.spec.Tags[family.TagCluster]})
	if err != nil {
		t.Fatalf("list: %v", err)
	}
	if len(things) == 0 {
		t.Error("there is no firewall with the cluster's tags")
	}
	for _, thing := range things {
		t.Logf("%s %s", thing.Kind, thing.Name)
	}
}

func (s *story[S]) sleeps(t S) {
	s.needed(t)
	sleeper, ok := family.PowerOf[family.Sleeper](s.p)
	if !ok {
		t.Skip("this type of provider can't stop machines")
	}
	err := sleeper.Sleep(t.Context(), s.m.ID)
	if e := app.AsError(err); err != nil && e.Code == app.EInvalid && e.Reason == "cannot_sleep" {
		t.Skip("these machines can't be stopped:", err)
	}
	if err != nil {
		t.Fatalf("sleep: %v", err)
	}
	power[S]{s.Harness}.stopped(t, s.p, s.m.ID, s.spec)
	if err := sleeper.Wake(t.Context(), s.m.ID); err != nil {
		t.Fatalf("wake: %v", err)
	}
	woken := s.running(t)
	if woken.HostKey != s.m.HostKey {
		t.Errorf("the host key was %q and is %q", s.m.HostKey, woken.HostKey)
	}
	if s.Login && s.m.HostKey != "" {
		if got := s.ask(t, woken, s.keys, "cat $HOME/kept"); got != "hello" {
			t.Errorf("%q remains of its file, want %q", got, "hello")
		}
	}
}

func (s *story[S]) deletes(t S) {
	s.needed(t)
	for range 2 { // a second time it is gone
		err := Patiently(t.Context(), s.patience(), func() error { return s.p.Delete(t.Context(), s.m.ID) })
		if err != nil {
			t.Fatalf("delete: %v", err)
		}
	}
	_, err := s.p.Describe(t.Context(), s.m.ID)
	wantCode(t, "describe after delete", err, app.ENotFound)
}

func (s *story[S]) nothingLeft(t S) {
	if ids := s.listing(t, map[string]string{family.TagInstallation: Installation}); len(ids) > 0 {
		t.Errorf("these machines are left: %s", strings.Join(ids, ", "))
	}
	sharer, ok := family.PowerOf[family.Sharer](s.p)
	if !ok {
		return
	}
	for deadline := time.Now().Add(s.patience()); ; time.Sleep(s.pause()) {
		things, err := sharer.Shared(t.Context(), map[string]string{family.TagInstallation: Installation})
		if err != nil {
			t.Fatalf("list what a cluster shares: %v", err)
		}
		if len(things) == 0 {
			return
		}
		var errs []error
		for _, thing := range things {
			errs = append(errs, sharer.DeleteShared(t.Context(), thing.ID))
		}
		err = errors.Join(errs...)
		if err != nil && (time.Now().After(deadline) || app.CodeOf(err) != app.ETransient) || t.Context().Err() != nil {
			t.Fatalf("delete what a cluster shares: %v", err)
		}
	}
}
