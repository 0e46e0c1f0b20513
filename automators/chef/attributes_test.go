package chef

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"muster/app"
	"muster/app/family"
)

func TestMerged(t *testing.T) {
	for name, tc := range map[string]struct{ under, over, want string }{
		"nothing":                     {`{}`, `{}`, `{}`},
		"deep":                        {`{"a":{"b":1,"c":2}}`, `{"a":{"b":3}}`, `{"a":{"b":3,"c":2}}`},
		"lists are replaced":          {`{"a":[1,2]}`, `{"a":[3]}`, `{"a":[3]}`},
		"another kind wins":           {`{"a":{"b":1}}`, `{"a":"x"}`, `{"a":"x"}`},
		"an object over a value":      {`{"a":"x"}`, `{"a":{"b":1}}`, `{"a":{"b":1}}`},
		"null wins":                   {`{"a":1}`, `{"a":null}`, `{"a":null}`},
		"a number stays what it said": {`{"a":12345678901234567890}`, `{}`, `{"a":12345678901234567890}`},
	} {
		under, _ := decode([]byte(tc.under))
		over, _ := decode([]byte(tc.over))
		before, _ := decode([]byte(tc.under))
		got, _ := json.Marshal(merged(under, over))
		if string(got) != tc.want {
			t.Errorf("%s: %s, want %s", name, got, tc.want)
		}
		if !reflect.DeepEqual(under, before) {
			t.Errorf("%s: what is under was changed", name)
		}
	}
}

// The configuration and what the service says of coopr itself are both there, and what is notified of the cluster wins.
func TestAttributesKeepCooprValuesOfTheService(t *testing.T) {
	b, err := attributes(family.ServiceCall{NodeContext: family.NodeContext{Cluster: "c1", Hostname: "h"}, Config: map[string]any{"coopr": map[string]any{"own": 1}},
		Fields: map[string]string{"json_attributes": `{"coopr": {"hostname": "other", "node": 1}}`}}, "/out")
	if err != nil {
		t.Fatal(err)
	}
	got, err := decode(b)
	if err != nil {
		t.Fatal(err)
	}
	c := got["coopr"].(map[string]any)
	if c["hostname"] != "h" || c["own"] != json.Number("1") || c["node"] != json.Number("1") || c["clusterId"] != "c1" {
		t.Errorf("coopr is %v", c)
	}
	if mine := got["muster"].(map[string]any); !reflect.DeepEqual(mine["cluster"], c["cluster"]) || mine["outputs"] != "/out" {
		t.Error("muster tells of another cluster")
	}
}

// Whatever a service says, the place for facts is put where it belongs, and nowhere else.
func TestCutAttributes(t *testing.T) {
	for _, own := range []string{`{}`, `{"a": "muster-outputs-0", "z": "muster-outputs-1"}`, `{"muster": {"outputs": "mine", "zz": "muster-outputs-0"}}`} {
		c := family.ServiceCall{Fields: map[string]string{"json_attributes": own}}
		before, after, err := cutAttributes(c)
		if err != nil {
			t.Fatal(err)
		}
		want, err := attributes(c, "/there")
		if got := before + "/there" + after; err != nil || got != string(want) {
			t.Errorf("%s: %s, want %s, %v", own, got, want, err)
		}
	}
}

