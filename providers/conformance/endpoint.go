package conformance

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"muster/app"
	"muster/app/family"
	"muster/app/template"
)

// endpoint is the promises of members that speak to an endpoint over HTTP: see Harness.Faults.
type endpoint[S T[S]] struct{ Harness[S] }

// lostAnswers holds Create to one call per intent, whatever becomes of the answer: after it, a machine that was made is listed by its intent,
// and asking again returns it.
func (h endpoint[S]) lostAnswers(t S) {
	if h.Faults == nil {
		t.Skip("the member uses no endpoint")
	}
	for _, fault := range []Fault{Lost, Broken, Slow} {
		t.Run(string(fault), func(t S) {
			p := h.Open(t)
			spec, _ := h.Spec(t, "unclear")
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			before := h.Faults.Created()
			var givenUp atomic.Pointer[time.Time] // a real cloud may take long until the call that counts
			h.Faults.Arm(fault, 1, func(r *http.Request) bool {
				creates := h.Faults.Creates(r)
				if creates && fault == Slow {
					time.AfterFunc(slowFor/6, func() { now := time.Now(); givenUp.Store(&now); cancel() })
				}
				return creates
			})
			made, err := p.Create(ctx, spec)
			if at := givenUp.Load(); at != nil && time.Since(*at) > slowFor/2 {
				t.Errorf("create ran for %s after it was cancelled", time.Since(*at))
			}
			if left := h.Faults.Disarm(); left > 0 {
				t.Fatal("no call created a machine: the harness doesn't recognize it")
			}
			if n := h.Faults.Created() - before; n != 1 {
				t.Errorf("%d creating calls for one intent, want 1: the SDK retries them", n)
			}
			if err != nil {
				unclear(t, err)
			}
			wait(t, family.ListsLate(p))
			ids := h.carriedOut(t, p, spec)
			if len(ids) != 1 || err == nil && made.ID != ids[0] {
				t.Fatalf("machines of the intent %v, created %q", ids, made.ID)
			}
			again := create(t, p, spec)
			if again.ID != ids[0] {
				t.Errorf("a repeated create made %s next to %s", again.ID, ids[0])
			}
			if err := p.Delete(t.Context(), again.ID); err != nil {
				t.Fatal(err)
			}
			h.nothingLeft(t, p)
		})
	}
}

// carriedOut returns the machines of an intent, once there is one: a real cloud may carry out a call after its caller has given up.
func (h endpoint[S]) carriedOut(t S, p family.Provider, spec family.MachineSpec) []string {
	t.Helper()
	for deadline := time.Now().Add(h.patience()); ; time.Sleep(h.pause()) {
		ids := idsOf(list(t, p, map[string]string{family.TagInstallation: Installation, family.TagIntent: spec.Intent}))
		if len(ids) > 0 || time.Now().After(deadline) {
			return ids
		}
	}
}

// unclear wants an error that does not say that nothing was made.
func unclear(t TB, err error) {
	t.Helper()
	var e *app.Error
	if !errors.As(err, &e) {
		return // the family's wrapper returns network failures and time-outs their code
	}
	if e.Code != app.ETransient && e.Code != app.ETimeout {
		t.Errorf("a call with a lost response ends with %q: %v", e.Code, err)
	}
}

// failures holds every verb to the codes of failures of the cloud's side.
func (h endpoint[S]) failures(t S) {
	if h.Faults == nil {
		t.Skip("the member uses no endpoint")
	}
	p := h.Open(t)
	spec, _ := h.Spec(t, "exists")
	m := create(t, p, spec)
	other, _ := h.Spec(t, "other")
	verbs := map[string]func(context.Context) error{
		"create":   func(ctx context.Context) error { _, err := p.Create(ctx, other); return err },
		"describe": func(ctx context.Context) error { _, err := p.Describe(ctx, m.ID); return err },
		"list":     func(ctx context.Context) error { _, err := p.List(ctx, nil); return err },
		"delete":   func(ctx context.Context) error { return p.Delete(ctx, m.ID) },
	}
	if s, ok := family.PowerOf[family.Sleeper](p); ok {
		verbs["sleep"] = func(ctx context.Context) error { return s.Sleep(ctx, m.ID) }
	}
	h.failEach(t, verbs)
	if ids := idsOf(list(t, p, nil)); !slices.Equal(ids, []string{m.ID}) {
		t.Errorf("machines %v remain of %s", ids, m.ID)
	}
}

