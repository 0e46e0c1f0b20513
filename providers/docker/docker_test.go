package docker

import (
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"go.uber.org/goleak"
	"muster/app"
	"muster/app/family"
	"muster/providers/providertest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is a simulated engine that tests open, and spoil.
type world struct {
	*sim
	url    string
	faults *providertest.Faults
}

func is(method, tail string) func(*http.Request) bool {
	return func(r *http.Request) bool { return r.Method == method && strings.HasSuffix(r.URL.Path, tail) }
}

func newWorld(t *testing.T) *world {
	w := &world{sim: newSim(), faults: &providertest.Faults{
		Creates: is("POST", "/containers/create"),
		Fail:    func(w http.ResponseWriter, _ *http.Request, status int) { say(w, status, "something went wrong") },
	}}
	srv := httptest.NewServer(w.faults.Wrap(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) { w.sim.routes().ServeHTTP(rw, r) })))
	t.Cleanup(srv.Close)
	w.url = "tcp://" + strings.TrimPrefix(srv.URL, "http://")
	return w
}

func (w *world) open(t *testing.T, more ...string) *engine {
	t.Helper()
	s := map[string]any{"host": w.url}
	for i := 0; i+1 < len(more); i += 2 {
		s[more[i]] = more[i+1]
	}
	if err := Check(s); err != nil {
		t.Fatal(err)
	}
	e, err := open(s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	return e
}

func (w *world) change(do func(s *sim) (undo func())) func() (undo func()) {
	return func() func() {
		w.mu.Lock()
		undo := do(w.sim)
		w.mu.Unlock()
		return func() { w.mu.Lock(); undo(); w.mu.Unlock() }
	}
}

func set[K comparable, V any](m map[K]V, k K, v V) func() {
	old := m[k]
	m[k] = v
	return func() { m[k] = old }
}

func TestTheSuite(t *testing.T) {
	w := newWorld(t)
	reopen := func(t *testing.T) family.Provider { return w.open(t) }
	bad := func(name, about string, change func(s *sim) func(), also ...string) providertest.Wrong {
		return providertest.Wrong{Name: name, About: about, Open: func(t *testing.T) (family.Provider, func()) { return w.open(t, also...), w.change(change)() }}
	}
	nothing := func(*sim) func() { return func() {} }
	noImage := func(s *sim) func() { return set(s.images, "node:1", nil) }
	full := func(s *sim) func() { s.full = true; return func() { s.full = false } }
	bare := func(s *sim) func() { return set(s.networks, "bridge", nil) }
	providertest.Run(t, providertest.Harness{
		Judge:  "simulated",
		Open:   func(t *testing.T) family.Provider { w.sim = newSim(); return reopen(t) },
		Reopen: reopen,
		Flavor: "1cpu-2gb",
		Image:  "node:1",
		Faults: w.faults,
		Left:   func(*testing.T) []string { return w.left() },

		MakesImage:        is("POST", "/commit"),
		VolumesAtCreation: true,
		MakesVolume:       is("POST", "/volumes/create"),
		Refuses: map[string]func(*family.MachineSpec){
			"a broken host key":        func(s *family.MachineSpec) { s.HostKey = []byte("no key") },
			"a size of no form":        func(s *family.MachineSpec) { s.Flavor.Flavor = "small" },
			"more CPUs than there are": func(s *family.MachineSpec) { s.Flavor.Flavor = "64cpu-1gb" },
			"an image that is absent":  func(s *family.MachineSpec) { s.Image.Image = "absent:1" },
			"an image without sshd":    func(s *family.MachineSpec) { s.Image.Image = "bare:1" },
			"no image":                 func(s *family.MachineSpec) { s.Image.Image = "" },
		},
		Refusals: []providertest.Refusal{
			{Name: "a full disk", Code: app.ECapacity, Arrange: w.change(full)},
			{Name: "an image that was removed", Code: app.EInvalid, Arrange: w.change(noImage)},
			{Name: "a network that was removed", Code: app.EInvalid, Arrange: w.change(bare)},
		},
		Partial: map[string]func(*http.Request) bool{
			"the look":      is("GET", "/json"),
			"the keys":      is("PUT", "/archive"),
			"the start":     is("POST", "/start"),
			"the container": is("POST", "/containers/create"),
			"the agreement": is("HEAD", "/_ping"),
		},
		Wrong: []providertest.Wrong{
			bad("an engine that is not there", family.AboutCredentials, nothing, "host", "tcp://127.0.0.1:1"),
			bad("a socket that is not there", family.AboutCredentials, nothing, "host", "unix:///nowhere/docker.sock"),
			bad("an engine that does not speak TLS", family.AboutCredentials, nothing, "ca", testCA(t)),
			bad("an engine of Windows", family.AboutCredentials, func(s *sim) func() { return set(s.info, "OSType", any("windows")) }),
			bad("a network that is not there", family.AboutNetwork, nothing, "network", "apps"),
			bad("a network without addresses", family.AboutNetwork, nothing, "network", "odd"),
			bad("a network that was removed", family.AboutNetwork, bare),
			bad("a host that is too small", family.AboutFlavor, func(s *sim) func() { return set(s.info, "MemTotal", any(1<<30)) }),
			bad("an image that was removed", family.AboutImage, noImage),
			bad("an image of another system", family.AboutImage, func(s *sim) func() { return set(s.images["node:1"], "Os", any("windows")) }),
		},
	})
}

func TestPublishedPorts(t *testing.T) {
	w := newWorld(t)
	e := w.open(t, "publish", "192.0.2.1")
	s, _ := providertest.Harness{Flavor: "unlimited", Image: "node:1"}.Spec(t, "published")
	s.Image.SSHUser = "admin"
	m, err := e.Create(t.Context(), s)
	if err != nil || m.Addresses["access_v4"] != "192.0.2.1" || m.SSHPort < 32768 || !strings.HasPrefix(m.Addresses["bind_v4"], "172.17.") || m.SSHUser != "admin" {
		t.Errorf("%+v, %v", m, err)
	}
	if n, err := w.open(t).Describe(t.Context(), m.ID); err != nil || n.HostKey != m.HostKey || n.HostKey == "" || n.SSHPort != 0 || n.SSHUser != "admin" {
		t.Errorf("%+v, %v", n, err)
	}
}

// A container of the same name that others made is neither handed out nor touched.
func TestContainersOfOthers(t *testing.T) {
	w := newWorld(t)
	e := w.open(t)
	s, _ := providertest.Harness{Flavor: "unlimited", Image: "node:1"}.Spec(t, "taken")
	w.containers["other"] = &simContainer{id: "other", name: name(s.Tags), config: map[string]any{"Labels": map[string]any{}}, status: "created"}
	if _, err := e.Create(t.Context(), s); app.CodeOf(err) != app.EInvalid || w.containers["other"].status != "created" {
		t.Errorf("%v", err)
	}
	if ms, err := e.List(t.Context(), nil); err != nil || len(ms) > 0 {
		t.Errorf("listed: %v, %v", ms, err)
	}
}

func TestCheck(t *testing.T) {
	for field, s := range map[string]map[string]any{
		"host":    {"host": "http://x"},
		"network": {"network": "host"},
		"publish": {"publish": "everywhere"},
		"sshd":    {"sshd": "sshd"},
		"ca":      {"host": "tcp://h:2376", "ca": "x"},
		"cert":    {"host": "tcp://h:2376", "ca": testCA(t), "cert": "x", "key": "hunter2"},
		"key":     {"host": "tcp://h:2376", "ca": testCA(t), "cert": testCA(t), "key": "${secret:HUNTER2}"}, // not known when a catalog is read
	} {
		err := Check(s)
		if e := app.AsError(err); e.Code != app.EInvalid || e.Field != "settings."+field || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", field, err)
		}
	}
	if err := Check(map[string]any{"ca": testCA(t)}); app.AsError(err).Field != "settings.host" {
		t.Errorf("certificates for a socket: %v", err)
	}
	for flavor, want := range map[string]size{"2cpu-4gb": {2, 4 << 30}, "0.5cpu-256MB": {0.5, 256 << 20}, "unlimited": {}} {
		if got, ok := readFlavor(flavor); !ok || got != want {
			t.Errorf("%s is %+v", flavor, got)
		}
	}
}

// testCA returns a certificate in PEM form.
func testCA(t *testing.T) string {
	t.Helper()
	srv := httptest.NewTLSServer(http.NotFoundHandler())
	defer srv.Close()
	return pemOf(srv.Certificate().Raw)
}

func pemOf(raw []byte) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw}))
}
