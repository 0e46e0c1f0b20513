package portal

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"muster/app/file/catalog"
	"muster/cmd/muster/wiring/faces"
	"muster/portal/build"
	"muster/portal/site"

	"github.com/danielgtaylor/huma/v2"
)

// Values that fieldTags does not allow are refused before a use case sees them: also in lists, in embedded structs and in structs within others.
func TestValuesOutOfRangeAreRefused(t *testing.T) {
	o := newFullSite(t)
	long := func(n int) string { return strings.Repeat("x", n) }
	for _, c := range []struct {
		method, path, body string
		want               []string // places and what is wrong there
	}{
		{"PUT", "/policies/p", `{"name":"` + long(64) + `","enabled":true,"order":-1,"when":"` + long(2001) + `","effect":"shout","reason":"` + long(1001) + `","approval":{"count":21}}`, []string{
			"body.approval.count: must be at most 20", "body.effect: must be one of: allow, refuse, rewrite, approve", "body.name: must have at most 63 characters",
			"body.order: must be at least 0", "body.reason: must have at most 1000 characters", "body.when: must have at most 2000 characters"}},
		{"PUT", "/policies/p", `{}`, []string{ // the version is not asked for
			"body: effect is required", "body: enabled is required", "body: name is required", "body: order is required", "body: when is required"}},
		{"PUT", "/build-hooks/h/rules", `{"rules":[{"name":"a","when":"true","do":"sing","size":100001,"queue":-1,"lease":"` + long(41) + `"}]}`, []string{
			"body.rules[0].do: must be one of: create, delete, extend, nothing", "body.rules[0].lease: must have at most 40 characters",
			"body.rules[0].queue: must be at least 0", "body.rules[0].size: must be at most 100000"}},
		{"POST", "/preview", `{"template":"web","visibility":"secret","group":"` + long(201) + `"}`, []string{
			"body.group: must have at most 200 characters", "body.visibility: must be one of: private, tenant"}},
		{"PUT", "/webhooks/h", `{"url":"` + long(2049) + `","kinds":[` + strings.Repeat(`"x",`, 32) + `"x"]}`, []string{
			"body.kinds: must have at most 32 items", "body.url: must have at most 2048 characters"}},
		{"POST", "/requests/1/reviews", `{"decision":"perhaps","reason":"` + long(1001) + `","conditions":{"size":-1}}`, []string{
			"body.conditions.size: must be at least 0", "body.decision: must be one of: approve, deny, conditions", "body.reason: must have at most 1000 characters"}},
	} {
		var p site.Problem
		status, _ := o.api("boss", c.method, c.path, json.RawMessage(c.body), &p)
		var got []string
		for _, at := range p.Places {
			got = append(got, fmt.Sprintf("%s: %s", at.Location, at.Message))
		}
		if status != 422 || !slices.Equal(got, c.want) {
			t.Errorf("%s %s %.60s is answered %d, %q; it should be 422, %q", c.method, c.path, c.body, status, got, c.want)
		}
	}
}

// Each entry of fieldTags is about a field that is there, says something that the field's own tags do not, and is read.
func TestFieldTagsAreOfFields(t *testing.T) {
	known := []string{"doc", "enum", "hidden", "maxItems", "maxLength", "maximum", "minimum", "nullable", "required"} // of those that huma knows
	described := map[reflect.Type]bool{}
	var describe func(t reflect.Type)
	describe = func(t reflect.Type) {
		described[t] = true
		for i := range t.NumField() {
			if f := t.Field(i); f.Anonymous && f.Type.Kind() == reflect.Struct {
				describe(f.Type)
			}
		}
	}
	p := New(Config{UseCases: faces.Portal(newFullSite(t).app), Texts: catalog.Texts{}}) // with all of the API
	for _, s := range []huma.Registry{p.document.Components.Schemas, build.Document().Components.Schemas} {
		for name := range s.Map() {
			describe(s.TypeFromRef(site.SchemaPrefix + name))
		}
	}
	for of, tags := range site.FieldTags {
		if !described[of] {
			t.Errorf("%v: no document of the API has this type", of)
		}
		for _, name := range slices.Sorted(maps.Keys(tags)) {
			f, ok := of.FieldByName(name)
			if !ok || len(f.Index) > 1 || !f.IsExported() {
				t.Errorf("%v has no exported field %s of its own", of, name)
				continue
			}
			rest, some := string(tags[name]), false
			for _, key := range known {
				v, ok := tags[name].Lookup(key)
				if !ok {
					continue
				}
				if _, twice := f.Tag.Lookup(key); twice {
					t.Errorf("%v.%s has the tag %s at the field too", of, name, key)
				}
				rest, some = strings.Replace(rest, fmt.Sprintf("%s:%q", key, v), "", 1), true
			}
			if !some || strings.TrimSpace(rest) != "" {
				t.Errorf("%v.%s: %q is not a list of the tags %v", of, name, tags[name], known)
			}
		}
	}
}