// failEach holds each verb to the codes of failures of the cloud's side.
func (h endpoint[S]) failEach(t S, verbs map[string]func(context.Context) error) {
	const always = 1000
	for verb, do := range verbs {
		for fault, code := range map[Fault]app.Code{Down: app.ETransient, Throttled: app.ERateLimit} {
			h.Faults.Arm(fault, always, nil)
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			calls, began := h.Faults.Calls(), time.Now()
			err := do(ctx)
			cancel()
			h.Faults.Disarm()
			if e := app.AsError(err); err == nil || e.Code != code {
				t.Errorf("%s, %s: %v, want code %q", verb, fault, err, code)
			} else if fault == Down && e.Reason != app.ReasonCloudBroken {
				t.Errorf("%s, %s: it doesn't report that the cloud is broken: %+v", verb, fault, e)
			} else if fault == Throttled && e.RetryAfter == 0 {
				t.Errorf("%s, %s: no retry time", verb, fault)
			}
			if n, took := h.Faults.Calls()-calls, time.Since(began); n > 4 || took > 10*time.Second {
				t.Errorf("%s, %s: %d calls in %s: Muster decides when to retry", verb, fault, n, took)
			}
		}
	}
}

// refusals holds Create to the codes of the cloud's own refusals, and to making nothing.
func (h endpoint[S]) refusals(t S) {
	if len(h.Refusals) == 0 {
		t.Skip("not set in the harness")
	}
	for _, refusal := range h.Refusals {
		t.Run(refusal.Name, func(t S) {
			p := h.Open(t)
			spec, _ := h.Spec(t, "refused")
			undo := refusal.Arrange()
			_, err := p.Create(t.Context(), spec)
			undo()
			e := app.AsError(err)
			if err == nil || e.Code != refusal.Code {
				t.Errorf("%v has code %q, want %q", err, app.CodeOf(err), refusal.Code)
			}
			if err != nil && len(e.Message) < 10 {
				t.Errorf("%q isn't a message for people", e.Message)
			}
			wait(t, family.ListsLate(p))
			h.nothingLeft(t, p)
			if m := create(t, p, spec); m.ID == "" {
				t.Error("can't be created afterwards")
			}
		})
	}
}

// Refusal is something that the cloud says no to.
type Refusal struct {
	Name string
	Code app.Code
	// Arrange has the endpoint refuse from now on, and returns what ends that.
	Arrange func() (undo func())
}

// partial holds the member to cleaning up: where a call that follows the one that makes the machine fails, what was made is found, made
// whole or given back, and nothing is left in the end.
func (h endpoint[S]) partial(t S) {
	if len(h.Partial) == 0 {
		t.Skip("creating is a single call")
	}
	for name, which := range h.Partial {
		for _, fault := range []Fault{Down, Lost} {
			t.Run(name+" "+string(fault), func(t S) {
				p := h.Open(t)
				spec, _ := h.Spec(t, "partial")
				spec.Firewall = h.Firewall
				h.Faults.Arm(fault, 1, which)
				_, err := p.Create(t.Context(), spec)
				if h.Faults.Disarm() > 0 {
					t.Fatal("the call didn't arrive")
				}
				if err != nil {
					unclear(t, err)
				}
				wait(t, family.ListsLate(p))
				m := create(t, p, spec)
				if ids := idsOf(list(t, p, nil)); !slices.Equal(ids, []string{m.ID}) {
					t.Errorf("machines %v, want only %s", ids, m.ID)
				}
				if got := h.eventually(t, p, m.ID); got.Tags[family.TagIntent] != spec.Intent {
					t.Errorf("tags %v", got.Tags)
				}
				if err := p.Delete(t.Context(), m.ID); err != nil {
					t.Fatal(err)
				}
				h.nothingLeft(t, p)
			})
		}
	}
}

