package conformance

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"fmt"
	"net/http"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"
	"muster/app"
	"muster/app/family"
	"muster/app/template"
)

// Installation is the value of family.TagInstallation in the suite's specs.
const Installation = "suite"

// Harness says how to get at a member.
type Harness[S T[S]] struct {
	// Open returns an account without any machine, and leaves none behind when the test ends.
	Open func(t S) family.Provider
	// Reopen returns the same account once more, as another process would see it. Nil where there is no such thing.
	Reopen func(t S) family.Provider
	// Flavor and Image are names that the account knows.
	Flavor, Image string
	// Hardware and System, where set, are used instead of Flavor and Image: as a catalog has them, with their extra fields.
	Hardware template.Flavor
	System   template.Image
	// Zone is one of the account's zones, "" where it has none.
	Zone string
	// Refuses, when set, are specs that the member must turn away with EInvalid, by what is wrong with them.
	Refuses map[string]func(*family.MachineSpec)
	// Login says that machines answer SSH for real: the suite logs in, and holds the machine to its host key.
	Login bool
	// OwnHostKeys says that machines have host keys before they are made, and keep them: Machine.HostKey tells which, and the one of the spec is not given.
	OwnHostKeys bool

	// Patience is how long a machine may take to get ready; 0 means 20 s, for endpoints that are simulated. Where it is set, the suite also asks less often.
	Patience time.Duration

	// Faults is in front of the simulated endpoint, for members that speak to one. Nil for others.
	Faults *Faults
	// Reads tells calls that change nothing; nil: those by GET.
	Reads func(*http.Request) bool
	// Refusals are what the cloud says no to: no room, quota, credentials and so on.
	Refusals []Refusal
	// Partial are the calls of a create beside the one that makes the machine, by what they do, such as "tags". Firewall is given along.
	Partial map[string]func(*http.Request) bool
	// Firewall is one that the member can make; nil where it makes none.
	Firewall *template.Firewall
	// Behind names, as the endpoint has it, the firewalls that hold for a machine, by their names among what a cluster shares. Members that make firewalls for
	// a simulated endpoint need it.
	Behind func(t S, id string) []string
	// Named returns, as the endpoint has it, what a name in the account's DNS zone leads to, sorted, such as "A 192.0.2.7"; Take has someone else put a record at a
	// name. Members that keep names need both.
	Named func(t S, name string) []string
	Take  func(t S, name, kind, data string)
	// Left names all that the endpoint holds but what an account has from its beginning. Nil where no one can tell.
	Left func(t S) []string
	// Late returns an account without any machine whose lists lag behind, until the test ends. Members that list late and speak to a simulated endpoint need it;
	// nil for those whose lists are true at once.
	Late func(t S) Late
	// Vanish has a machine go by other means than ours, as when someone deletes it in the cloud's own console. Members that speak to a simulated
	// endpoint should have it.
	Vanish func(t S, id string)
	// Mount is where volumes are mounted; "" means /srv/suite. NoVolume and NoMachine are ids in the cloud's form that it doesn't have; "" means any text.
	Mount, NoVolume, NoMachine string
	// VolumesAtCreation says that machines only have the volumes that they are created with.
	VolumesAtCreation bool
	// MakesVolume reports whether a call makes a volume. Members that make volumes and speak to a simulated endpoint need it.
	MakesVolume func(*http.Request) bool
	// MakesImage reports whether a call makes an image of a machine. Members that make them and speak to a simulated endpoint need it.
	MakesImage func(*http.Request) bool
	// NoSnapshot is an id of a snapshot in the cloud's form that it doesn't have, and MakesSnapshot reports whether a call
	// makes a snapshot. Members that make snapshots and speak to a simulated endpoint need both.
	NoSnapshot    string
	MakesSnapshot func(*http.Request) bool
	// SnapshotOf returns, as the endpoint has it, the snapshot that a volume was made of, and SpoilSnapshots has the next
	// snapshots end in failure. Nil where no one can tell, or none does.
	SnapshotOf     func(t S, volume string) string
	SpoilSnapshots func(t S, n int)
	// Wrong are accounts with something wrong in them, at least ten for a cloud.
	Wrong []Wrong[S]
	// Judge is what the member talks to in a test, such as "simulated" or "real". With one, the checks that apply are compared with the table in
	// docs/providers.md; see providertest.Run.
	Judge string
	// Skips are checks that this endpoint can't serve, by their names, and why. A real endpoint's lists can't be made to lag, for example.
	Skips map[string]string
}

// Case is one of the things that a member promises.
type Case[S T[S]] struct {
	Name string
	Do   func(S)
}

// Run checks a member against the contract.
func Run[S T[S]](t S, h Harness[S]) {
	for _, check := range Checks(h) {
		t.Run(check.Name, check.Do)
	}
}

