package buildsystemtest

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/build"
)

// Member is a build system and what the suite needs to play it.
type Member struct {
	Systems build.Systems
	Name    string
	Secret  func(n int) string // the n-th secret, in the form that the system has them
	Schemes []Scheme           // all ways in which its deliveries are signed
	Events  func(body []byte) map[string]string
	// Unknown is a body of an event that is not understood, "" where the system has one kind of body only.
	Unknown string
}

// Scheme is one way to sign.
type Scheme struct {
	Name   string
	Header string // where the signature is
	Sign   func(secret, id string, at time.Time, body []byte) map[string]string
	Body   bool // the signature is over the body; else only the sender is known
	Timed  bool // a time is signed
	ID     bool // an id is signed, so the same body under another one is another delivery
}

var now = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// Run tries all of it. Payloads are testdata/*.json; their expected events are in *.golden, which -update writes.
func Run(t *testing.T, m Member) {
	payloads := recorded(t)
	if !t.Run("says what it is", m.about) {
		return
	}
	for _, s := range m.Schemes {
		t.Run(s.Name, func(t *testing.T) {
			for _, name := range slices.Sorted(maps.Keys(payloads)) {
				t.Run(name, func(t *testing.T) { m.signed(t, s, payloads[name]) })
			}
			body := payloads[slices.Sorted(maps.Keys(payloads))[0]]
			t.Run("bad signatures", func(t *testing.T) { m.badSignatures(t, s, body) })
			t.Run("two secrets", func(t *testing.T) { m.rotation(t, s, body) })
			t.Run("times", func(t *testing.T) { m.times(t, s, body) })
			t.Run("repeats", func(t *testing.T) { m.repeats(t, s, body) })
			t.Run("too much", func(t *testing.T) { m.tooMuch(t, s, body) })
		})
	}
	for _, name := range slices.Sorted(maps.Keys(payloads)) {
		t.Run("reads "+name, func(t *testing.T) { m.golden(t, name, payloads[name]) })
		t.Run("hostile "+name, func(t *testing.T) { m.hostile(t, payloads[name]) })
	}
	t.Run("hostile", func(t *testing.T) { m.rubbish(t, payloads) })
	t.Run("unknown event", m.unknown)
}

func recorded(t *testing.T) map[string][]byte {
	t.Helper()
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no payloads in testdata: add what the system sends as testdata/NAME.json (%v)", err)
	}
	out := map[string][]byte{}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		out[strings.TrimSuffix(filepath.Base(f), ".json")] = b
	}
	return out
}

func (m Member) about(t *testing.T) {
	at := slices.IndexFunc(m.Systems.Systems(), func(s build.System) bool { return s.Name == m.Name })
	if at < 0 {
		t.Fatalf("%s isn't on the list: add it to list in buildsystems.go", m.Name)
	}
	s := m.Systems.Systems()[at]
	if s.Title == "" || s.Scheme == "" || len(s.Events) == 0 || len(s.Steps) == 0 || !slices.IsSorted(s.Events) {
		t.Errorf("About lacks Title, Scheme, Events or Steps, or Events aren't sorted: %+v", s)
	}
	for _, sentence := range append([]string{s.About}, s.Steps...) {
		if !strings.HasSuffix(sentence, ".") || sentence[:1] != strings.ToUpper(sentence[:1]) {
			t.Errorf("%q in About or Steps isn't a sentence: begin with a capital letter, and end with a full stop", sentence)
		}
	}
}

// headers are those of a delivery that is signed rightly.
func (m Member) headers(s Scheme, secret, id string, at time.Time, body []byte) map[string]string {
	h := map[string]string{"Content-Type": "application/json"}
	if m.Events != nil {
		maps.Copy(h, m.Events(body))
	}
	maps.Copy(h, s.Sign(secret, id, at, body))
	return h
}

func (m Member) verify(h map[string]string, body []byte, secrets ...string) (build.Delivery, error) {
	return m.Systems.Verify(m.Name, func(name string) string {
		for k, v := range h {
			if strings.EqualFold(k, name) {
				return v
			}
		}
		return ""
	}, body, secrets, now)
}

// signed takes a payload, and refuses it with any of its bytes changed.
func (m Member) signed(t *testing.T, s Scheme, body []byte) {
	secret := m.Secret(0)
	h := m.headers(s, secret, "id-1", now, body)
	d, err := m.verify(h, body, secret)
	if err != nil {
		t.Fatal(err)
	}
	if d.System != m.Name || d.Unique == "" || string(d.Body) != string(body) || s.Timed == d.SentAt.IsZero() || s.Timed && !d.SentAt.Equal(now) {
		t.Errorf("the delivery is not what was sent: %s, %q, %v", d.System, d.Unique, d.SentAt)
	}
	changed := slices.Clone(body)
	step := 1
	if !s.Body {
		step = 101 // only that it counts as another one
	}
	for i := 0; i < len(changed); i += step {
		for _, flip := range []byte{1, 0x20} {
			changed[i] ^= flip
			got, err := m.verify(h, changed, secret)
			switch {
			case s.Body && app.CodeOf(err) != app.EUnauthorized:
				t.Fatalf("with byte %d changed: %v", i, err)
			case !s.Body && err == nil && got.Unique == d.Unique:
				t.Fatalf("with byte %d changed it counts as the same delivery", i)
			}
			changed[i] ^= flip
		}
	}
	for name, other := range map[string][]byte{"more": append(slices.Clone(body), ' '), "less": body[:len(body)-1], "nothing": nil} {
		if _, err := m.verify(h, other, secret); s.Body && app.CodeOf(err) != app.EUnauthorized {
			t.Errorf("with %s of the body: %v", name, err)
		}
	}
}
