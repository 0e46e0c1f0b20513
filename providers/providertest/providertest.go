package providertest

import (
	"maps"
	"slices"
	"testing"

	"muster/app/family"
	"muster/providers/conformance"

	"golang.org/x/crypto/ssh"
)

// The suite's words, for tests.
type (
	Harness = conformance.Harness[*testing.T]
	Wrong   = conformance.Wrong[*testing.T]
	Refusal = conformance.Refusal
	Keys    = conformance.Keys
	Fault   = conformance.Fault
	Faults  = conformance.Faults
	Late    = conformance.Late
)

// Installation is the value of family.TagInstallation in the suite's specs.
const Installation = conformance.Installation

// What an endpoint does to a call instead of answering it well.
const (
	Lost      = conformance.Lost
	Down      = conformance.Down
	Throttled = conformance.Throttled
)

// Run checks a member against the contract. With h.Judge, it then compares the checks that applied, which are those that weren't skipped, with the
// package's column in docs/providers.md, or writes that column: see `make provider-checks`.
func Run(t *testing.T, h Harness) {
	checks := append(conformance.Checks(h), conformance.DiskChecks(h)...)
	checks = append(checks, conformance.Case[*testing.T]{Name: "the story of `muster provider prove`", Do: func(t *testing.T) { RunStory(t, h) }})
	names, applied := make([]string, len(checks)), map[string]bool{}
	ran := 0
	for i, check := range checks {
		names[i] = check.Name
		t.Run(check.Name, func(t *testing.T) {
			ran++
			t.Cleanup(func() { applied[check.Name] = !t.Skipped() })
			check.Do(t)
		})
	}
	if h.Judge != "" && ran == len(checks) && !t.Failed() {
		compareColumn(t, h.Judge, names, applied)
	}
}

// RunStory checks what a member promises with a single machine.
func RunStory(t *testing.T, h Harness) { conformance.RunStory(t, h) }

// WithoutVolumes returns the harness of an account that has no volumes though the member makes some.
func WithoutVolumes(h Harness, why string) Harness {
	h.Skips = maps.Clone(h.Skips)
	if h.Skips == nil {
		h.Skips = map[string]string{}
	}
	for _, check := range conformance.DiskChecks(h) {
		h.Skips[check.Name] = why
	}
	return h
}

// AuthorizedKey writes a public key as one line without a line break.
func AuthorizedKey(k ssh.PublicKey) string { return conformance.AuthorizedKey(k) }

// Eventually asks until the machine is running and says where it is.
func Eventually(t testing.TB, p family.Provider, id string) family.Machine {
	t.Helper()
	return conformance.Eventually(t, p, id)
}

// Dial logs in with the given keys and holds the machine to its host key.
func Dial(t testing.TB, m family.Machine, k Keys) *ssh.Client {
	t.Helper()
	return conformance.Dial(t, m, k)
}

// Lacking returns, of what was found about quotas, the subjects of warnings, sorted and once, and the messages of errors.
func Lacking(found []family.Finding) (warned, wrong []string) {
	for _, f := range found {
		switch {
		case f.About != family.AboutQuota || f.OK:
		case f.Warning:
			warned = append(warned, f.Subject)
		default:
			wrong = append(wrong, f.Message)
		}
	}
	slices.Sort(warned)
	return slices.Compact(warned), wrong
}
