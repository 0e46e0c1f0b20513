package jobs

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"muster/app"
	"muster/app/execution"
	"muster/app/family"
	"muster/app/health"
	"muster/app/humanize"
	"muster/app/plan"
	"muster/app/template"
	"muster/jobs/remote"
)

// checkNode finds out, in one session, whether the node is what every service may assume, and keeps the report. A required
// check that fails fails the step; advised ones are said.
func (w *actions) checkNode(ctx context.Context, as *execution.Assignment, sh family.Shell, out family.Output, r *execution.Report) error {
	if !remote.OnMachine(sh) {
		return nil
	}
	want := w.assertions(as)
	nodeInfo, err := askNode(ctx, sh, want)
	if err != nil {
		return err
	}
	r.Contract = &health.NodeReport{Checks: want.judge(nodeInfo), At: nodeInfo.heard}
	for _, c := range r.Contract.Failed(health.NodeAdvised) {
		out(family.StreamSystem, "Recommendation not met: "+c.String()+". "+c.Hint)
	}
	required := *r.Contract
	if as.Action == app.ActionNames { // all else was required when the node was bootstrapped, and its services run by now
		for _, c := range r.Contract.Failed(health.NodeRequired) {
			if c.Name != namesCheck {
				out(family.StreamSystem, "Requirement not met: "+c.String()+". "+c.Hint)
			}
		}
		required.Checks = slices.DeleteFunc(slices.Clone(required.Checks), func(c app.NodeCheck) bool { return c.Name != namesCheck })
	}
	if err := required.Err(as.Node.Name); err != nil {
		return err
	}
	if len(r.Contract.Failed(health.NodeRequired)) > 0 {
		return nil
	}
	out(family.StreamSystem, fmt.Sprintf("The node meets all requirements (%s).", humanize.Count(len(r.Contract.Checks), "check")))
	return nil
}

// assertions are what a node has to be.
type assertions struct {
	node     app.Node
	sudo     bool               // it is asked with root rights
	hosts    []family.HostEntry // names that it must resolve, as many as fit into namesBytes
	of       int                // how many there are in all
	image    template.Image     // what it was made of, where that is known
	flavor   template.Flavor    // how large it was ordered, where that is known
	tools    []string           // programs that it needs, sorted
	provider string             // for people
	now      func() time.Time   // the worker's clock
}

// namesBytes bounds how many names are looked up, since the script that does it is one argument, of 128 KiB at most. All names of
// app.NamesMost nodes fit where they are of usual length. They are in one file, so a sample tells, too.
const namesBytes = 80 << 10

// tooled is an automator that can say which programs it needs on the node. Default: none but those of every node.
type tooled interface {
	Tools() []string
}

// everyNode are the programs that the remote shell needs.
var everyNode = []string{"cat", "chmod", "grep", "head", "id", "mkdir", "mktemp", "mv", "rm", "sh", "sleep", "wc"}

func (w *actions) assertions(as *execution.Assignment) assertions {
	c := assertions{node: as.Node, image: as.Machine.Image, flavor: as.Machine.Flavor, provider: as.Cluster.Provider, now: time.Now}
	c.sudo = as.Node.SSHUser != "" && as.Node.SSHUser != "root"
	c.tools = slices.Clone(everyNode)
	for _, name := range as.Automators {
		if t, ok := w.Automators[name].(tooled); ok {
			c.tools = append(c.tools, t.Tools()...)
		}
	}
	slices.Sort(c.tools)
	c.tools = slices.Compact(c.tools)
	c.of = len(as.Hosts)
	size := 0
	for _, e := range as.Hosts {
		if size += len(e.Address) + 1; len(e.Names) > 0 {
			size += len(e.Names[0]) + 1
		}
		if size > namesBytes || len(c.hosts) == plan.NamesMost {
			break
		}
		c.hosts = append(c.hosts, e)
	}
	return c
}

// nodeInfo is what a node said of itself.
type nodeInfo struct {
	said  map[string][]string // by key, in order
	root  bool                // it was asked with root rights
	began time.Time           // by the worker's clock
	heard time.Time           // when the node reported its time
}

// one returns the only value of a key, "" where it did not say.
func (f nodeInfo) one(key string) string {
	if v := f.said[key]; len(v) > 0 {
		return v[0]
	}
	return ""
}

// keys that a node may say, and whether more than once.
var keys = map[string]bool{
	"time": false, "uid": false, "os": false, "version": false, "hostname": false, "address": true, "addresses": false,
	"resolved": true, "reversed": true, "resolver": false, "memory": false, "gpus": false, "disk": false, "missing": true, "firewall": false,
	"passwords": false, "end": false,
}

// mark begins every line that counts. A login shell may say other things.
const mark = "muster-node "

// askNode runs the script. An answer that is not complete or not understood is ETransient: the node may have been
// interrupted; it is never taken for a good one.
func askNode(ctx context.Context, sh family.Shell, c assertions) (nodeInfo, error) {
	f := nodeInfo{said: map[string][]string{}, root: true, began: c.now()}
	var wrong, last string
	ask := func(sudo bool) (int, error) {
		return sh.Run(ctx, family.Command{Line: c.script(), Sudo: sudo, Fork: true}, func(s app.Stream, line string) {
			said, ours := strings.CutPrefix(line, mark)
			if s != family.StreamOut || !ours {
				if s == family.StreamErr && strings.TrimSpace(line) != "" {
					last = line
				}
				return
			}
			key, value, ok := strings.Cut(said, "=")
			many, known := keys[key]
			if !ok || !known || !many && len(f.said[key]) > 0 || len(f.said[key]) > 2*plan.NamesMost {
				wrong = line
				return
			}
			if key == "time" {
				f.heard = c.now()
			}
			f.said[key] = append(f.said[key], strings.TrimSpace(value))
		})
	}
	exit, err := ask(c.sudo)
	if c.sudo && app.CodeOf(err) == app.ECredentials && app.AsError(err).Reason == "no_sudo" {
		f.root = false
		exit, err = ask(false)
	}
	switch {
	case err != nil:
		return f, err
	case wrong != "":
		return f, app.Errorf(app.ETransient, "Node %s sent an unexpected response: %.200q.", c.node.Name, wrong)
	case exit != 0 || f.one("end") != "ok" || f.one("time") == "":
		return f, app.Errorf(app.ETransient, "Node %s sent an incomplete response (exit code %d): %.200s", c.node.Name, exit, last)
	}
	return f, nil
}
