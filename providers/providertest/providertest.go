package providertest

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"fmt"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"

	"muster/app"
)

// Installation is the value of app.TagInstallation in the suite's specs.
const Installation = "suite"

// Harness says how to get at a member.
type Harness struct {
	// Open gives an account without any machine, and leaves none behind when the test ends.
	Open func(t *testing.T) app.Provider
	// Reopen gives the same account once more, as another process would see it. Nil where there is no such thing.
	Reopen func(t *testing.T) app.Provider
	// Flavor and Image are names that the account knows.
	Flavor, Image string
	// Zone is one of the account's zones, "" where it has none.
	Zone string
	// Refuses, when set, are specs that the member must turn away with EInvalid, by what is wrong with them.
	Refuses map[string]func(*app.MachineSpec)
	// Login says that machines answer SSH for real: the suite logs in, and holds the machine to its host key.
	Login bool
}

// Run checks a member against the contract.
func Run(t *testing.T, h Harness) {
	t.Run("create, describe, list and delete", h.lifeCycle)
	t.Run("what does not exist", h.absent)
	t.Run("same intent twice is one machine", h.sameIntent)
	t.Run("same intent at the same time is one machine", h.sameIntentAtOnce)
	t.Run("many at the same time", h.manyAtOnce)
	t.Run("tags are kept and told apart", h.tags)
	t.Run("what was made is found, and what was deleted is not", h.found)
	t.Run("a machine is in the zone that was asked for", h.zoned)
	t.Run("a done context changes nothing", h.cancelled)
	t.Run("specs that cannot be made are refused", h.refused)
	t.Run("machines outlive the provider", h.reopened)
	t.Run("machines sleep and wake, and keep what is on them", h.sleeps)
	t.Run("machines prove themselves and let us in", h.login)
}

// Keys are what one machine and its visitor hold.
type Keys struct {
	Host   ssh.Signer // what the machine must prove itself with
	Client ssh.Signer // what lets us in
}

// Spec makes a spec for an intent with fresh keys. The host name and the node tag derive from the intent.
func (h Harness) Spec(t testing.TB, intent string) (app.MachineSpec, Keys) {
	t.Helper()
	hostPEM, host := newKey(t)
	_, client := newKey(t)
	spec := app.MachineSpec{
		Intent:   intent,
		Hostname: strings.NewReplacer("/", "-", " ", "-").Replace(intent) + ".suite.test",
		Flavor:   app.Flavor{Flavor: h.Flavor},
		Image:    app.Image{Image: h.Image},
		Tags: map[string]string{
			app.TagInstallation: Installation,
			app.TagTenant:       "acme",
			app.TagCluster:      "c1",
			app.TagNode:         intent,
			app.TagIntent:       intent,
		},
		HostKey:       hostPEM,
		AuthorizedKey: AuthorizedKey(client.PublicKey()),
	}
	return spec, Keys{Host: host, Client: client}
}

// AuthorizedKey writes a public key as one line without a line break.
func AuthorizedKey(k ssh.PublicKey) string {
	return strings.TrimSpace(string(ssh.MarshalAuthorizedKey(k)))
}

func newKey(t testing.TB) ([]byte, ssh.Signer) {
	t.Helper()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	block, err := ssh.MarshalPrivateKey(private, "")
	if err != nil {
		t.Fatal(err)
	}
	signer, err := ssh.NewSignerFromKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(block), signer
}

func create(t testing.TB, p app.Provider, spec app.MachineSpec) app.Machine {
	t.Helper()
	m, err := p.Create(t.Context(), spec)
	if err != nil {
		t.Fatalf("create %s: %v", spec.Intent, err)
	}
	return m
}

func list(t testing.TB, p app.Provider, tags map[string]string) []app.Machine {
	t.Helper()
	ms, err := p.List(t.Context(), tags)
	if err != nil {
		t.Fatalf("list %v: %v", tags, err)
	}
	return ms
}

func wantCode(t testing.TB, what string, err error, code app.Code) {
	t.Helper()
	if app.CodeOf(err) != code {
		t.Errorf("%s: error %v has code %q, want %q", what, err, app.CodeOf(err), code)
	}
}

func atOnce[T any](n int, do func(i int) (T, error)) ([]T, error) {
	type result struct {
		i   int
		v   T
		err error
	}
	results := make(chan result)
	for i := range n {
		go func() {
			v, err := do(i)
			results <- result{i, v, err}
		}()
	}
	out := make([]T, n)
	var first error
	for range n {
		r := <-results
		out[r.i] = r.v
		if r.err != nil && first == nil {
			first = fmt.Errorf("call %d: %w", r.i, r.err)
		}
	}
	return out, first
}

// done gives a context that has already been cancelled.
func done(t testing.TB) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}
