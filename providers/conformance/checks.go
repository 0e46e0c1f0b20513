package conformance

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"muster/app"
	"muster/app/family"
	"muster/app/label"
)

func (h Harness[S]) lifeCycle(t S) {
	p := h.Open(t)
	spec, keys := h.Spec(t, "life")
	made := create(t, p, spec)
	if made.ID == "" {
		t.Fatal("the machine has no ID")
	}
	got, err := p.Describe(t.Context(), made.ID)
	if err != nil {
		t.Fatalf("describe: %v", err)
	}
	if got.ID != made.ID || got.Hostname != spec.Hostname {
		t.Errorf("described as %q %q, want %q %q", got.ID, got.Hostname, made.ID, spec.Hostname)
	}
	if got.State == family.MachineStopped {
		t.Errorf("a new machine is %s (%s)", got.State, got.Note)
	}
	if h.OwnHostKeys {
		if got.HostKey == "" {
			t.Error("the machine's own host key isn't reported")
		}
	} else if want := AuthorizedKey(keys.Host.PublicKey()); got.HostKey != "" && got.HostKey != want {
		t.Errorf("host key %q, want the given %q", got.HostKey, want)
	}
	if ids := idsOf(list(t, p, spec.Tags)); !slices.Equal(ids, []string{made.ID}) {
		t.Errorf("list returns %v, want only %s", ids, made.ID)
	}
	if err := p.Delete(t.Context(), made.ID); err != nil {
		t.Fatalf("delete: %v", err)
	}
	_, err = p.Describe(t.Context(), made.ID)
	wantCode(t, "describe after delete", err, app.ENotFound)
	if ids := idsOf(list(t, p, spec.Tags)); len(ids) > 0 {
		t.Errorf("list after delete returns %v", ids)
	}
	if err := p.Delete(t.Context(), made.ID); err != nil {
		t.Errorf("deleting twice: %v", err)
	}
}

func (h Harness[S]) absent(t S) {
	p := h.Open(t)
	for _, id := range []string{"no-such-machine", "../escape", ""} {
		_, err := p.Describe(t.Context(), id)
		wantCode(t, fmt.Sprintf("describe %q", id), err, app.ENotFound)
		if err := p.Delete(t.Context(), id); err != nil {
			t.Errorf("delete %q: %v", id, err)
		}
	}
	if ids := idsOf(list(t, p, map[string]string{family.TagInstallation: Installation})); len(ids) > 0 {
		t.Errorf("an empty account lists %v", ids)
	}
}

func (h Harness[S]) sameIntent(t S) {
	p := h.Open(t)
	spec, keys := h.Spec(t, "again")
	first := create(t, p, spec)
	second := create(t, p, spec)
	if first.ID != second.ID {
		t.Errorf("two machines for one intent: %s and %s", first.ID, second.ID)
	}
	if n := len(list(t, p, nil)); n != 1 {
		t.Errorf("%d machines, want 1", n)
	}
	other, _ := h.Spec(t, "another")
	if third := create(t, p, other); third.ID == first.ID {
		t.Error("one machine for two intents")
	}
	if h.Login {
		h.ask(t, second, keys, "true")
	}
}

func (h Harness[S]) sameIntentAtOnce(t S) {
	p := h.Open(t)
	spec, _ := h.Spec(t, "race")
	ids, err := atOnce(6, func(int) (string, error) {
		m, err := p.Create(t.Context(), spec)
		return m.ID, err
	})
	if err != nil {
		t.Fatal(err)
	}
	if slices.Sort(ids); len(slices.Compact(ids)) != 1 {
		t.Errorf("one intent created several machines: %v", ids)
	}
	if n := len(list(t, p, nil)); n != 1 {
		t.Errorf("%d machines are listed, want 1", n)
	}
}

func (h Harness[S]) manyAtOnce(t S) {
	p := h.Open(t)
	const n = 8
	machines, err := atOnce(n, func(i int) (family.Machine, error) {
		spec, _ := h.Spec(t, fmt.Sprintf("many-%d", i))
		return p.Create(t.Context(), spec)
	})
	if err != nil {
		t.Fatal(err)
	}
	if ids := idsOf(list(t, p, nil)); len(ids) != n || !slices.Equal(ids, idsOf(machines)) {
		t.Errorf("created %v, listed %v", idsOf(machines), ids)
	}
	if _, err := atOnce(n, func(i int) (any, error) { return nil, p.Delete(t.Context(), machines[i].ID) }); err != nil {
		t.Error(err)
	}
	if ids := idsOf(list(t, p, nil)); len(ids) > 0 {
		t.Errorf("left after deleting all: %v", ids)
	}
}

// mostLabels are the labels that take the most room of all that a cluster may have, with the tags that come along with them.
func mostLabels() map[string]string {
	labels := map[string]string{family.TagOwner: strings.Repeat("ö", label.MaxValue), family.TagClusterName: strings.Repeat("n", label.MaxValue)}
	for i := range label.MaxLabels - 1 { // the note is one, too
		labels[fmt.Sprintf("cost-centre_%02d", i)] = strings.Repeat("é", 42) + "/"
	}
	return labels
}

