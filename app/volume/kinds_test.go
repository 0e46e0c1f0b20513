package volume

import (
	"strings"
	"testing"

	"muster/app"
	"muster/app/plan"
	"muster/app/template"
)

func kinds() Kinds {
	return Kinds{Makes: func(k string) bool { return k != "static" }, Snapshots: func(k string) bool { return k == "cloud" },
		AtCreation: func(k string) bool { return k == "docker" }}
}

func planned(node string, s template.Snapshots) Planned {
	return Planned{Node: node, NodeVolume: template.NodeVolume{Service: "db", Volume: template.Volume{Name: "data", Snapshots: s}}}
}

func TestKindsOfProviders(t *testing.T) {
	daily := template.Snapshots{Every: "24h", Keep: 7}
	for _, c := range []struct {
		kind   string
		copies template.Snapshots
		reason string
		first  bool
	}{
		{"cloud", daily, "", false},
		{"docker", template.Snapshots{}, "", true},
		{"docker", daily, "no_snapshots", true},
		{"static", template.Snapshots{}, "no_volumes", false},
	} {
		list := []Planned{planned("n1", c.copies)}
		e := app.AsError(kinds().Check(&template.ProviderSpec{About: template.About{Name: "p"}, Type: c.kind}, list))
		if got := reasonOf(e); got != c.reason {
			t.Errorf("%s, %+v: %v", c.kind, c.copies, e)
		}
		if c.reason != "no_volumes" && (MadeFirst(list, "n1") != c.first || MadeFirst(list, "n2")) {
			t.Errorf("%s: %+v", c.kind, list)
		}
	}
}

func reasonOf(e *app.Error) string {
	if e == nil {
		return ""
	}
	return e.Reason
}

// A machine that stays can't get a volume, or lose one, where volumes are mounted only when it's created.
func TestVolumesOfMachinesThatStay(t *testing.T) {
	has := []Volume{{Cluster: "c", Node: "n1", Service: "db", Name: "data"}}
	added, removed := plan.Node{Name: "n1", Added: []string{"db"}}, plan.Node{Name: "n1", Removed: []string{"db"}}
	for what, c := range map[string]struct {
		kind    string
		has     []Volume
		node    plan.Node
		refused string
	}{
		"a service is added":                  {"docker", nil, added, "can't mount volume data"},
		"a service is upgraded":               {"docker", nil, plan.Node{Name: "n1", Work: map[string]plan.ServiceWork{"db": plan.WorkUpgrade}}, "can't mount volume data"},
		"its volume is kept, not the node's":  {"docker", []Volume{{Node: "n1", Service: "db", Name: "data"}}, added, "can't mount volume data"},
		"a service is set up again":           {"docker", has, added, ""},
		"another service is added":            {"docker", nil, plan.Node{Name: "n1", Added: []string{"web"}}, ""},
		"a machine is new":                    {"docker", nil, plan.Node{Name: "n1", Change: plan.NodeNew, Added: []string{"db"}}, ""},
		"a service is removed":                {"docker", has, removed, "can't unmount volume data"},
		"where volumes can be attached later": {"cloud", nil, added, ""},
	} {
		err := kinds().CheckStays(&template.ProviderSpec{Type: c.kind}, []Planned{planned("n1", template.Snapshots{})}, c.has, []plan.Node{c.node})
		if (err == nil) != (c.refused == "") || err != nil && !strings.Contains(err.Error(), c.refused) {
			t.Errorf("%s: %v", what, err)
		}
	}
}