// Checks returns what the contract promises of machines and accounts.
func Checks[S T[S]](h Harness[S]) []Case[S] {
	return h.withSkips([]Case[S]{
		{"create, describe, list and delete", h.lifeCycle},
		{"unknown machines", h.absent},
		{"one intent, requested twice, is one machine", h.sameIntent},
		{"one intent, requested concurrently, is one machine", h.sameIntentAtOnce},
		{"many concurrent creates", h.manyAtOnce},
		{"tags are stored and distinguished", h.tags},
		{"existing machines are listed, deleted ones aren't", h.found},
		{"a machine is in the requested zone", h.zoned},
		{"a cancelled context changes nothing", h.cancelled},
		{"invalid specs are rejected", h.refused},
		{"a machine keeps its address", addresses[S]{h}.keepsAddress},
		{"machines outlive the provider's process", h.reopened},
		{"a vanished machine can be deleted", addresses[S]{h}.vanished},
		{"machines sleep, wake and keep their files", power[S]{h}.sleeps},
		{"machines start from images made of others", baking[S]{h}.bakes},
		{"a lost response makes no second image", baking[S]{h}.lostAnswers},
		{"machines prove their identity and accept our key", h.login},
		{"a lost response creates no second machine", endpoint[S]{h}.lostAnswers},
		{"a machine that lists late is created once and can be deleted", lists[S]{h}.late},
		{"cloud failures have their codes", endpoint[S]{h}.failures},
		{"rejections have their codes and create nothing", endpoint[S]{h}.refusals},
		{"partial creates are completed or cleaned up", endpoint[S]{h}.partial},
		{"firewalls are created and deleted", endpoint[S]{h}.firewalls},
		{"a machine is adopted by another cluster and its firewall", adoption[S]{h}.adopted},
		{"names resolve to machines and are deleted with them", names[S]{h}.named},
		{"offers contain usable flavors and images", endpoint[S]{h}.offers},
		{"account checks find problems", endpoint[S]{h}.checks},
	})
}

// DiskChecks returns what a member promises about volumes and snapshots of them. They're apart, so that the server, which holds
// programs to the contract, need not carry them: programs make no volumes.
func DiskChecks[S T[S]](h Harness[S]) []Case[S] {
	return h.withSkips([]Case[S]{
		{"volumes outlive their machines", disks[S]{h}.volumes},
		{"a lost response creates no second volume", disks[S]{h}.lostAnswers},
		{"a volume that lists late is created once", disks[S]{h}.late},
		{"cloud failures have their codes for volumes", disks[S]{h}.failures},
		{"snapshots outlive their volumes", copies[S]{disks[S]{h}}.snapshots},
		{"a lost response creates no second snapshot", copies[S]{disks[S]{h}}.lostAnswers},
		{"a snapshot that lists late is created once", copies[S]{disks[S]{h}}.late},
		{"cloud failures have their codes for snapshots", copies[S]{disks[S]{h}}.failures},
		{"a snapshot that failed is created again", copies[S]{disks[S]{h}}.spoiled},
	})
}

// withSkips skips what the endpoint can't serve.
func (h Harness[S]) withSkips(checks []Case[S]) []Case[S] {
	for i := range checks {
		if why := h.Skips[checks[i].Name]; why != "" {
			checks[i].Do = func(t S) { t.Skip(why) }
		}
	}
	return checks
}

const (
	usualPatience = 20 * time.Second
	usualPause    = 5 * time.Millisecond
)

func (h Harness[S]) patience() time.Duration { return cmp.Or(h.Patience, usualPatience) }

func (h Harness[S]) pause() time.Duration { return h.patience() / 4000 }

// Keys are what one machine and its visitor hold.
type Keys struct {
	Host   ssh.Signer // what the machine must prove itself with
	Client ssh.Signer // what lets us in
}

// Spec makes a spec for an intent with fresh keys. The host name and the node tag derive from the intent.
func (h Harness[S]) Spec(t TB, intent string) (family.MachineSpec, Keys) {
	t.Helper()
	hostPEM, host := newKey(t)
	_, client := newKey(t)
	spec := family.MachineSpec{
		Intent:   intent,
		Hostname: strings.NewReplacer("/", "-", " ", "-").Replace(intent) + ".suite.test",
		Flavor:   h.Hardware,
		Image:    h.System,
		Tags: map[string]string{
			family.TagInstallation: Installation,
			family.TagTenant:       "acme",
			family.TagCluster:      "c1",
			family.TagNode:         intent,
			family.TagIntent:       intent,
		},
		HostKey:       hostPEM,
		AuthorizedKey: AuthorizedKey(client.PublicKey()),
	}
	spec.Flavor.Flavor, spec.Image.Image = cmp.Or(spec.Flavor.Flavor, h.Flavor), cmp.Or(spec.Image.Image, h.Image)
	return spec, Keys{Host: host, Client: client}
}

// AuthorizedKey writes a public key as one line without a line break.
func AuthorizedKey(k ssh.PublicKey) string {
	return strings.TrimSpace(string(ssh.MarshalAuthorizedKey(k)))
}

func newKey(t TB) ([]byte, ssh.Signer) {
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

func create(t TB, p family.Provider, spec family.MachineSpec) family.Machine {
	t.Helper()
	m, err := p.Create(t.Context(), spec)
	if err != nil {
		t.Fatalf("create %s: %v", spec.Intent, err)
	}
	return m
}

func list(t TB, p family.Provider, tags map[string]string) []family.Machine {
	t.Helper()
	ms, err := p.List(t.Context(), tags)
	if err != nil {
		t.Fatalf("list %v: %v", tags, err)
	}
	return ms
}

func wantCode(t TB, what string, err error, code app.Code) {
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

// done returns a context that has already been cancelled.
func done(t TB) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}