// firewalls holds a member that makes them to making one for a cluster, to telling it, and to removing it.
func (h endpoint[S]) firewalls(t S) {
	if h.Firewall == nil {
		t.Skip("the member has no firewalls")
	}
	p := h.Open(t)
	s, ok := family.PowerOf[family.Sharer](p)
	if !ok {
		t.Fatal("a member with firewalls must be a family.Sharer")
	}
	tags := map[string]string{family.TagInstallation: Installation, family.TagCluster: "c1"}
	machines, err := atOnce(3, func(i int) (family.Machine, error) {
		spec, _ := h.Spec(t, string(rune('a'+i)))
		spec.Firewall = h.Firewall
		return p.Create(t.Context(), spec)
	})
	if err != nil {
		t.Fatal(err)
	}
	things, err := s.Shared(t.Context(), tags)
	if err != nil || len(things) == 0 || things[0].Tags[family.TagCluster] != "c1" || things[0].Tags[family.TagInstallation] != Installation {
		t.Fatalf("created for the cluster: %+v, %v", things, err)
	}
	if others, err := s.Shared(t.Context(), map[string]string{family.TagInstallation: Installation, family.TagCluster: "c2"}); err != nil || len(others) > 0 {
		t.Errorf("of another cluster: %+v, %v", others, err)
	}
	for _, m := range machines {
		if err := p.Delete(t.Context(), m.ID); err != nil {
			t.Fatal(err)
		}
	}
	wait(t, family.ListsLate(p))
	for range 2 {
		for _, thing := range things {
			if err := s.DeleteShared(t.Context(), thing.ID); err != nil {
				t.Errorf("delete %s: %v", thing.ID, err)
			}
		}
	}
	h.nothingLeft(t, p)
}

