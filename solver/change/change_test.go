package change

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"muster/app"
	"muster/app/layout"
	"muster/app/template"
	"muster/solver/solvertest"
)

// webShop is a catalog with a template for a small web shop. log goes everywhere, since no constraint names it.
func webShop(alter ...func(*template.Catalog, *template.Constraints)) *template.Catalog {
	c := template.NewCatalog()
	c.Providers["p"] = &template.ProviderSpec{About: template.About{Name: "p"}, Zones: []string{"east", "west"}}
	for name, memory := range map[string]float64{"large": 16, "small": 4} {
		c.Hardware[name] = &template.HardwareType{About: template.About{Name: name},
			Providers: map[string]template.Flavor{"p": {Flavor: name, MemoryGB: memory, CostPerHour: memory / 100}}}
	}
	c.Images["debian"] = &template.ImageType{Providers: map[string]template.Image{"p": {Image: "debian"}}}
	for _, name := range []string{"app", "cache", "db", "log", "queue", "store"} {
		c.Services[name] = &template.Service{About: template.About{Name: name}}
	}
	c.Services["app"].Runtime.Requires = []string{"sql"}
	c.Services["db"].Provides = []string{"sql"}
	c.Services["queue"].Conflicts = []string{"cache"}
	t := &template.Template{About: template.About{Name: "shop"}, Defaults: template.Defaults{Provider: "p"}}
	t.Constraints = template.Constraints{Size: template.SizeRange{Min: 1, Max: 20}, Services: map[string]template.ServiceConstraint{
		"app":   solvertest.MinAvailable(1),
		"cache": solvertest.Between(1, 2),
		"db":    solvertest.Between(1, 1),
		"queue": solvertest.MinAvailable(1),
		"store": solvertest.Between(1, 3),
	}}
	for _, f := range alter {
		f(c, &t.Constraints)
	}
	c.Templates["shop"] = t
	return c
}

// existingNodes reads "app db/app/app@west": nodes n1, n2, ... with their services, all small.
func existingNodes(text string) []layout.ExistingNode {
	var out []layout.ExistingNode
	for i, one := range strings.Split(text, "/") {
		services, zone, _ := strings.Cut(one, "@")
		out = append(out, layout.ExistingNode{Name: fmt.Sprint("n", i+1), Hardware: "small", Image: "debian", Zone: zone,
			Services: strings.Fields(services)})
	}
	return out
}

