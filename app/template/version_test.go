package template

import (
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestCatalogVersionsContainNoSettings(t *testing.T) {
	c := NewCatalog()
	c.Providers["cloud"] = &ProviderSpec{About: About{Name: "cloud"}, Type: "fake", Settings: map[string]any{"token": "planted-token"}}
	c.Templates["web"] = &Template{About: About{Name: "web", Origin: Origin{File: "a.yaml", Line: 3}}}
	c.Written["web"] = c.Templates["web"]
	c.Written["part"] = &Template{About: About{Name: "part"}, Partial: true}
	list := c.Versions("server", time.Now())
	var names []string
	for _, v := range list {
		names = append(names, v.Kind+" "+v.Name)
		if strings.Contains(v.Text, "planted") || len(v.Hash) != 64 {
			t.Errorf("kept: %+v", v)
		}
	}
	if want := []string{"provider cloud", "template web", "template part"}; !reflect.DeepEqual(names, want) {
		t.Errorf("kept %v, want %v", names, want)
	}
	// Where an entry is written is no part of what it says.
	moved := *c.Templates["web"]
	moved.Origin.Line = 70
	if moved.Digest() != c.Templates["web"].Digest() {
		t.Error("a template that moved in its file is another version")
	}
}

func TestDifferencesAreListedByPath(t *testing.T) {
	got, err := Flatten(`{"name": "web", "defaults": {"services": ["a", "b"], "config": {"x": {"y": 1.50}}}, "parameters": [{"name": "port", "min": "1"}], "links": [{"url": "u"}]}`)
	want := map[string]string{"name": "web", "defaults.services": `["a","b"]`, "defaults.config.x.y": "1.50", "parameters[port].name": "port",
		"parameters[port].min": "1", "links[0].url": "u"}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
}
