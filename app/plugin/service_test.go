package plugin

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/program"
)

// memory is a store in memory.
type memory struct {
	all    map[string]Decision
	writes int
}

func (m *memory) Plugins(context.Context) ([]Decision, error) {
	return slices.Collect(maps.Values(m.all)), nil
}

func (m *memory) DecidePlugin(_ context.Context, _ app.Actor, d Decision) error {
	m.all[d.Name] = d
	m.writes++
	return nil
}

const lab = "muster-provider-lab"

// installed is a service with one program on its server.
func installed(t *testing.T) (*Service, *memory, *Program) {
	t.Helper()
	t.Cleanup(func() { program.SetPins(nil) })
	p := &Program{Name: lab, Path: filepath.Join(t.TempDir(), lab), Kind: Provider, Type: "lab", Loaded: true}
	if err := os.WriteFile(p.Path, []byte("one"), 0o755); err != nil {
		t.Fatal(err)
	}
	m := &memory{all: map[string]Decision{}}
	return New(Config{Store: m, Now: func() time.Time { return time.Unix(1, 0) }, Programs: func() ([]Program, error) {
		if _, err := os.Stat(p.Path); err != nil {
			return nil, nil
		}
		return []Program{*p}, nil
	}}), m, p
}

var root = app.Actor{Tenant: app.DefaultTenant, User: "root", Role: app.RoleSuperadmin, ProvenAt: time.Now()}

func stateOf(t *testing.T, s *Service) State {
	t.Helper()
	all, err := s.Plugins(t.Context(), root)
	if err != nil || len(all) != 1 {
		t.Fatalf("%+v %v", all, err)
	}
	return all[0].State
}

func TestPluginsAreRegisteredAndRemoved(t *testing.T) {
	s, m, p := installed(t)
	expect := func(want State) {
		t.Helper()
		if got := stateOf(t, s); got != want {
			t.Errorf("the state is %s, not %s", got, want)
		}
	}
	expect(Unregistered)
	v, err := s.RegisterPlugin(t.Context(), root, lab, "")
	if err != nil || v.State != Registered || v.Pinned != v.SHA256 || program.CurrentPins()[lab] != v.SHA256 {
		t.Errorf("registered: %+v %v", v, err)
	}
	if _, err := s.RegisterPlugin(t.Context(), root, lab, strings.ToUpper(v.SHA256)); err != nil || m.writes != 1 {
		t.Errorf("registered twice: %v, %d writes", err, m.writes)
	}
	if err := os.WriteFile(p.Path, []byte("two"), 0o755); err != nil {
		t.Fatal(err)
	}
	expect(Changed)
	if v, err := s.RemovePlugin(t.Context(), root, lab); err != nil || v.State != Gone || program.CheckRemoved(lab) == nil {
		t.Errorf("removed: %+v %v", v, err)
	}
	p.Loaded = false
	if v, err := s.RegisterPlugin(t.Context(), root, lab, ""); err != nil || v.State != Registered || !strings.Contains(v.Problem, "restarted") {
		t.Errorf("registered before it was loaded: %+v %v", v, err)
	}
	if err := os.Remove(p.Path); err != nil {
		t.Fatal(err)
	}
	expect(Missing)
}

func TestPluginsThatCannotBeRegistered(t *testing.T) {
	s, m, p := installed(t)
	for _, c := range []struct {
		name, sum string
		code      app.Code
	}{
		{"muster-provider-lap", "", app.ENotFound},
		{"../" + lab, "", app.ENotFound},
		{lab, "12", app.EInvalid},
		{lab, strings.Repeat("0", 64), app.EConflict},
	} {
		if _, err := s.RegisterPlugin(t.Context(), root, c.name, c.sum); app.CodeOf(err) != c.code {
			t.Errorf("%s %q: %v", c.name, c.sum, err)
		}
	}
	p.Err = app.Errorf(app.EForbidden, "others can write it")
	if _, err := s.RegisterPlugin(t.Context(), root, lab, ""); app.CodeOf(err) != app.EForbidden {
		t.Errorf("untrusted: %v", err)
	}
	if m.writes != 0 {
		t.Errorf("%d writes", m.writes)
	}
}

// What runs can be stopped, whether its file is still here or not.
func TestPluginsThatAreNotHereCanBeRemoved(t *testing.T) {
	s, m, _ := installed(t)
	s.Programs = func() ([]Program, error) { return nil, app.Errorf(app.EInternal, "the directory can't be read") }
	if v, err := s.RemovePlugin(t.Context(), root, "muster-provider-far"); err != nil || v.State != Gone || v.Problem == "" || m.writes != 1 {
		t.Errorf("removed: %+v, %v", v, err)
	}
	for _, name := range []string{"far", "muster-provider-", "muster-provider-a/b", "muster-provider-" + strings.Repeat("a", 33)} {
		if _, err := s.RemovePlugin(t.Context(), root, name); err == nil {
			t.Errorf("%s is removed", name)
		}
	}
}

func TestPluginsAreForSuperadminsWhoProvedIt(t *testing.T) {
	s, m, _ := installed(t)
	unproven := root
	unproven.ProvenAt, unproven.Via, unproven.Session = time.Time{}, app.ViaPortal, "s"
	for _, role := range app.Roles {
		a := root
		if a.Role = role; role == app.RoleSuperadmin {
			a = unproven
		}
		if _, err := s.Plugins(t.Context(), a); (err == nil) != (role == app.RoleSuperadmin) {
			t.Errorf("%s lists: %v", role, err)
		}
		if _, err := s.RegisterPlugin(t.Context(), a, lab, ""); err == nil {
			t.Errorf("%s registers", role)
		}
		if _, err := s.RemovePlugin(t.Context(), a, lab); err == nil {
			t.Errorf("%s removes", role)
		}
	}
	if m.writes != 0 {
		t.Errorf("%d writes", m.writes)
	}
}
