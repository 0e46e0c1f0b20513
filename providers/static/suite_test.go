package static

import (
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"muster/app/family"
	"muster/providers/providertest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// wipeHome removes what users leave in a home, but not the keys.
const wipeHome = `cd "$MUSTER_HOME" && find . -mindepth 1 -maxdepth 1 ! -name .ssh -exec rm -rf {} +`

func TestSuite(t *testing.T) {
	t.Parallel()
	farms, dirs := map[string]*farm{}, map[string]string{}
	all := newFarm(t, 8)
	with := func(f *farm) map[string]any {
		return f.settings("flavor=big zone=z1 image=debian-12 ssd", "wipe", wipeHome, "prepare", `echo ready >"$MUSTER_HOME/prepared"`)
	}
	providertest.Run(t, providertest.Harness{
		Judge: "simulated",
		Open: func(t *testing.T) family.Provider {
			farms[t.Name()], dirs[t.Name()] = all, t.TempDir()
			p := all.open(t, with(all), dirs[t.Name()])
			t.Cleanup(func() {
				empty(t, p)
				if left := all.left(); len(left) > 0 {
					t.Errorf("machines keep %v", left)
				}
			})
			return p
		},
		Reopen: func(t *testing.T) family.Provider { return farms[t.Name()].open(t, with(all), dirs[t.Name()]) },
		Flavor: "big", Image: "debian-12", Zone: "z1", Login: true, OwnHostKeys: true,
		Refuses: map[string]func(*family.MachineSpec){
			"an unknown flavor":          func(s *family.MachineSpec) { s.Flavor.Flavor = "huge" },
			"an unknown image":           func(s *family.MachineSpec) { s.Image.Image = "ubuntu" },
			"an unknown zone":            func(s *family.MachineSpec) { s.Zone = "z9" },
			"labels that are none":       func(s *family.MachineSpec) { s.Flavor.Extra = map[string]string{"labels": "a b=$(x)"} },
			"no one to let in":           func(s *family.MachineSpec) { s.AuthorizedKey = "" },
			"two keys to let in":         func(s *family.MachineSpec) { s.AuthorizedKey += "\n" + s.AuthorizedKey },
			"the key of the account":     func(s *family.MachineSpec) { s.AuthorizedKey = providertest.AuthorizedKey(all.admin) },
			"a host name that is a line": func(s *family.MachineSpec) { s.Hostname = "a\nb" },
		},
		Wrong: wrongs(),
	})
}

// empty returns all machines of an account that a test has left, over connections of its own.
func empty(t *testing.T, was *provider) {
	t.Helper()
	p := &provider{settings: was.settings, pool: newPool(was), memory: newMemory(""), log: was.log, after: func(string) error { return nil }}
	defer func() { _ = p.Close() }()
	ms, err := p.List(background(), nil)
	if err != nil {
		t.Errorf("list: %v", err)
	}
	for _, m := range ms {
		if err := p.Delete(background(), m.ID); err != nil {
			t.Errorf("delete %s: %v", m.ID, err)
		}
	}
}

func wrongs() []providertest.Wrong {
	wrong := func(name, about string, spoil func(t *testing.T, f *farm, s map[string]any)) providertest.Wrong {
		return providertest.Wrong{Name: name, About: about, Open: func(t *testing.T) (family.Provider, func()) {
			f := newFarm(t, 2)
			s := f.settings("flavor=big zone=z1 image=debian-12", "wipe", "true")
			spoil(t, f, s)
			p := f.open(t, s, t.TempDir())
			p.pool.Patience(5 * time.Minute)
			if name == "a machine that hangs" {
				p.pool.Patience(quick)
			}
			return p, func() {}
		}}
	}
	replace := func(s map[string]any, from, to string) {
		s["machines"] = strings.ReplaceAll(s["machines"].(string), from, to)
	}
	return []providertest.Wrong{
		wrong("another host key", family.AboutNetwork, func(t *testing.T, f *farm, _ map[string]any) { key, _ := newKey(t); f.boxes[0].show(key) }),
		wrong("another key", family.AboutCredentials, func(t *testing.T, _ *farm, s map[string]any) { _, s["ssh_key"] = newKey(t) }),
		wrong("another user", family.AboutCredentials, func(_ *testing.T, _ *farm, s map[string]any) { replace(s, "zone=", "user=daemon zone=") }),
		wrong("a machine that is not there", family.AboutNetwork, func(_ *testing.T, f *farm, _ map[string]any) { f.boxes[1].stop() }),
		wrong("a machine that hangs", family.AboutNetwork, func(_ *testing.T, f *farm, _ map[string]any) { f.boxes[1].silent.Store(true) }),
		wrong("sudo with a password", family.AboutPermissions, func(t *testing.T, f *farm, s map[string]any) {
			replace(s, "zone=", "user=ops zone=")
			f.boxes[0].shim(t, "sudo", "echo 'sudo: a password is required' >&2; exit 1")
			f.boxes[1].shim(t, "sudo", `shift; exec "$@"`)
		}),
		wrong("no sudo", family.AboutPermissions, func(t *testing.T, f *farm, s map[string]any) {
			replace(s, "zone=", "user=ops zone=")
			for _, b := range f.boxes {
				b.shim(t, "sudo", "echo 'sh: sudo: not found' >&2; exit 127")
			}
		}),
		wrong("no shell", family.AboutPermissions, func(t *testing.T, f *farm, _ map[string]any) {
			f.boxes[0].shim(t, "sh", "echo 'This account is not available.'; exit 1")
		}),
		wrong("a state directory that is a file", family.AboutPermissions, func(t *testing.T, f *farm, _ map[string]any) { f.boxes[0].write(t, f.boxes[0].root+"/var", "x") }),
		wrong("a full disk", family.AboutQuota, func(t *testing.T, f *farm, _ map[string]any) {
			f.boxes[0].shim(t, "df", "echo Filesystem; echo '/dev/sda1 100 99 12 99% /'")
		}),
		wrong("a record that can't be read", family.AboutQuota, func(t *testing.T, f *farm, _ map[string]any) { f.boxes[0].put(t, "{") }),
		wrong("machines that are in use", family.AboutQuota, func(t *testing.T, f *farm, _ map[string]any) {
			for _, b := range f.boxes {
				b.put(t, `{"token":"a","state":"ready","intent":"i","hostname":"h","tags":{},"keys":[],"made_at":"2026-01-02T03:04:05Z"}`)
			}
		}),
		wrong("one out of service", family.AboutQuota, func(_ *testing.T, _ *farm, s map[string]any) { replace(s, "m2 127.0.0.1", "m2 127.0.0.1 out") }),
		wrong("another flavor", family.AboutFlavor, func(_ *testing.T, _ *farm, s map[string]any) { replace(s, "flavor=big", "flavor=small") }),
		wrong("another zone", family.AboutRegion, func(_ *testing.T, _ *farm, s map[string]any) { replace(s, "zone=z1", "zone=z2") }),
		wrong("another image", family.AboutImage, func(_ *testing.T, _ *farm, s map[string]any) { replace(s, "image=debian-12", "image=debian-13") }),
	}
}
