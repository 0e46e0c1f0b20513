package planner_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"
	"muster/app"
	"muster/app/plan"
	"muster/planner"
)

var update = flag.Bool("update", false, "rewrite the plans in testdata")

// TestGolden plans the problems in testdata. A file holds a problem, the plan step by step, the reason of every need,
// and the drawings.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no problems in testdata", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			have, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			problem := string(have.Files[0].Data)
			want := &txtar.Archive{Comment: have.Comment, Files: []txtar.File{have.Files[0]}}
			put := func(name, data string) {
				want.Files = append(want.Files, txtar.File{Name: name, Data: []byte(data)})
			}
			p, err := planner.New().Plan(parseProblem(t, problem))
			if err != nil {
				e := app.AsError(err)
				put("error", string(e.Code)+" "+e.Reason+"\n"+e.Message+"\n"+e.Hint+"\n")
			} else {
				if len(p.Steps) < 100 {
					put("plan", listing(p))
				}
				put("why", reasons(p))
				var text, dot bytes.Buffer
				if err := planner.Text(&text, p); err != nil {
					t.Fatal(err)
				}
				if err := planner.Dot(&dot, p); err != nil {
					t.Fatal(err)
				}
				put("text", text.String())
				if len(p.Steps) < 30 {
					put("dot", dot.String())
				}
			}
			got := txtar.Format(want)
			if *update {
				if err := os.WriteFile(file, got, 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if old := txtar.Format(have); !bytes.Equal(got, old) {
				t.Errorf("%s changed (-update rewrites it); now:\n%s", file, got)
			}
		})
	}
}

// reasons writes why each step waits, each reason once.
func reasons(p plan.Plan) string {
	var lines []string
	for i, s := range p.Steps {
		for _, n := range s.Needs {
			line := planner.Why(p, i, n) + "\n"
			if !slices.Contains(lines, line) {
				lines = append(lines, line)
			}
		}
	}
	return strings.Join(lines, "")
}

func TestWhy(t *testing.T) {
	r := parseProblem(t, `
		service base actions=install
		service store install.requires=base
		service app install.requires=base runtime.requires=store
		service lb actions=configure
		node lb
		node x2 base store
		node x2 app base
		config peers %host.service.lb% %ip.service.app%`)
	p, err := planner.New().Plan(r)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ step, need, want string }{
		{"n1.confirm", "n1.create", "the machine must exist first"},
		{"n1.bootstrap", "n1.confirm", "the machine must respond and prove its identity first"},
		{"n1.lb.configure", "n1.bootstrap", "the machine must be prepared first"},
		{"n1.lb.configure", "all.confirm", "config names addresses of these machines"},
		{"all.confirm", "n1.confirm", "config names addresses of n1, which runs lb"},
		{"all.confirm", "all.app.confirm", "config names addresses of app"},
		{"all.app.confirm", "n4.confirm", "config names addresses of app"},
		{"n4.app.install", "all.base.install", "app is installed after base on every node, which it needs to be installed"},
		{"all.base.install", "n2.base.install", "base must be installed on every node that runs it"},
		{"n4.app.configure", "n4.app.install", "app must be installed first"},
		{"n4.app.initialize", "all.store.start", "app is initialized after store has started on every node, which it needs at runtime"},
		{"all.store.start", "n3.store.start", "store must have started on every node that runs it"},
		{"n4.app.start", "n4.app.initialize", "app must be initialized first"},
		{"n4.app.start", "n1.create", ""},
	} {
		if got := planner.Why(p, index(t, p, tt.step), index(t, p, tt.need)); got != tt.want {
			t.Errorf("%s needs %s: %q, want %q", tt.step, tt.need, got, tt.want)
		}
	}
	if planner.Why(p, -1, 0) != "" || planner.Why(p, 0, len(p.Steps)) != "" || planner.Why(p, len(p.Steps), 0) != "" {
		t.Error("a step that does not exist has a reason")
	}
}

func TestRefusals(t *testing.T) {
	for _, tt := range []struct{ name, problem, reason, says string }{
		{"a kind without a plan", "kind dance\nnode", "kind", `"dance"`},
		{"a service without an entry", "node ghost", "missing_service", "ghost is on n1"},
		{"services that wait for each other",
			"service a runtime.requires=b\nservice b runtime.uses=c\nservice c provides=x runtime.requires=a\nnode a b c",
			"cycle", "a, b and c wait for each other to start: a requires b, b uses c, c requires a"},
		{"a cycle through an alias", "service a provides=x install.requires=b\nservice b install.uses=x\nnode a b",
			"cycle", "a and b wait for each other to be installed: a requires b, b uses x, which a provides"},
		{"a wrong macro", "service a\nnode a\nconfig k %nope%", "macro", "config.k"},
		{"an index beyond the layout", "service a\nnode a\nconfig k %host.service.a[1]%", "macro_index", "names node 2 with a"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := planner.New().Plan(parseProblem(t, tt.problem))
			e := app.AsError(err)
			if err == nil || e.Code != app.EInvalid || e.Reason != tt.reason || !strings.Contains(e.Message, tt.says) {
				t.Errorf("got %v (%s), want %s saying %q", err, e.Reason, tt.reason, tt.says)
			}
		})
	}
	r := parseProblem(t, "node\nnode")
	r.Nodes[1].Name = "n1"
	if _, err := planner.New().Plan(r); app.CodeOf(err) != app.EInvalid {
		t.Errorf("two nodes of one name: %v", err)
	}
}

