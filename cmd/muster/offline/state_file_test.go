package offline

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"muster/app/layout"
)

func TestStateFile(t *testing.T) {
	node := func(name, hardware string, services ...string) layout.ExistingNode {
		return layout.ExistingNode{Name: name, Hardware: hardware, Image: "host", Services: services}
	}
	for name, tc := range map[string]struct {
		text string
		want existing
	}{
		"the answer of solve": {
			`{"layout":[{"count":1,"hardware":"big","image":"host","services":["db"],"cost_per_hour":1.5},
			            {"count":2,"hardware":"small","image":"host","services":["web","agent"],"cost_per_hour":0.2}],"cost_per_hour":1.7}`,
			existing{Nodes: []layout.ExistingNode{node("n1", "big", "db"), node("n2", "small", "agent", "web"), node("n3", "small", "agent", "web")}},
		},
		"zones": {
			`{"layout":[{"count":1,"hardware":"big","image":"host","services":["db"],"zone":"b"}]}`,
			existing{Nodes: []layout.ExistingNode{{Name: "n1", Hardware: "big", Image: "host", Zone: "b", Services: []string{"db"}}}},
		},
		"the answer of cluster show": {
			`{"id":"shop-1","template":"shop","provider":"here","size":2,"status":"active","nodes":[
			  {"cluster":"shop-1","name":"n1","hostname":"n1.shop","hardware":"big","image":"host","services":["db"],"status":"ready","own_root":true},
			  {"cluster":"shop-1","name":"n2","hardware":"small","image":"host","services":["web"],"status":"deleted"},
			  {"cluster":"shop-1","name":"n4","hardware":"small","image":"host","services":["web"],"status":"ready"}],"operations":[],"links":[]}`,
			existing{Template: "shop", Provider: "here", Nodes: []layout.ExistingNode{node("n1", "big", "db"), node("n4", "small", "web")}},
		},
		"the answer of solve --from": {
			`{"nodes":[{"name":"n1","hardware":"big","image":"host","services":["db"],"added":["db"]},
			           {"name":"n2","hardware":"big","image":"host","services":["db"],"deleted":true}],"touched":2,"cost_per_hour":1}`,
			existing{Nodes: []layout.ExistingNode{node("n1", "big", "db")}},
		},
		"a list":              {" \n[{\"name\":\"a\",\"hardware\":\"big\",\"image\":\"host\",\"services\":[\"x\"]}]\n", existing{Nodes: []layout.ExistingNode{node("a", "big", "x")}}},
		"no nodes":            {`[]`, existing{}},
		"an empty layout":     {`{"layout":[]}`, existing{}},
		"a node with nothing": {`[{"name":"a","hardware":"big","image":"host"}]`, existing{Nodes: []layout.ExistingNode{node("a", "big")}}},
	} {
		got, err := parseState([]byte(tc.text))
		if err != nil || fmt.Sprint(got) != fmt.Sprint(tc.want) || len(got.Nodes) > 0 && got.Nodes[0].Services != nil && !reflect.DeepEqual(got, tc.want) {
			t.Errorf("%s: got %+v, %v\nwant %+v", name, got, err, tc.want)
		}
	}
}

func TestStateFileErrorsHavePositions(t *testing.T) {
	for text, want := range map[string]string{
		"":                                       "1:1: the JSON value is incomplete",
		"{\"layout\": [\n{\"count\": 1":          "2:12: the JSON value is incomplete",
		"{\"layout\": [\n  {count: 1}]}":         "2:4: not valid JSON: unexpected 'c'",
		"hello":                                  "1:1: not valid JSON: unexpected 'h'",
		"7":                                      "1:1: it can't be a JSON number",
		"{\"layout\": 3}":                        "1:12: layout can't be a JSON number",
		"[{\"name\": \"a\",\n \"hardware\": 5}]": "2:14: hardware can't be a JSON number",
		"{\"nodes\": [{\"services\": \"web\"}]}": "nodes.services can't be a JSON string",
		"{\"layout\": []} {}":                    "unexpected text after the JSON value",
		"{}":                                     ` either "layout" or "nodes" is required`,
		"null":                                   ` either "layout" or "nodes" is required`,
		`{"layout":[{"count":0,"hardware":"a","image":"b"}]}`:                                 " layout[0]: count must be at least 1, not 0",
		`{"layout":[{"count":2000000,"hardware":"a","image":"b"}]}`:                           " layout[0]: more than 1000000 nodes",
		`{"layout":[{"count":1,"hardware":"a"}]}`:                                             " layout[0]: image is required",
		`[{"hardware":"a","image":"b"}]`:                                                      " nodes[0]: name is required",
		`[{"name":"n1","image":"b"}]`:                                                         " nodes[0]: hardware is required",
		`[{"name":"n1","hardware":"a","image":"b","services":["x","x"]}]`:                     " nodes[0] lists a service twice",
		`[{"name":"n1","hardware":"a","image":"b"},{"name":"n1","hardware":"a","image":"b"}]`: " nodes[1] has the same name n1 as nodes[0]",
	} {
		got, err := parseState([]byte(text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %+v, %v; want %q", text, got, err, want)
		}
	}
}

func FuzzStateFile(f *testing.F) {
	f.Add([]byte(`{"layout":[{"count":1,"hardware":"big","image":"host","services":["db"]}]}`))
	f.Add([]byte(`[{"name":"a","hardware":"big","image":"host","services":["x"]}]`))
	f.Add([]byte(`{"nodes":[{"name":"n1","deleted":true}]`))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := parseState(b)
		if err != nil && err.Error() == "" {
			t.Error("an error without words")
		}
		seen := map[string]bool{}
		for _, n := range s.Nodes {
			if n.Name == "" || n.Hardware == "" || n.Image == "" || seen[n.Name] {
				t.Errorf("%q is read: %+v", b, n)
			}
			seen[n.Name] = true
		}
	})
}

func TestBrief(t *testing.T) {
	for d, want := range map[time.Duration]string{
		850 * time.Nanosecond: "0.8 µs", 85 * time.Microsecond: "85 µs", 1400 * time.Microsecond: "1.4 ms", 17 * time.Millisecond: "17 ms",
		1300 * time.Millisecond: "1.3 s", 72 * time.Second: "72 s",
	} {
		if got := brief(d); got != want {
			t.Errorf("%v is %q, want %q", d, got, want)
		}
	}
}