func TestRunList(t *testing.T) {
	for in, want := range map[string]string{
		"recipe[a]": "recipe[a]", " recipe[a::b] ,role[c],\nd::e\n": "recipe[a::b],role[c],d::e", "a,a": "a", "recipe[a@1.2.3]": "recipe[a@1.2.3]",
	} {
		if got, err := readRunList(in); err != nil || got != want {
			t.Errorf("%q: %q, %v", in, got, err)
		}
	}
	for _, bad := range []string{"", ",", "recipe[]", "recipe[a", "recipe[a b]", "role[a::b]", "-x", "a;b", "$(a)"} {
		if bad == "-x" {
			continue // a name may begin with a dash, and comes after an option that wants a value
		}
		if _, err := readRunList(bad); app.CodeOf(err) != app.EInvalid {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// Whatever json_attributes say, they are refused, or merged into JSON that has them.
func FuzzAttributes(f *testing.F) {
	for _, s := range []string{`{}`, `{"a": {"b": [1, null]}}`, `{"coopr": 1}`, `{"muster": {"cluster": []}}`, `[]`, `{"a":1e999}`, `{"a":%config.x%}`, "{\"\xff\":1}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		c := family.ServiceCall{NodeContext: family.NodeContext{Hostname: "h"}, Config: map[string]any{"a": map[string]any{"b": 1}}, Fields: map[string]string{"json_attributes": s}}
		b, err := attributes(c, "/out")
		if err != nil {
			if app.AsError(err).Field != "json_attributes" {
				t.Fatal(err)
			}
			return
		}
		got, err := decode(b)
		if err != nil {
			t.Fatalf("%s: %v", b, err)
		}
		if h := got["coopr"].(map[string]any)["hostname"]; h != "h" {
			t.Fatalf("the hostname is %v", h)
		}
		if again, _ := attributes(c, "/out"); string(again) != string(b) {
			t.Fatal("another answer")
		}
	})
}

func FuzzRunList(f *testing.F) {
	for _, s := range []string{"recipe[a::b]", "role[x],y", "a@1.0", "'", "a\nb"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, err := readRunList(s)
		if err != nil {
			return
		}
		if strings.ContainsAny(got, " \n'\"$;&|`") {
			t.Fatalf("%q became %q", s, got)
		}
		if again, err := readRunList(got); err != nil || again != got {
			t.Fatalf("%q became %q, then %q, %v", s, got, again, err)
		}
	})
}

func TestMacrosInFields(t *testing.T) {
	for fields, good := range map[[2]string]bool{
		{"recipe[%config.book%]", `{"port": %config.port%, "name": "%host.self%"}`}: true,
		{"recipe[a]", `{"port": %config.port%`}:                                     false,
		{"recipe[a b%x%]", ""}:                                                      false,
	} {
		if err := New().Check(map[string]string{"run_list": fields[0], "json_attributes": fields[1]}); (err == nil) != good {
			t.Errorf("%q: %v", fields, err)
		}
	}
}

// coopr-forms.json has the run list and attributes of every kind that Coopr's own catalog has; the catalog itself is read where it is at hand.
func TestCooprServices(t *testing.T) {
	b, err := os.ReadFile("testdata/coopr-forms.json")
	if err != nil {
		t.Fatal(err)
	}
	var forms []map[string]string
	if err := json.Unmarshal(b, &forms); err != nil || len(forms) < 8 {
		t.Fatal(len(forms), err)
	}
	for _, f := range forms {
		if err := New().Check(f); err != nil {
			t.Errorf("%v: %v", f, err)
		}
	}
	files, _ := filepath.Glob("../../../shared/reference/coopr-definitions/services/*.json")
	actions := 0
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var s struct {
			Provisioner struct {
				Actions map[string]struct {
					Type   string
					Fields map[string]string
				}
			}
		}
		if err := json.Unmarshal(b, &s); err != nil {
			t.Fatal(file, err)
		}
		for name, a := range s.Provisioner.Actions {
			if a.Type != Name {
				continue
			}
			actions++
			if err := New().Check(a.Fields); err != nil {
				t.Errorf("%s: %s: %v", filepath.Base(file), name, err)
			}
			if _, err := payload(family.ServiceCall{Service: "s", Fields: a.Fields}, false); err != nil {
				t.Errorf("%s: %s: %v", filepath.Base(file), name, err)
			}
		}
	}
	t.Logf("%d actions of Coopr's catalog", actions)
	if len(files) > 0 && actions < 100 {
		t.Errorf("only %d actions of the catalog run Chef", actions)
	}
}
