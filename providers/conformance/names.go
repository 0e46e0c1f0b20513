package conformance

import (
	"maps"
	"net/http"
	"slices"
	"sync/atomic"

	"muster/app"
	"muster/app/family"
)

// names are the promises of members that keep DNS records.
type names[S T[S]] struct{ Harness[S] }

// named holds a member that keeps DNS records to having a machine's name lead to it, to taking that back with the machine, and to leaving alone what
// is not ours.
func (h names[S]) named(t S) {
	n, ok := family.PowerOf[family.Namer](h.Open(t))
	if !ok || n.NameZone() == "" {
		t.Skip("the account has no DNS zone")
	}
	if h.Named == nil || h.Take == nil {
		t.Fatal("the harness must set Named and Take")
	}
	t.Run("normally", h.namedOnce)
	t.Run("leaves names of others alone", h.namedByOthers)
	t.Run("names of vanished machines", h.namedAlone)
	if h.Faults == nil {
		return
	}
	t.Run("with lost responses", func(t S) {
		const most = 50
		n := 1
		for h.namedAfter(t, n) {
			if n++; n > most {
				t.Fatalf("%d calls aren't enough", most)
			}
		}
	})
}

// hosted makes a machine whose name is in the zone.
func (h names[S]) hosted(t S, p family.Provider) (family.Namer, family.Machine) {
	t.Helper()
	n, _ := family.PowerOf[family.Namer](p)
	spec, _ := h.Spec(t, "named")
	spec.Hostname = "c1-n1." + n.NameZone()
	m := h.eventually(t, p, create(t, p, spec).ID)
	m.Hostname, m.Tags = spec.Hostname, spec.Tags
	return n, m
}

// leads wants a name to lead to an address, once, and the record beside it to be there once.
func (h names[S]) leads(t S, m family.Machine) {
	t.Helper()
	want := []string{"A " + m.Addresses[app.AddressAccess]}
	if v6 := m.Addresses["access_v6"]; v6 != "" {
		want = append(want, "AAAA "+v6)
	}
	if got := h.Named(t, m.Hostname); !slices.Equal(got, want) {
		t.Errorf("%s resolves to %q, want %q", m.Hostname, got, want)
	}
}

// free wants nothing of a name to be left.
func (h names[S]) free(t S, names ...string) {
	t.Helper()
	for _, name := range names {
		if got := h.Named(t, name); len(got) > 0 {
			t.Errorf("%s still resolves to %q", name, got)
		}
	}
}

func (h names[S]) namedOnce(t S) {
	p := h.Open(t)
	n, m := h.hosted(t, p)
	for range 2 {
		if err := n.SetName(t.Context(), m); err != nil {
			t.Fatalf("name: %v", err)
		}
		h.leads(t, m)
	}
	if err := n.SetName(done(t), m); err == nil {
		t.Error("a name is set with a cancelled context")
	}
	outside := m
	outside.Hostname = "c1-n1.elsewhere.invalid"
	wantCode(t, "a name outside the zone", n.SetName(t.Context(), outside), app.EInvalid)

	// It woke up at another address, has one of version 6 as well, and then not any more.
	for _, addresses := range []map[string]string{{app.AddressAccess: "198.51.100.7"}, {app.AddressAccess: "198.51.100.7", "access_v6": "2001:db8::7"}, {app.AddressAccess: "198.51.100.8"}} {
		m.Addresses = addresses
		if err := n.SetName(t.Context(), m); err != nil {
			t.Fatalf("name, at %v: %v", addresses, err)
		}
		h.leads(t, m)
	}
	// It is given to another cluster.
	before := m.Hostname
	m.Hostname, m.Tags = "c7-n7."+n.NameZone(), maps.Clone(m.Tags)
	m.Tags[family.TagCluster] = "c7"
	if err := n.SetName(t.Context(), m); err != nil {
		t.Fatalf("another name: %v", err)
	}
	h.free(t, before)
	h.leads(t, m)
	h.leave(t, p, m.ID)
	h.free(t, m.Hostname)
}

