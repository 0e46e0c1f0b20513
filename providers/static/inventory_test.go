package static

import (
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"muster/app"
	"muster/app/family"
	"muster/app/template"
	"muster/providers/providertest"
)

func TestInventory(t *testing.T) {
	key, _ := newKey(t)
	host := providertest.AuthorizedKey(key.PublicKey())
	read := func(text string, pinning bool) ([]*machine, error) {
		return readInventory(strings.ReplaceAll(text, "KEY", host), pinning)
	}
	ms, err := read(`
# the rack in the cellar
db1 192.0.2.11 host_key="KEY a comment" flavor=big port=2222 user=ops bind=10.0.0.11 zone=cellar image=debian-12 ssd gpu=a100 # the loud one
 db2	192.0.2.12 'host_key=KEY' out
web.1 192.0.2.11 host_key="KEY"
`, false)
	if err != nil || len(ms) != 3 {
		t.Fatalf("%v, %v", ms, err)
	}
	db := ms[0]
	if db.name != "db1" || db.at() != "192.0.2.11:2222" || db.user != "ops" || db.bind != "10.0.0.11" || db.flavor != "big" || db.zone != "cellar" || db.image != "debian-12" || db.hostKey != host || db.out {
		t.Errorf("%+v", db)
	}
	if !db.carries(map[string]string{"ssd": "", "gpu": "a100"}) || db.carries(map[string]string{"gpu": "h100"}) || db.carries(map[string]string{"quiet": ""}) {
		t.Errorf("labels %v", db.labels)
	}
	if !ms[1].out || ms[2].flavor != "standard" || ms[2].bind != "192.0.2.11" || ms[2].user != "root" || ms[2].image != "installed" {
		t.Errorf("%+v %+v", ms[1], ms[2])
	}
	if ms, err := read("a 192.0.2.1\nb 192.0.2.2 out", true); err != nil || ms[0].hostKey != "" {
		t.Errorf("%v, %v", ms, err)
	}
	const secret = "hunter2-is-secret"
	for name, c := range map[string]struct{ text, says string }{
		"a size twice":         {"a 192.0.2.1 cpu=1 cpu=2", "cpu twice"},
		"no address":           {"a 192.0.2.1 host_key=\"KEY\"\nb", "line 2: the second word"},
		"a name for address":   {"a db.example.org", "line 1: the address of machine a is invalid"},
		"IPv6":                 {"a 2001:db8::1", "IPv4"},
		"no one's address":     {"a 0.0.0.0", "0.0.0.0"},
		"no host key":          {"a 192.0.2.1", "machine a has no host_key"},
		"half a host key":      {"a 192.0.2.1 host_key=ssh-ed25519 AAAA", "host_key= of machine a"},
		"an open quote":        {"a 192.0.2.1 host_key=\"KEY", "quote"},
		"a port of no number":  {"a 192.0.2.1 port=ssh", "port="},
		"a port too high":      {"a 192.0.2.1 port=65536", "port="},
		"a user of two words":  {"a 192.0.2.1 'user=x y'", "user="},
		"a misspelt key":       {"a 192.0.2.1 prot=2222", "prot, which looks like port"},
		"a key in capitals":    {"a 192.0.2.1 Host-Key=x", "looks like host_key"},
		"a key twice":          {"a 192.0.2.1 zone=x zone=y", "zone twice"},
		"a name twice":         {"a 192.0.2.1 out\n\na 192.0.2.2 out", "line 3: name a is already on line 1"},
		"an address twice":     {"a 192.0.2.1 out\nb 192.0.2.1 out", "line 2: address 192.0.2.1:22"},
		"a name with a slash":  {"../a 192.0.2.1", "valid machine name"},
		"a password":           {"a 192.0.2.1 password=" + secret, "secret on its line"},
		"a password by itself": {"a 192.0.2.1 '" + secret + "!'", "isn't a key or a label"},
		"a secret as a flavor": {"a 192.0.2.1 'flavor=" + secret + "!'", "flavor= of machine a must be one word"},
		"a private key":        {"-----BEGIN OPENSSH PRIVATE KEY-----\n" + secret, "line 1: the first word"},
		"its second line":      {secret, "line 1: the second word"},
	} {
		ms, err := read(c.text, false)
		e := app.AsError(err)
		if err == nil || e.Code != app.EInvalid || e.Field != "settings.machines" || e.Hint == "" || !strings.Contains(e.Message, c.says) {
			t.Errorf("%s: %v, %v (hint %q), want %q", name, ms, err, e.Hint, c.says)
		}
		if strings.Contains(e.Advised(), secret) {
			t.Errorf("%s: a secret is quoted: %v", name, err)
		}
	}
}

