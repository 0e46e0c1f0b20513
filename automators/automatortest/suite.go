package automatortest

import (
	"os"
	"strings"
	"testing"

	"muster/app/family"
	"muster/app/template"
	"muster/automators/conformance"
	"muster/jobs/remote"
	"muster/jobs/remote/remotetest"
)

// Member is what the suite has to know of an automator.
type Member struct {
	New func() family.Automator

	OK       map[string]string // fields of an action that succeeds, however often it is run
	OKSays   string            // is part of a line that it says
	Fail     map[string]string // fields of an action that fails
	FailSays []string          // parts of the error's message: the exit code, the reason
	Slow     map[string]string // fields of an action that takes minutes
	SlowSays string            // part of a line of its output once it's running
	Invalid  []Invalid         // fields that Check refuses

	// In the values of all fields, and of WantFacts: {home} is the directory of the node in which an action may leave files.

	// Changes are the fields of an action that changes something on a node that it has not seen, and nothing the second time; for an
	// family.DryRunner. ChangesSay are parts of what its dry run tells, each of another line.
	Changes    map[string]string
	ChangesSay []string
	// Facts are the fields of an action that finds something out, and WantFacts is what that is. nil where the tool has no such thing.
	Facts     map[string]string
	WantFacts map[string]string

	// Resources fills the directory of resources of every call, and says which they are. nil: there are none.
	Resources func(t testing.TB, dir string) []template.ResourceRef
	// Slowly is for a tool that takes seconds to start: it is tried over OpenSSH alone, two times at once instead of four, and once where another time
	// would find the same.
	Slowly bool

	Env  []string                  // added to the environment of commands on the node: PATH=dir:$PATH has its tool found there
	Call func(*family.ServiceCall) // completes every call, such as by resources; nil where there is nothing to add
}

// Invalid is a set of fields with the name of the one that is wrong.
type Invalid = conformance.Invalid

// Secret is in the cluster configuration of every call.
const Secret = conformance.Secret

// Run runs the suite, which is that of package conformance.
func Run(t *testing.T, m Member) {
	of := conformance.Member{New: m.New, OK: m.OK, OKSays: m.OKSays, Fail: m.Fail, FailSays: m.FailSays, Slow: m.Slow, SlowSays: m.SlowSays, Invalid: m.Invalid,
		Changes: m.Changes, ChangesSay: m.ChangesSay, Facts: m.Facts, WantFacts: m.WantFacts, Slowly: m.Slowly, Call: m.Call}
	conformance.Describe(t, of)
	for name, node := range map[string]func(t testing.TB) *remotetest.Node{
		"in-process": func(t testing.TB) *remotetest.Node { return &remotetest.Start(t, remotetest.Options{Env: m.Env}).Node },
		"openssh": func(t testing.TB) *remotetest.Node {
			var env []string
			for _, e := range m.Env {
				env = append(env, strings.Replace(e, "$PATH", os.Getenv("PATH"), 1))
			}
			return remotetest.OpenSSHWith(t, env...)
		},
	} {
		if m.Slowly && name != "openssh" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			n := node(t)
			sh, err := remote.Dial(t.Context(), n.Target())
			if err != nil {
				t.Fatal(err)
			}
			defer sh.Close()
			on := conformance.Node{Shell: sh, Home: n.Home, Temp: n.Temp, State: n.State}
			if m.Resources != nil {
				on.Resources = t.TempDir()
				on.Refs = m.Resources(t, on.Resources)
			}
			conformance.Run(t, of, on)
		})
	}
}