func (h names[S]) namedByOthers(t S) {
	p := h.Open(t)
	n, m := h.hosted(t, p)
	for kind, data := range map[string]string{"A": "203.0.113.99", "AAAA": "2001:db8::99", "CNAME": "www.example.org."} {
		taken := m
		taken.Hostname = "taken-" + string('a'+rune(len(kind))) + "." + n.NameZone()
		h.Take(t, taken.Hostname, kind, data)
		before := h.Named(t, taken.Hostname)
		wantCode(t, "a name with a record of type "+kind, n.SetName(t.Context(), taken), app.EConflict)
		if got := h.Named(t, taken.Hostname); !slices.Equal(got, before) {
			t.Errorf("someone else's record %q became %q", before, got)
		}
	}
	h.leave(t, p, m.ID)
	if got := h.Named(t, "taken-b."+n.NameZone()); len(got) != 1 {
		t.Errorf("someone else's record was deleted with the machine: %q remains", got)
	}
}

func (h names[S]) namedAlone(t S) {
	p := h.Open(t)
	n, m := h.hosted(t, p)
	s, ok := family.PowerOf[family.Sharer](p)
	if !ok {
		t.Fatal("a member with names must be a family.Sharer")
	}
	if err := n.SetName(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	ghost := family.Machine{Hostname: "c1-n2." + n.NameZone(), Addresses: map[string]string{app.AddressAccess: "198.51.100.9"}, Tags: maps.Clone(m.Tags)}
	ghost.Tags[family.TagIntent] = "ghost"
	if err := n.SetName(t.Context(), ghost); err != nil {
		t.Fatal(err)
	}
	things, err := s.Shared(t.Context(), map[string]string{family.TagInstallation: Installation, family.TagCluster: "c1"})
	if err != nil || len(things) != 2 {
		t.Fatalf("two names, but listed are %+v, %v", things, err)
	}
	for _, thing := range things {
		err := s.DeleteShared(t.Context(), thing.ID)
		if thing.Name == m.Hostname {
			wantCode(t, "the name of an existing machine", err, app.ETransient)
		} else if err != nil {
			t.Errorf("delete %s: %v", thing.ID, err)
		}
	}
	h.free(t, ghost.Hostname)
	h.leads(t, m)
	if others, err := s.Shared(t.Context(), map[string]string{family.TagInstallation: "someone-else"}); err != nil || len(others) > 0 {
		t.Errorf("of another installation: %+v, %v", others, err)
	}
	h.leave(t, p, m.ID)
	h.free(t, m.Hostname)
}

// namedAfter has the answer to the n-th change be lost while a name is set, changed and dropped; false where there are not so many.
func (h names[S]) namedAfter(t S, n int) bool {
	t.Helper()
	p := h.Open(t)
	namer, m := h.hosted(t, p)
	reads := h.Reads
	if reads == nil {
		reads = func(r *http.Request) bool { return r.Method == http.MethodGet }
	}
	var calls atomic.Int64
	h.Faults.Arm(Lost, 1, func(r *http.Request) bool { return !reads(r) && calls.Add(1) == int64(n) })
	again := func(what string, do func() error) {
		t.Helper()
		err := do()
		if err == nil {
			return
		}
		unclear(t, err)
		if err := do(); err != nil {
			t.Fatalf("%s, after the response to change %d was lost: %v", what, n, err)
		}
	}
	set := func() error { return namer.SetName(t.Context(), m) }
	again("name", set)
	h.leads(t, m)
	m.Addresses = map[string]string{app.AddressAccess: "198.51.100.7", "access_v6": "2001:db8::7"}
	again("another address", set)
	h.leads(t, m)
	again("delete", func() error { return p.Delete(t.Context(), m.ID) })
	came := h.Faults.Disarm() == 0
	h.free(t, m.Hostname)
	if s, ok := family.PowerOf[family.Sharer](p); ok {
		if things, err := s.Shared(t.Context(), map[string]string{family.TagInstallation: Installation}); err != nil || len(things) > 0 {
			t.Errorf("after the response to change %d was lost, the cluster still has %+v, %v", n, things, err)
		}
	}
	return came
}