func (h Harness[S]) tags(t S) {
	p := h.Open(t)
	mine, _ := h.Spec(t, "mine")
	mine.Tags["note"] = "with space, = and ümlaut"
	for k, v := range mostLabels() {
		mine.Tags[k] = v
	}
	theirs, _ := h.Spec(t, "theirs")
	theirs.Tags[family.TagTenant] = "other"
	m := create(t, p, mine)
	create(t, p, theirs)

	got, err := p.Describe(t.Context(), m.ID)
	if err != nil {
		t.Fatal(err)
	}
	if !maps.Equal(got.Tags, mine.Tags) {
		t.Errorf("tags %v, want %v", got.Tags, mine.Tags)
	}
	if ids := idsOf(list(t, p, map[string]string{family.TagTenant: "acme"})); !slices.Equal(ids, []string{m.ID}) {
		t.Errorf("list by tenant returns %v, want only %s", ids, m.ID)
	}
	if n := len(list(t, p, map[string]string{family.TagInstallation: Installation})); n != 2 {
		t.Errorf("list by installation returns %d machines, want 2", n)
	}
	for _, tags := range []map[string]string{
		{family.TagInstallation: "someone-else"},
		{family.TagTenant: "acme", family.TagIntent: "theirs"},
		{"no-such-tag": ""},
	} {
		if ids := idsOf(list(t, p, tags)); len(ids) > 0 {
			t.Errorf("list by %v returns %v, want none", tags, ids)
		}
	}
	got.Tags["note"] = "scribbled"
	if again, _ := p.Describe(t.Context(), m.ID); again.Tags["note"] == "scribbled" {
		t.Error("a caller can change the provider's own tags")
	}
}

func (h Harness[S]) cancelled(t S) {
	p := h.Open(t)
	spec, _ := h.Spec(t, "cancelled")
	if _, err := p.Create(done(t), spec); err == nil {
		t.Error("create succeeds with a cancelled context")
	}
	if n := len(list(t, p, nil)); n != 0 {
		t.Errorf("%d machines after a create with a cancelled context", n)
	}
	m := create(t, p, spec)
	if err := p.Delete(done(t), m.ID); err == nil {
		t.Error("delete succeeds with a cancelled context")
	}
	if _, err := p.Describe(t.Context(), m.ID); err != nil {
		t.Errorf("the machine is gone after a delete with a cancelled context: %v", err)
	}
	if _, err := p.List(done(t), nil); err == nil {
		t.Error("list succeeds with a cancelled context")
	}
	if _, err := p.Describe(done(t), m.ID); err == nil {
		t.Error("describe succeeds with a cancelled context")
	}
}

func (h Harness[S]) refused(t S) {
	if len(h.Refuses) == 0 {
		t.Skip("not set in the harness")
	}
	p := h.Open(t)
	for name, spoil := range h.Refuses {
		spec, _ := h.Spec(t, "refused")
		spoil(&spec)
		_, err := p.Create(t.Context(), spec)
		wantCode(t, "create with "+name, err, app.EInvalid)
	}
	if n := len(list(t, p, nil)); n != 0 {
		t.Errorf("%d machines were created from invalid specs", n)
	}
}

func (h Harness[S]) reopened(t S) {
	if h.Reopen == nil {
		t.Skip("the harness can't reopen an account")
	}
	p := h.Open(t)
	spec, keys := h.Spec(t, "stays")
	m := create(t, p, spec)
	if m.State == family.MachineStarting {
		m = h.eventually(t, p, m.ID) // its addresses are known then
	}
	if c, ok := p.(family.ProviderCloser); ok {
		if err := c.Close(); err != nil {
			t.Fatalf("close: %v", err)
		}
	}
	p = h.Reopen(t)
	got, err := p.Describe(t.Context(), m.ID)
	if err != nil {
		t.Fatalf("describe after reopening: %v", err)
	}
	if got.State == family.MachineStarting {
		got = h.eventually(t, p, m.ID) // the cloud tells of its addresses late
	}
	if got.State == family.MachineStopped || !maps.Equal(got.Tags, spec.Tags) || !maps.Equal(got.Addresses, m.Addresses) {
		t.Errorf("after reopening: %+v, want %+v", got, m)
	}
	if again := create(t, p, spec); again.ID != m.ID {
		t.Errorf("the intent creates a new machine %s after reopening, want %s", again.ID, m.ID)
	}
	if h.Login {
		h.ask(t, got, keys, "true")
	}
	if err := p.Delete(t.Context(), m.ID); err != nil {
		t.Errorf("delete after reopening: %v", err)
	}
}

func (h Harness[S]) eventually(t TB, p family.Provider, id string) family.Machine {
	t.Helper()
	return ready(t, p, id, h.patience(), h.pause())
}

// Eventually asks until the machine is running and says where it is.
func Eventually(t TB, p family.Provider, id string) family.Machine {
	t.Helper()
	return ready(t, p, id, usualPatience, usualPause)
}

func ready(t TB, p family.Provider, id string, patience, pause time.Duration) family.Machine {
	t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(pause) {
		m, err := p.Describe(t.Context(), id)
		if err == nil && m.State == family.MachineRunning && m.Addresses["access_v4"] != "" {
			return m
		}
		if time.Now().After(deadline) || m.State == family.MachineStopped || t.Context().Err() != nil {
			t.Fatalf("machine %s doesn't become ready: %+v, %v", id, m, err)
		}
	}
}

func idsOf(ms []family.Machine) []string {
	ids := make([]string, 0, len(ms))
	for _, m := range ms {
		ids = append(ids, m.ID)
	}
	slices.Sort(ids)
	return ids
}
