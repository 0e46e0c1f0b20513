package planner_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"muster/app"
	"muster/app/plan"
	apptemplate "muster/app/template"
	"muster/planner"
)

// coopr is where Coopr's published catalog lies in a full checkout; without it the test is skipped.
const coopr = "../../shared/reference/coopr-definitions"

// TestPublishedCatalog plans every template of Coopr's catalog with its default services, all on each of three nodes
// and spread over as many nodes as there are services.
func TestPublishedCatalog(t *testing.T) {
	templates, _ := filepath.Glob(coopr + "/clustertemplates/*.json")
	if len(templates) == 0 {
		t.Skip("Coopr's catalog is not here")
	}
	services := readServices(t)
	planned := 0
	for _, file := range templates {
		var template struct {
			Name     string
			Defaults struct {
				Services []any
				Config   map[string]any
			}
		}
		read(t, file, &template)
		var names []string
		for _, s := range template.Defaults.Services {
			if name, ok := s.(string); ok && services[name] != nil {
				names = append(names, name)
			}
		}
		if len(names) < len(template.Defaults.Services) {
			t.Logf("%s names services that the catalog lacks", template.Name)
			continue
		}
		slices.Sort(names)
		together := plan.Request{Kind: app.OperationCreate, Services: services, Config: template.Defaults.Config}
		spread := together
		for i := range 3 {
			together.Nodes = append(together.Nodes, plan.Node{Name: app.NodeName(i + 1), Services: names})
		}
		for i := range names {
			spread.Nodes = append(spread.Nodes, plan.Node{Name: app.NodeName(i + 1), Services: names[i : i+1]})
		}
		for _, r := range []plan.Request{together, spread} {
			p, err := planner.New().Plan(r)
			if err != nil {
				t.Errorf("%s: %v", template.Name, err)
				continue
			}
			sound(t, p)
			want, _ := oracle(named(t, r))
			for id, before := range pathsOf(p) {
				for need := range want[id] {
					if !before[need] {
						t.Fatalf("%s: %s does not wait for %s", template.Name, id, need)
					}
				}
			}
			planned++
		}
	}
	if planned < 20 {
		t.Errorf("only %d plans were made", planned)
	}
}

// named returns for the oracle the services that the configuration speaks of in the form that it knows.
func named(t *testing.T, r plan.Request) plan.Request {
	m, err := apptemplate.ParseMacros(r.Config)
	if err != nil {
		t.Fatal(err)
	}
	r.Config = map[string]any{}
	for _, s := range m.References() {
		r.Config[s] = nil
	}
	return r
}

func readServices(t *testing.T) map[string]*apptemplate.Service {
	files, err := filepath.Glob(coopr + "/services/*.json")
	if err != nil {
		t.Fatal(err)
	}
	services := map[string]*apptemplate.Service{}
	for _, file := range files {
		var s struct {
			Name         string
			Dependencies struct {
				Provides         []string
				Install, Runtime apptemplate.Dependencies
			}
			Provisioner struct{ Actions map[app.Action]any }
		}
		read(t, file, &s)
		entry := &apptemplate.Service{About: apptemplate.About{Name: s.Name}, Provides: s.Dependencies.Provides,
			Install: s.Dependencies.Install, Runtime: s.Dependencies.Runtime, Actions: map[app.Action]*apptemplate.ServiceAction{}}
		for a := range s.Provisioner.Actions {
			entry.Actions[a] = &apptemplate.ServiceAction{}
		}
		services[s.Name] = entry
	}
	return services
}

func read(t *testing.T, file string, into any) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(b, into)
	}
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}