func TestSizes(t *testing.T) {
	ms, err := readInventory(`
a 192.0.2.1 flavor=big cpu=16 memory_gb=128 disk_gb=960 gpu=a100
b 192.0.2.2 flavor=big cpu=16 memory_gb=96.5 disk_gb=960 out
c 192.0.2.3 flavor=half cpu=0.5
d 192.0.2.4 flavor=half
e 192.0.2.5
f 192.0.2.6 flavor=words cpu=amd memory_gb=0 disk_gb=Inf
g 192.0.2.7 flavor=words cpu memory-gb=4 disk_tb=1
h 192.0.2.8 flavor=some cpu=epyc
i 192.0.2.9 flavor=some cpu=8`, true)
	if err != nil {
		t.Fatal(err)
	}
	for flavor, c := range map[string]struct {
		want    template.Flavor
		differs string
	}{
		"big":      {template.Flavor{Flavor: "big", CPU: 16, MemoryGB: 96.5, DiskGB: 960}, "memory_gb"},
		"half":     {template.Flavor{Flavor: "half", CPU: 0.5}, "cpu"},
		"standard": {template.Flavor{Flavor: "standard"}, ""},
		"words":    {template.Flavor{Flavor: "words"}, ""},
		"some":     {template.Flavor{Flavor: "some", CPU: 8}, "cpu"},
	} {
		if got, differs := sizes(ms, flavor); !reflect.DeepEqual(got, c.want) || strings.Join(differs, " ") != c.differs {
			t.Errorf("%s: %+v, which differ in %q", flavor, got, differs)
		}
	}
	// All of them are labels as well, as they were before they declared sizes.
	for i, labels := range map[int]map[string]string{
		0: {"gpu": "a100", "cpu": "16", "memory_gb": "128", "disk_gb": "960"}, 2: {"cpu": "0.5"}, 5: {"cpu": "amd", "memory_gb": "0", "disk_gb": "Inf"},
		6: {"cpu": "", "memory-gb": "4", "disk_tb": "1"}, 7: {"cpu": "epyc"},
	} {
		if !maps.Equal(ms[i].labels, labels) {
			t.Errorf("%s: labels %v, want %v", ms[i].name, ms[i].labels, labels)
		}
	}
	if ms[1].carries(map[string]string{"memory_gb": "128"}) || !ms[1].carries(map[string]string{"memory_gb": "96.5"}) {
		t.Errorf("labels %v", ms[1].labels)
	}
}

// What a flavor's machines have is offered; that they differ is reported.
func TestSizesAreOffered(t *testing.T) {
	t.Parallel()
	f := newFarm(t, 2)
	s := f.settings("flavor=big image=debian-12 cpu=8 memory_gb=32", "wipe", "true")
	for name, c := range map[string]struct {
		text   string
		memory float64
		warned bool
	}{
		"alike":   {fmt.Sprint(s["machines"]), 32, false},
		"another": {strings.Replace(fmt.Sprint(s["machines"]), "memory_gb=32", "memory_gb=16", 1), 16, true},
	} {
		s["machines"] = c.text
		p := f.open(t, s, t.TempDir())
		o, err := p.Offers(t.Context())
		if err != nil || len(o.Flavors) != 1 || o.Flavors[0].Flavor.CPU != 8 || o.Flavors[0].Flavor.MemoryGB != c.memory || o.Flavors[0].Flavor.DiskGB != 0 {
			t.Errorf("%s: %+v, %v", name, o.Flavors, err)
		}
		found, err := p.CheckAccount(t.Context(), family.AccountNeeds{})
		warned := slices.ContainsFunc(found, func(f family.Finding) bool {
			return f.About == family.AboutFlavor && f.Warning && f.Subject == "big" && strings.Contains(f.Message, "memory_gb")
		})
		if err != nil || warned != c.warned {
			t.Errorf("%s: %+v, %v", name, found, err)
		}
	}
}

func TestSettings(t *testing.T) {
	f := newFarm(t, 1)
	if err := Check(f.settings("")); err != nil {
		t.Fatal(err)
	}
	for field, c := range map[string]struct{ name, value string }{
		"ssh_key":           {"ssh_key", "hunter2"},
		"wipe_time":         {"wipe_time", "541"},
		"prepare_time":      {"prepare_time", "0"},
		"sudo":              {"sudo", "perhaps"},
		"unknown_host_keys": {"unknown_host_keys", "ask"},
		"machines":          {"machines", "# none"},
	} {
		err := Check(f.settings("", c.name, c.value))
		if e := app.AsError(err); err == nil || e.Code != app.EInvalid || e.Field != "settings."+field || strings.Contains(e.Advised(), "hunter2") {
			t.Errorf("%s: %v", field, err)
		}
	}
	if _, err := open(f.settings("", "unknown_host_keys", "pin"), Env{}); app.CodeOf(err) != app.EInvalid {
		t.Errorf("pinning without a place for it: %v", err)
	}
}

// Whatever is written, an inventory is read or refused with the number of a line, and what was read holds together.
func FuzzInventory(f *testing.F) {
	for _, s := range []string{"", "a 192.0.2.1", "a 192.0.2.1 out # x", "a 1.2.3.4 'x=\"y\"'", "a 1.2.3.4 host_key=\"ssh-ed25519 AAAA\"", "\\", "a\x00 ::1", "a 1.2.3.4 =b", "a 1.2.3.4 port=", "a 1.2.3.4 cpu=2 memory_gb=0.25 disk_gb=1e9"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		ms, err := readInventory(text, true)
		if err != nil {
			if e := app.AsError(err); e.Code != app.EInvalid || !strings.HasPrefix(e.Message, "line ") || e.Hint == "" {
				t.Errorf("%q: %v", text, err)
			}
			return
		}
		names := map[string]bool{}
		for _, m := range ms {
			if m.name == "" || strings.ContainsAny(m.name, "/~ \n") || m.port < 1 || m.flavor == "" || m.user == "" || names[m.name] {
				t.Errorf("%q: %+v", text, m)
			}
			names[m.name] = true
			flavor, _ := sizes(ms, m.flavor)
			for _, n := range []float64{flavor.CPU, flavor.MemoryGB, flavor.DiskGB} {
				if n < 0 || math.IsNaN(n) || math.IsInf(n, 0) {
					t.Errorf("%q: %+v", text, flavor)
				}
			}
		}
	})
}
