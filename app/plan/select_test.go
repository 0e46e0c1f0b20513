package plan

import (
	"strings"
	"testing"

	"muster/app"
)

func TestNodesAreSelected(t *testing.T) {
	nodes := []app.Node{
		{Name: "n1", Services: []string{"web"}, Hardware: "small", Image: "debian", Zone: "a"},
		{Name: "n2", Services: []string{"db", "web"}, Hardware: "large", Image: "debian", Zone: "b"},
		{Name: "n3", Services: []string{"db"}, Hardware: "large", Image: "alpine"},
		{Name: "n4", Services: []string{"db"}, Status: app.NodeDeleted},
		{Name: "n5", Services: []string{"db"}, Leaving: true},
	}
	for on, want := range map[string]string{
		"node=n2":                        "n2",
		"node=n3 node=n1":                "n1 n3",
		"service=db":                     "n2 n3",
		"service=db service=web":         "n1 n2 n3",
		"service=db zone=b":              "n2",
		"hardware=large image=alpine":    "n3",
		"service=web hardware=large":     "n2",
		"zone=a image=alpine":            "No node fits all selectors.",
		"node=n4":                        `No node has node "n4".`,
		"node=n5":                        `No node has node "n5".`,
		"zone=":                          `No node has zone "".`,
		"role=web":                       `Nodes can't be chosen by "role".`,
		"n1":                             `Nodes can't be chosen by "n1".`,
		"=":                              `Nodes can't be chosen by "".`,
		strings.Repeat("node=n1 ", 1001): "There are more than 1000 selectors.",
	} {
		got, err := Select(nodes, strings.Fields(on))
		text := strings.Join(got, " ")
		if err != nil {
			if e := app.AsError(err); e.Code != app.EInvalid || e.Field != "on" || e.Hint == "" {
				t.Errorf("%.40s: %+v", on, e)
			}
			text = app.AsError(err).Message
		}
		if text != want {
			t.Errorf("%.40s: %s, want %s", on, text, want)
		}
	}
}