func TestRules(t *testing.T) {
	for _, tt := range []struct {
		name, problem, step string
		needs               []string // through joins
	}{
		{"a service waits for its own chain and for others to start",
			"service s\nservice a runtime.requires=s\nnode a s", "n1.a.initialize", []string{"n1.s.start", "n1.a.configure"}},
		{"initialize already waited, so start need not", "service s\nservice a runtime.requires=s\nnode a s",
			"n1.a.start", []string{"n1.a.initialize"}},
		{"without initialize start waits", "service s\nservice a runtime.requires=s actions=start\nnode a\nnode s",
			"n1.a.start", []string{"n1.bootstrap", "n2.s.start"}},
		{"bootstrap is implied by a service of the same node", "service s\nservice a runtime.requires=s actions=start\nnode a s",
			"n1.a.start", []string{"n1.s.start"}},
		{"only direct dependencies", "service a\nservice b install.requires=a\nservice c install.requires=a,b\nnode a b c",
			"n1.c.install", []string{"n1.b.install"}},
		{"the search continues where the action is missing",
			"service a\nservice b install.requires=a actions=start\nservice c install.requires=b\nnode a\nnode b c",
			"n2.c.install", []string{"n1.a.install", "n2.bootstrap"}},
		{"what another dependency implies is left out, also behind a missing action",
			"service s1\nservice s2 runtime.uses=s1 actions=configure\nservice s3 runtime.uses=s1\n" +
				"service s5\nservice s6 runtime.uses=s5 actions=initialize\nservice s4 runtime.uses=s2,s3,s6 actions=initialize,start\n" +
				"node s1 s2 s3 s4 s5 s6", "n1.s4.initialize", []string{"n1.s3.start", "n1.s5.start"}},
		{"all that provide a name", "service p1 provides=db\nservice p2 provides=db\nservice a install.requires=db\nnode a\nnode p1\nnode p2",
			"n1.a.install", []string{"n1.bootstrap", "n2.p1.install", "n3.p2.install"}},
		{"its own alias is no reason to wait", "service a provides=db install.requires=db runtime.requires=db\nnode x2 a",
			"n2.a.install", []string{"n2.bootstrap"}},
		{"a dependency that isn't on the cluster", "service a install.uses=ghost\nnode a", "n1.a.install", []string{"n1.bootstrap"}},
		{"configure waits for no other service", "service s\nservice a install.requires=s runtime.requires=s\nnode s\nnode a",
			"n2.a.configure", []string{"n2.a.install"}},
		{"a node waits for every node of the other service", "service s\nservice a install.requires=s\nnode x2 s\nnode x2 a",
			"n4.a.install", []string{"n1.s.install", "n2.s.install", "n4.bootstrap"}},
		{"addresses in config", "service a\nservice b\nnode x2 a\nnode b\nconfig k %host.service.a%",
			"n3.b.install", []string{"n1.confirm", "n2.confirm", "n3.bootstrap"}},
		{"one's own address is known after bootstrap", "service a\nservice b\nnode a\nnode b\nconfig k %ip.service.a[0]%",
			"n1.a.install", []string{"n1.bootstrap"}},
		{"numbers and own addresses need no one", "service a\nnode x2 a\nconfig k %num.service.a% %ip.self% %instance.self.service.a%",
			"n1.a.install", []string{"n1.bootstrap"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, err := planner.New().Plan(parseProblem(t, tt.problem))
			if err != nil {
				t.Fatal(err)
			}
			got := ids(p, p.NeedsOf(index(t, p, tt.step)))
			slices.Sort(got)
			slices.Sort(tt.needs)
			if !reflect.DeepEqual(got, tt.needs) {
				t.Errorf("%s needs %v, want %v\n%s", tt.step, got, tt.needs, listing(p))
			}
		})
	}
}

func TestRankIsTheLongestPathToTheEnd(t *testing.T) {
	p, err := planner.New().Plan(parseProblem(t, "service s actions=start\nservice a runtime.uses=s actions=install,start\nnode x2 s\nnode x2 a"))
	if err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]time.Duration{
		"n3.create": 95 * time.Second, "n3.a.start": 5 * time.Second, "n3.a.install": 35 * time.Second,
		"all.s.start": 5 * time.Second, "n1.s.start": 10 * time.Second, "n1.create": 70 * time.Second,
	} {
		if got := p.Steps[index(t, p, id)].Rank; got != want {
			t.Errorf("%s has rank %s, want %s", id, got, want)
		}
	}
	if p.Duration() != 95*time.Second {
		t.Errorf("the plan takes %s", p.Duration())
	}
}

func TestRequestIsNotChanged(t *testing.T) {
	shared := []string{"b", "a", "b"}
	r := parseProblem(t, "service a\nservice b")
	r.Nodes = []plan.Node{{Name: "n1", Services: shared}, {Name: "n2", Services: shared[:2]}}
	p, err := planner.New().Plan(r)
	if err != nil || !reflect.DeepEqual(shared, []string{"b", "a", "b"}) || len(r.Nodes[0].Services) != 3 {
		t.Errorf("%v, %v", shared, err)
	}
	if p.Acts() != 2*(4+2*4) {
		t.Errorf("%d acts", p.Acts())
	}
}