// told writes what happens to whom: "n2 +cache (why)".
func reported(ch layout.Change) string {
	var lines []string
	for _, n := range ch.Nodes {
		line := n.Name
		if n.New {
			line += " new " + n.Hardware
		}
		if n.Deleted {
			line += " gone"
		}
		for _, s := range n.Removed {
			line += " -" + s
		}
		for _, s := range n.Added {
			line += " +" + s
		}
		if n.Zone != "" && n.New {
			line += " in " + n.Zone
		}
		if n.Why != "" {
			line += " (" + n.Why + ")"
		}
		if line != n.Name {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

func TestChangeStories(t *testing.T) {
	type limits = template.Constraints
	with := func(f func(*limits)) *template.Catalog {
		return webShop(func(_ *template.Catalog, l *template.Constraints) { f(l) })
	}
	apart := with(func(l *limits) { l.CantCoexistPairs = [][]string{{"cache", "app"}, {"cache", "db"}} })
	for _, s := range []struct {
		name    string
		catalog *template.Catalog
		request layout.ChangeRequest
		want    string
	}{
		{"an added service touches one node, the fullest",
			webShop(), layout.ChangeRequest{Nodes: existingNodes("app/app db/app"), Add: []string{"cache"}},
			"n2 +cache (one of 3 nodes that can run cache, with the most services)"},
		{"among equals the lowest number is changed",
			webShop(), layout.ChangeRequest{Nodes: existingNodes("app db/app/app"), Add: []string{"store"}, Size: 3},
			"n1 +store (the first of 3 nodes that can run store)"},
		{"what no constraint names runs on every node",
			webShop(), layout.ChangeRequest{Nodes: existingNodes("app db/app"), Add: []string{"log"}},
			"n1 +log (log runs on every node)\nn2 +log (log runs on every node)"},
		{"a minimum is met",
			with(func(l *limits) { l.Services["store"] = solvertest.Between(2, 3) }),
			layout.ChangeRequest{Nodes: existingNodes("app db/app/app"), Add: []string{"store"}},
			"n1 +store (the first of 3 nodes that can run store)\nn2 +store (one of 3 nodes that can run store)"},
		{"where no node can take it there is a new one",
			apart, layout.ChangeRequest{Nodes: existingNodes("app db/app"), Add: []string{"cache"}},
			"n3 new small +cache (the existing nodes can't run as many of cache as required)"},
		{"new nodes are as those that stand, unless asked otherwise",
			apart, layout.ChangeRequest{Nodes: existingNodes("app db/app"), Add: []string{"cache"}, Hardware: "large"},
			"n3 new large +cache (the existing nodes can't run as many of cache as required)"},
		{"a removed service leaves its nodes",
			webShop(), layout.ChangeRequest{Nodes: existingNodes("app cache db/app cache"), Remove: []string{"cache"}},
			"n1 -cache\nn2 -cache"},
		{"a node left without services stays",
			webShop(), layout.ChangeRequest{Nodes: existingNodes("app db/cache"), Remove: []string{"cache"}},
			"n2 -cache (left without services; a smaller size would delete it)"},
		{"and goes where fewer are asked for",
			webShop(), layout.ChangeRequest{Nodes: existingNodes("app db/cache/app"), Remove: []string{"cache"}, Size: 2},
			"n2 gone (no services left on it)"},
		{"growth leaves existing nodes alone",
			webShop(), layout.ChangeRequest{Nodes: existingNodes("app cache db/app"), Size: 4},
			"n3 new small +app +cache\nn4 new small +app"},
		{"numbers continue after the highest",
			webShop(), layout.ChangeRequest{Nodes: []layout.ExistingNode{{Name: "n10", Hardware: "small", Image: "debian",
				Services: []string{"app", "db"}}, {Name: "n9", Hardware: "small", Image: "debian", Services: []string{"app"}}}, Size: 3},
			"n11 new small +app"},
		{"a ratio asks for more with growth",
			with(func(l *limits) {
				l.Services["store"] = solvertest.MinAvailable(1)
				l.Ratios = []template.Ratio{{Service: "cache", Per: 2, Of: "app"}}
			}), layout.ChangeRequest{Nodes: existingNodes("app cache db/app"), Size: 4, Prefer: template.PreferPacked},
			"n3 new small +app +cache\nn4 new small +app"},
		{"the youngest goes",
			webShop(), layout.ChangeRequest{Nodes: existingNodes("app db/app/app/app/app cache"), Size: 4},
			"n4 gone (the newest of 3 nodes with only app)"},
		{"what is only on the youngest stays",
			webShop(), layout.ChangeRequest{Nodes: existingNodes("app db/app/store"), Size: 2},
			"n2 gone (runs app, which still runs on 1 node)"},
		{"several go",
			webShop(), layout.ChangeRequest{Nodes: existingNodes("app db/app/app/app"), Size: 2},
			"n3 gone (one of the 2 newest of 3 nodes with only app)\nn4 gone (one of the 2 newest of 3 nodes with only app)"},
		{"zones stay even",
			with(func(l *limits) { l.Zones = &template.ZoneRule{MaxSkew: 1} }),
			layout.ChangeRequest{Nodes: existingNodes("app db@east/app@west/app@east/app@west"), Size: 2},
			"n3 gone (runs app, which still runs on 2 nodes)\nn4 gone (the newest of 2 nodes with only app)"},
		{"new nodes go where fewer are",
			with(func(l *limits) { l.Zones = &template.ZoneRule{MaxSkew: 1} }),
			layout.ChangeRequest{Nodes: existingNodes("app db@east/app@east/app@west"), Size: 4},
			"n4 new small +app in west"},
		{"a new version that forbids company moves services, if they may",
			with(func(l *limits) { l.CantCoexist = [][]string{{"app", "db"}} }),
			layout.ChangeRequest{Nodes: existingNodes("app db/app"), AllowMoves: true},
			"n1 -app (app and db can't coexist)"},
		{"a machine that is not allowed any more is replaced, if services may move",
			webShop(func(c *template.Catalog, _ *template.Constraints) { delete(c.Hardware["small"].Providers, "p") }),
			layout.ChangeRequest{Nodes: existingNodes("app db"), AllowMoves: true},
			"n1 gone (it has hardware small, which provider p doesn't offer)\n" +
				"n2 new large +app +db (the existing nodes alone can't satisfy the constraints of template shop)"},
		{"a service that is to be removed need not exist",
			webShop(func(c *template.Catalog, _ *template.Constraints) { delete(c.Services, "cache") }),
			layout.ChangeRequest{Nodes: existingNodes("app cache db"), Remove: []string{"cache"}}, "n1 -cache"},
		{"one for another",
			webShop(), layout.ChangeRequest{Nodes: existingNodes("app db/app cache/app"), Remove: []string{"cache"}, Add: []string{"queue"}},
			"n2 -cache +queue (one of 3 nodes that can run queue, and changed anyway)"},
	} {
		t.Run(s.name, func(t *testing.T) {
			s.request.Template = "shop"
			got, err := New().Change(context.Background(), s.catalog, s.request)
			if err != nil {
				t.Fatalf("%v\n%s", err, app.AsError(err).Hint)
			}
			if reported(got) != s.want {
				t.Errorf("got\n%s\nwant\n%s", reported(got), s.want)
			}
			checkChange(t, s.catalog, s.request, servicesAfter(s.request), got)
			again, _ := New().Change(context.Background(), s.catalog, s.request)
			if !reflect.DeepEqual(got, again) {
				t.Error("another answer the second time")
			}
		})
	}
}

func TestChangeRefusals(t *testing.T) {
	type limits = template.Constraints
	with := func(f func(*limits)) *template.Catalog {
		return webShop(func(_ *template.Catalog, l *template.Constraints) { f(l) })
	}
	for _, s := range []struct {
		name    string
		catalog *template.Catalog
		request layout.ChangeRequest
		want    string // code, reason, field, message, hint
	}{
		{"nothing exists", webShop(), layout.ChangeRequest{},
			"invalid bad_request nodes: the cluster has no nodes to change [Create a cluster instead.]"},
		{"two of a name", webShop(), layout.ChangeRequest{Nodes: append(existingNodes("app db"), existingNodes("app")...)},
			"invalid bad_request nodes: two nodes have the name n1 [List each node once.]"},
		{"an unknown service exists", webShop(), layout.ChangeRequest{Nodes: existingNodes("app db mail")},
			"invalid missing_service nodes: node n1 has service mail, which doesn't exist [Remove mail, or restore it in the catalog.]"},
		{"an unknown service is added", webShop(), layout.ChangeRequest{Nodes: existingNodes("app db"), Add: []string{"mail"}},
			"not_found missing_service add: service mail doesn't exist []"},
		{"a size below nothing", webShop(), layout.ChangeRequest{Nodes: existingNodes("app db"), Size: -1},
			"invalid bad_request size: Choose at least 1 node (you entered -1) [Omit the size to keep the current number of nodes.]"},
		{"a size too large", webShop(), layout.ChangeRequest{Nodes: existingNodes("app db"), Size: 21},
			"invalid size size: Choose 1–20 nodes (you entered 21). []"},
		{"a size between the allowed ones", webShop(func(_ *template.Catalog, l *template.Constraints) {
			l.Size = template.SizeRange{Min: 1, Max: 7, OneOf: []int{1, 3, 7}}
		}),
			layout.ChangeRequest{Nodes: existingNodes("app db"), Size: 4}, "invalid size size: Choose 1, 3 or 7 nodes (you entered 4). []"},
		{"added twice", webShop(), layout.ChangeRequest{Nodes: existingNodes("app db"), Add: []string{"app"}},
			"invalid bad_request add: app is already on the cluster [Add only services that the cluster doesn't have. To run a service on more nodes, increase the size.]"},
		{"removed though not there", webShop(), layout.ChangeRequest{Nodes: existingNodes("app db"), Remove: []string{"log"}},
			"invalid bad_request remove: log isn't on the cluster [The cluster has app and db.]"},
		{"all removed", webShop(), layout.ChangeRequest{Nodes: existingNodes("cache"), Remove: []string{"cache"}},
			"invalid bad_request remove: a cluster needs at least one service [Delete the cluster instead.]"},
		{"still required", webShop(), layout.ChangeRequest{Nodes: existingNodes("app db"), Remove: []string{"db"}},
			"invalid missing_dependency remove: app requires sql, so db cannot be removed. " +
				"[Remove those that require it too, or add what provides it.]"},
		{"a conflict", webShop(), layout.ChangeRequest{Nodes: existingNodes("cache"), Add: []string{"queue"}},
			"invalid conflict add: queue conflicts with cache. []"},
		{"a missing dependency", webShop(), layout.ChangeRequest{Nodes: existingNodes("cache"), Add: []string{"app"}},
			"invalid missing_dependency add: app requires sql, which isn't on the cluster. []"},
		{"what is only there holds a node", webShop(), layout.ChangeRequest{Nodes: existingNodes("app db/app/store"), Size: 1},
			"no_layout no_solution : This change isn't possible without moving services: at most 1 of the 3 nodes can be deleted; " +
				"db runs only on n1 and can't move; store runs only on n3 and can't move. " +
				"[Use 2 nodes instead of 1; allow services to move, which affects 3 machines.]"},
		{"no room at that size", with(func(l *limits) { l.CantCoexist = [][]string{{"cache", "app"}, {"cache", "db"}} }),
			layout.ChangeRequest{Nodes: existingNodes("app db/app"), Add: []string{"cache"}, Size: 2},
			"no_layout no_solution : This change isn't possible without moving services: no node can run cache. " +
				"[Use 3 nodes instead of 2; allow services to move, which affects 1 machine.]"},
		{"a new version forbids company", with(func(l *limits) { l.CantCoexist = [][]string{{"app", "db"}} }),
			layout.ChangeRequest{Nodes: existingNodes("app db/app")},
			"no_layout no_solution : This change isn't possible without moving services: " +
				"n1 can't stay as it is, since app and db can't coexist. [Allow services to move, which affects 1 machine.]"},
		{"a new version allows fewer", with(func(l *limits) { l.Services["app"] = solvertest.Between(1, 1) }),
			layout.ChangeRequest{Nodes: existingNodes("app db/app log")},
			"no_layout no_solution : This change isn't possible without moving services: " +
				"app is on 2 nodes (n1 and n2), but can be on at most 1. [Allow services to move, which affects 1 machine.]"},
		{"a new version needs a GPU", webShop(func(c *template.Catalog, _ *template.Constraints) { c.Services["db"].Needs.GPUs = 1 }),
			layout.ChangeRequest{Nodes: existingNodes("app db/app")},
			"no_layout no_solution : This change isn't possible without moving services: n1 can't stay as it is, since its services need 1 GPU, but hardware small has none. []"},
		{"more stand than are allowed", with(func(l *limits) { l.Size.Max = 1 }),
			layout.ChangeRequest{Nodes: existingNodes("app db/app")},
			"invalid size size: the cluster has 2 nodes, and template shop allows at most 1 [Choose a size of 1.]"},
	} {
		t.Run(s.name, func(t *testing.T) {
			s.request.Template = "shop"
			ch, err := New().Change(context.Background(), s.catalog, s.request)
			if err == nil {
				t.Fatalf("got\n%s", inGrid(ch))
			}
			e := app.AsError(err)
			if got := fmt.Sprintf("%s %s %s: %s [%s]", e.Code, e.Reason, e.Field, e.Message, e.Hint); got != s.want {
				t.Errorf("got\n%s\nwant\n%s", got, s.want)
			}
		})
	}
}

func TestChangeGrowsFar(t *testing.T) {
	c := webShop(func(_ *template.Catalog, l *template.Constraints) { l.Size.Max = template.Unlimited })
	for _, size := range []int{0, 5000} {
		if c.Templates["shop"].Constraints.Size.Min = 1; size == 0 {
			c.Templates["shop"].Constraints.Size.Min = 3000
		}
		r := layout.ChangeRequest{Template: "shop", Nodes: existingNodes("app db"), Size: size}
		got, err := New().Change(context.Background(), c, r)
		if err != nil {
			t.Fatal(err)
		}
		if want := max(size, 3000); len(got.Nodes) != want || got.Touched != want-1 {
			t.Errorf("%d nodes, %d touched, want %d", len(got.Nodes), got.Touched, want)
		}
		checkChange(t, c, r, servicesAfter(r), got)
	}
}

func TestChangeStopsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := New().Change(ctx, webShop(), layout.ChangeRequest{Template: "shop", Nodes: existingNodes("app db"), Add: []string{"cache"}})
	if app.CodeOf(err) != app.ETimeout {
		t.Errorf("got %v", err)
	}
}

func TestChangeText(t *testing.T) {
	got, err := New().Change(context.Background(), webShop(), layout.ChangeRequest{Template: "shop",
		Nodes: existingNodes("app db/app cache/app/app/app/app"), Remove: []string{"cache"}, Add: []string{"store"}, Size: 5})
	if err != nil {
		t.Fatal(err)
	}
	const want = `
   node        hardware  image   app  cache  db  store
~  n1          small     debian  x    .      x   +      the first of 6 nodes that can run store
-  n2          small     debian  -    -      .   .      runs app, which still runs on 5 nodes
   n3..n6 (4)  small     debian  x    .      .   .

5 nodes afterwards, 2 machines affected, 0.20 per hour
`
	if "\n"+inGrid(got) != want {
		t.Errorf("got\n%s", inGrid(got))
	}
}
