package planner_test

import (
	"strings"
	"testing"

	"muster/app"
	"muster/app/template"
	"muster/planner"
)

// everything is an update in which all happens that can happen.
const everything = `
	kind upgrade
	batch 1
	service base actions=install
	service files runtime.requires=db actions=install,remove
	service old runtime.requires=base,files install.requires=files actions=install,start,stop,remove
	service db install.requires=base actions=install,configure,start,stop health=yes
	service web runtime.requires=db install.requires=base actions=install,configure,initialize,start,reload,stop health=yes
	service lb runtime.uses=web actions=install,configure,start,reload,stop
	node base lb=reload web=restart db=restart
	node base=upgrade +db -old
	node base=upgrade web=upgrade db=upgrade -files
	new base web
	new base web
	gone base old web
	gone base files
	replaced base db web
	replaced base db web
	node base=upgrade web=configure db=start old=stop
	config servers %ip.service.web%
	config stores %ip.service.db%`

// TestEveryEdgeHasAReason looks at all edges of plans in which all happens that can happen, with hooks around it, and of their
// rollbacks.
func TestEveryEdgeHasAReason(t *testing.T) {
	for name, problem := range map[string]string{
		"create":              "service a health=yes\nnode x3 a\nconfig k %ip.service.a%",
		"update":              everything,
		"update at once":      strings.Replace(everything, "batch 1", "", 1),
		"rollback":            strings.Replace(everything, "replaced", "# replaced", 2) + "\nfailed n6.delete",
		"rollback, all gone":  strings.Replace(strings.Replace(everything, "replaced", "# replaced", 2), "batch 1", "batch 2", 1) + "\nfailed n7.delete",
		"rollback of a batch": strings.Replace(everything, "replaced", "# replaced", 2) + "\nfailed n3.web.start",
	} {
		t.Run(name, func(t *testing.T) {
			r := parseProblem(t, problem)
			r.Hooks = []template.OperationHook{script("a", template.HookBefore), script("b", template.HookBefore, "lb"), script("y", template.HookAfter), script("z", template.HookAfter, "lb")}
			p, err := planner.New().Plan(r)
			if err != nil {
				t.Fatal(err)
			}
			if len(p.Steps) < 20 {
				t.Fatalf("hardly anything happens:\n%s", listing(p))
			}
			tidy(t, p, len(r.Services))
		})
	}
}

func TestWhyOfUpdates(t *testing.T) {
	for _, tt := range []struct{ problem, step, need, want string }{
		{"kind repair\nservice a actions=start\nreplaced a", "n1.create", "n1.delete", "the old machine must be deleted first"},
		{"kind resize\nservice a actions=start\nnew a\nnode a=reload", "all.ready", "n1.a.start", "everything that starts must be running first"},
		{"kind resize\nservice a actions=configure,start\nnew a\nnode a=reload", "n2.a.configure", "all.ready", "everything that starts must be running first"},
		{"kind resize\nservice a actions=configure,stop\ngone a\nnode a=configure", "n1.a.stop", "all.done", "nodes that stay must be ready before anything stops or is deleted"},
		{"kind restart\nbatch 1\nservice a\nnode a=restart\nnode a=restart", "n2.a.stop", "batch.2", "the previous batch must finish first"},
		{"kind restart\nbatch 1\nservice a\nnode a=restart\nnode a=restart", "batch.2", "n1.a.start", "the previous batch must finish first"},
		{"kind restart\nservice a\nservice b runtime.requires=a\nnode a=restart b=restart", "n1.a.stop", "n1.b.stop", "a stops after b, which needs it at runtime"},
		{"kind reconfigure\nservice a health=yes\nservice b runtime.requires=a actions=configure,reload\nnode a=reload b=reload", "n1.b.reload", "n1.a.check",
			"b is reloaded after a is healthy, which it needs at runtime"},
		{"kind start\nservice a health=yes\nnode a=start", "n1.a.check", "n1.a.start", "a must have started first"},
		{"kind resize\nservice a actions=install\nservice b runtime.requires=a\ngone a\ngone b", "n1.delete", "n2.b.stop", "b needs a service on this machine at runtime, so it stops first"},
		{"kind resize\nservice a\ngone a", "n1.delete", "n1.a.stop", "a must have stopped first"},
		{"kind remove_services\nservice a actions=remove\nservice b install.requires=a actions=remove\nnode -a -b", "n1.a.remove", "n1.b.remove",
			"a is removed after b, which needs it to be installed"},
	} {
		p, err := planner.New().Plan(parseProblem(t, tt.problem))
		if err != nil {
			t.Fatal(err)
		}
		if got := planner.Why(p, index(t, p, tt.step), index(t, p, tt.need)); got != tt.want {
			t.Errorf("%s needs %s: %q, want %q", tt.step, tt.need, got, tt.want)
		}
	}
}

func TestUpdatesThatDoNotFitTogether(t *testing.T) {
	for _, tt := range []struct{ problem, says string }{
		{"kind resize\nservice a\nnew +a", "n1 is new as a whole"},
		{"kind resize\nservice a\ngone a=stop", "n1 is gone as a whole"},
		{"kind resize\nservice a\nnode a -a", "a is removed from n1 but is still in its resulting services"},
		{"kind resize\nservice a\nnode +a a=reload", "a can't be changed on n1: the service must be there before and after"},
		{"kind resize\nservice a\nnode a=dance", `Unknown work for a on n1: "dance"`},
		{"kind resize\nbatch -1\nservice a\nnode a", "not -1"},
	} {
		_, err := planner.New().Plan(parseProblem(t, tt.problem))
		e := app.AsError(err)
		if err == nil || e.Code != app.EInvalid || e.Reason != "change" || !strings.Contains(e.Message, tt.says) {
			t.Errorf("%q: got %v, want it to say %q", tt.problem, err, tt.says)
		}
	}
	r := parseProblem(t, "kind resize\nservice a\nnode a\nnode a\nnode a")
	r.Nodes[0].Change = "moved"
	r.Nodes[1].Added = []string{"b"}
	for range 2 {
		if _, err := planner.New().Plan(r); app.AsError(err).Reason != "change" {
			t.Errorf("%+v: %v", r.Nodes[0], err)
		}
		r.Nodes[0].Change = ""
	}
}