// offers holds what the account has to offer to what can be made.
func (h endpoint[S]) offers(t S) {
	p := h.Open(t)
	o, ok := family.PowerOf[family.Offerer](p)
	if !ok {
		t.Skip("the member has no offers")
	}
	offers, err := o.Offers(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(offers.Flavors)+len(offers.Images)+len(offers.Zones) == 0 && h.Faults == nil {
		t.Skip("the underlying member has no offers")
	}
	if !slices.ContainsFunc(offers.Flavors, func(f family.FlavorOffer) bool { return f.Flavor.Flavor == h.Flavor }) {
		t.Errorf("flavor %s isn't in %+v", h.Flavor, offers.Flavors)
	}
	if len(offers.Images) > 0 && !slices.ContainsFunc(offers.Images, func(i family.ImageOffer) bool { return i.Image.Image == h.Image }) {
		t.Errorf("image %s isn't in %+v", h.Image, offers.Images)
	}
	if !slices.IsSortedFunc(offers.Flavors, func(a, b family.FlavorOffer) int { return compare(a.Flavor.Flavor, b.Flavor.Flavor) }) {
		t.Error("flavors are not sorted")
	}
	_, err = o.Offers(done(t))
	if err == nil {
		t.Error("offers succeed with a cancelled context")
	}
}

func compare(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// checks holds the account's check to finding what is wrong, in a sentence that helps.
func (h endpoint[S]) checks(t S) {
	p := h.Open(t)
	c, ok := family.PowerOf[family.AccountChecker](p)
	if !ok {
		t.Skip("the member has no account checks")
	}
	needs := family.AccountNeeds{Machines: []family.MachineNeed{{Count: 2, Flavor: template.Flavor{Flavor: h.Flavor}, Image: template.Image{Image: h.Image}, Zone: h.Zone}}}
	found, err := c.CheckAccount(t.Context(), needs)
	if err != nil || len(found) == 0 {
		t.Fatalf("%+v, %v", found, err)
	}
	for _, f := range found {
		if !f.OK && !f.Warning || f.Message == "" {
			t.Errorf("a good account: %+v", f)
		}
	}
	apart, err := c.CheckAccount(t.Context(), family.AccountNeeds{Machines: []family.MachineNeed{{Count: 1, Flavor: needs.Machines[0].Flavor}, {Count: 1, Image: needs.Machines[0].Image}}})
	if err != nil || slices.ContainsFunc(apart, func(f family.Finding) bool { return !f.OK && !f.Warning }) {
		t.Errorf("a flavor and an image, each alone: %+v, %v", apart, err)
	}
	catalog := family.AccountNeeds{Each: true, Machines: []family.MachineNeed{{Count: 1, Image: needs.Machines[0].Image}}}
	for range 60 {
		catalog.Machines = append(catalog.Machines, family.MachineNeed{Count: 1, Flavor: needs.Machines[0].Flavor})
	}
	each, err := c.CheckAccount(t.Context(), catalog)
	if err != nil || slices.ContainsFunc(each, func(f family.Finding) bool { return !f.OK && !f.Warning }) {
		t.Errorf("a catalog with more kinds than the quota allows at once, each alone: %+v, %v", each, err)
	}
	for about, spoil := range map[string]func(*family.MachineNeed){
		family.AboutFlavor: func(n *family.MachineNeed) { n.Flavor.Flavor = "no-such-flavor" },
		family.AboutImage:  func(n *family.MachineNeed) { n.Image.Image = "no-such-image" },
	} {
		if len(h.Wrong) == 0 && !slices.ContainsFunc(found, func(f family.Finding) bool { return f.About == about }) {
			continue // all that is known of the account is that it answers
		}
		bad := needs.Machines[0]
		spoil(&bad)
		found, err := c.CheckAccount(t.Context(), family.AccountNeeds{Machines: []family.MachineNeed{bad}})
		h.finds(t, "an unknown "+about, found, err, about)
	}
	for _, w := range h.Wrong {
		t.Run(w.Name, func(t S) {
			p, undo := w.Open(t)
			defer undo()
			found, err := p.(family.AccountChecker).CheckAccount(t.Context(), needs)
			h.finds(t, w.Name, found, err, w.About)
		})
	}
}

// Wrong is an account with something wrong in it.
type Wrong[S T[S]] struct {
	Name  string
	About string // what the finding is about, such as family.AboutCredentials
	Open  func(t S) (p family.Provider, undo func())
}

func (h endpoint[S]) finds(t S, what string, found []family.Finding, err error, about string) {
	t.Helper()
	if err != nil {
		t.Errorf("%s: %v", what, err)
		return
	}
	i := slices.IndexFunc(found, func(f family.Finding) bool { return !f.OK && !f.Warning && f.About == about })
	if i < 0 {
		t.Errorf("%s: no problem found with %s: %+v", what, about, found)
		return
	}
	if f := found[i]; len(f.Message) < 15 || f.Code == "" || f.Hint == "" {
		t.Errorf("%s: the finding has no hint: %+v", what, f)
	}
	t.Logf("%s: %s %s", what, found[i].Message, found[i].Hint)
}

// nothingLeft removes what was made for clusters as a whole, and looks whether the account is empty.
func (h Harness[S]) nothingLeft(t S, p family.Provider) {
	t.Helper()
	if ids := idsOf(list(t, p, nil)); len(ids) > 0 {
		t.Errorf("machines %v remain", ids)
	}
	if s, ok := family.PowerOf[family.Sharer](p); ok {
		things, err := s.Shared(t.Context(), map[string]string{family.TagInstallation: Installation})
		if err != nil {
			t.Error(err)
		}
		for _, thing := range things {
			if err := s.DeleteShared(t.Context(), thing.ID); err != nil {
				t.Errorf("delete %s: %v", thing.ID, err)
			}
		}
	}
	if h.Left != nil {
		if left := h.Left(t); len(left) > 0 {
			t.Errorf("remaining in the account: %v", left)
		}
	}
}
