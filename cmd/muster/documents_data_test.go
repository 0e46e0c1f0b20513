//go:build linux

package main

import (
	"bytes"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"go.yaml.in/yaml/v3"

	"muster/app"
	"muster/app/build"
	"muster/app/file/catalog"
	"muster/app/file/catalog/form"
	"muster/app/file/spec"
	"muster/app/policy"
	"muster/app/template"
	"muster/cmd/muster/cli"
	"muster/cmd/muster/families"
	"muster/portal/buildsystems"
	"muster/portal/buildsystems/generic"
)

// documentCheck is what examples in pages are checked against.
type documentCheck struct {
	t          *testing.T
	server     *matrix
	admin      app.Actor
	api, hooks map[string]any  // OpenAPI
	targets    map[string]bool // of the Makefile
	routes     map[string]bool // METHOD /path of the portal
	stub       *hostileServer  // answers commands
	pem        string          // of a certificate and its key, for variables in providers' settings
	folder     string          // of the current page: where its commands run

	commands, asked, executed, addresses int
}

func newDocumentCheck(t *testing.T) *documentCheck {
	t.Helper()
	c := &documentCheck{t: t, server: newMatrix(t), targets: map[string]bool{}, routes: map[string]bool{},
		admin: app.Actor{Tenant: app.DefaultTenant, User: "admin", Role: app.RoleSuperadmin}}
	home(t)
	c.stub = newHostileServer(t)
	t.Setenv("MUSTER_URL", c.stub.http.URL)
	t.Setenv("MUSTER_TOKEN", testToken)
	tls := httptest.NewTLSServer(nil)
	tls.Close()
	key, err := x509.MarshalPKCS8PrivateKey(tls.TLS.Certificates[0].PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range []*pem.Block{{Type: "CERTIFICATE", Bytes: tls.Certificate().Raw}, {Type: "PRIVATE KEY", Bytes: key}} {
		c.pem += string(pem.EncodeToMemory(b))
	}
	c.api, c.hooks = readOpenAPI(t, "openapi.json"), readOpenAPI(t, "openapi-hooks.json")
	for _, r := range c.server.server.Portal.Routes() {
		c.routes[r.Method+" "+r.Pattern] = true
	}
	b, err := os.ReadFile(filepath.Join(repository, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`(?m)^([a-z-]+(?: [a-z-]+)*):`).FindAllStringSubmatch(string(b), -1) {
		for _, target := range strings.Fields(m[1]) {
			c.targets[target] = true
		}
	}
	return c
}

func readOpenAPI(t *testing.T, name string) (doc map[string]any) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(repository, "docs", name))
	if err == nil {
		err = json.Unmarshal(b, &doc)
	}
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// get goes down into objects of JSON.
func get(x any, keys ...string) any {
	for _, k := range keys {
		m, _ := x.(map[string]any)
		x = m[k]
	}
	return x
}

// operationAt finds an operation. A parameter matches any name.
func operationAt(doc map[string]any, method, at string) any {
	have := strings.Split(at, "/")
	paths, _ := doc["paths"].(map[string]any)
	for _, text := range slices.Sorted(maps.Keys(paths)) {
		want := strings.Split(text, "/")
		same := len(want) == len(have)
		for i := 0; same && i < len(want); i++ {
			same = want[i] == have[i] || strings.HasPrefix(want[i], "{") && have[i] != ""
		}
		if op := get(paths[text], strings.ToLower(method)); same && op != nil {
			return op
		}
	}
	return nil
}

func hasParameter(op any, name string) bool {
	all, _ := get(op, "parameters").([]any)
	return slices.ContainsFunc(all, func(p any) bool { return get(p, "name") == name })
}

// fits finds a field that a schema doesn't have, or a value of another type.
func fits(doc map[string]any, schema, v any, at string) string {
	if ref, ok := get(schema, "$ref").(string); ok {
		return fits(doc, get(doc, strings.Split(strings.TrimPrefix(ref, "#/"), "/")...), v, at)
	}
	kinds := fmt.Sprint(get(schema, "type"))
	is := func(kind string) string {
		if kinds == "<nil>" || strings.Contains(kinds, kind) {
			return ""
		}
		return fmt.Sprintf("%s is %s, not %s", at, kinds, kind)
	}
	switch v := v.(type) {
	case map[string]any:
		properties, _ := get(schema, "properties").(map[string]any)
		for k, field := range v {
			inner := properties[k]
			if inner == nil {
				inner = get(schema, "additionalProperties")
			}
			if inner == nil || inner == false {
				return fmt.Sprintf("%s has no field %s", at, k)
			}
			if what := fits(doc, inner, field, at+"."+k); what != "" {
				return what
			}
		}
		return is("object")
	case []any:
		for i, one := range v {
			if what := fits(doc, get(schema, "items"), one, fmt.Sprintf("%s[%d]", at, i)); what != "" {
				return what
			}
		}
		return is("array")
	case string:
		return is("string")
	case bool:
		return is("boolean")
	case float64:
		if v == float64(int64(v)) && is("integer") == "" {
			return ""
		}
		return is("number")
	}
	return ""
}

// json finds what is wrong in a block of JSON: a policy, an event of a build, or an object that some schema of our APIs describes.
func (c *documentCheck) json(b block) []fault {
	var v any
	if err := json.Unmarshal([]byte(b.text), &v); err != nil {
		line := b.line
		var e *json.SyntaxError
		if errors.As(err, &e) {
			line += strings.Count(b.text[:e.Offset], "\n")
		}
		return []fault{{line, "not JSON: " + err.Error()}}
	}
	if get(v, "effect") != nil {
		var p policy.Policy
		d := json.NewDecoder(strings.NewReader(b.text))
		d.DisallowUnknownFields()
		err := d.Decode(&p)
		if err == nil {
			_, err = c.server.server.Services.Policy.Policies.TryPolicy(c.t.Context(), c.admin, policy.TrialRequest{Policy: p})
		}
		if err != nil {
			return []fault{{b.line, "not a policy: " + err.Error()}}
		}
		return nil
	}
	if get(v, "event") != nil {
		if _, err := (buildsystems.Family{}).Read(build.Delivery{System: generic.Name, Body: []byte(b.text)}); err != nil {
			return []fault{{b.line, "not an event of a build: " + err.Error()}}
		}
		return nil
	}
	for _, doc := range []map[string]any{c.api, c.hooks} {
		schemas, _ := get(doc, "components", "schemas").(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(schemas)) {
			if _, object := v.(map[string]any); object && fits(doc, schemas[name], v, name) == "" {
				return nil
			}
		}
	}
	if checkedBy[b.page+" json"] != "" {
		return nil
	}
	return []fault{{b.line, "neither a policy nor described by docs/openapi.json or docs/openapi-hooks.json: see checkedBy, or say why it isn't tested"}}
}

var yamlLine = regexp.MustCompile(`line (\d+)`)

// yaml finds what is wrong in a block of YAML, with the reader of what it is.
func (c *documentCheck) yaml(b block) []fault {
	var first any
	if err := yaml.Unmarshal([]byte(b.text), &first); err != nil {
		line := b.line
		if m := yamlLine.FindStringSubmatch(err.Error()); m != nil {
			n, _ := strconv.Atoi(m[1])
			line += n - 1
		}
		return []fault{{line, "not YAML: " + err.Error()}}
	}
	has := func(key string) bool { return get(first, key) != nil }
	var err error
	switch {
	case checkedBy[b.page+" yaml"] != "":
	case checkedBy[b.page+" role.yaml"] != "" && has("includedPermissions"):
	case has("kind"):
		return c.catalogFaults(b)
	case has("hosts"):
		_, err = catalog.ReadHosts(b.page, []byte(b.text))
	case has("profiles"):
		err = c.profiles(b.text)
	case has("ok"):
		err = c.trial(b.text)
	default:
		if list, ok := first.([]any); ok && len(list) > 0 && get(list[0], "do") != nil {
			rules, err := spec.ReadBuildRules([]byte(b.text))
			if err == nil {
				err = c.server.server.Services.Build.Hooks.CheckBuildRules(c.t.Context(), c.admin, rules)
			}
			if err != nil {
				return []fault{{b.line, err.Error()}}
			}
			return nil
		}
		return fragmentFaults(b)
	}
	if err != nil {
		return []fault{{b.line, err.Error()}}
	}
	return nil
}

// shownElsewhere is what the linter says of entries that a page doesn't show.
var shownElsewhere = regexp.MustCompile("which isn't in the catalog|which no service is named or provides")

// catalogFaults lints entries of a catalog. They may refer to others, unless all kinds are there: then it's complete.
func (c *documentCheck) catalogFaults(b block) (faults []fault) {
	options := families.CatalogOptions(func(string) (string, bool) { return c.pem, true })
	check := options.CheckProvider
	options.ProviderTypes = append(slices.Clone(options.ProviderTypes), "mine") // the type of docs/providers/executable.md
	options.CheckProvider = func(p template.ProviderSpec) error {
		if p.Type == "mine" {
			return nil
		}
		return check(p)
	}
	r := catalog.LintFS(options, catalog.Source{Name: "page", FS: fstest.MapFS{"page.yaml": {Data: []byte(b.text)}}})
	complete := r.Counts.Providers > 0 && r.Counts.Hardware > 0 && r.Counts.Images > 0 && r.Counts.Services > 0 && r.Counts.Templates > 0
	for _, p := range r.Problems {
		if complete || !shownElsewhere.MatchString(p.Message) {
			faults = append(faults, fault{b.line + max(p.Origin.Line, 1) - 1, p.Message + " " + p.Hint})
		}
	}
	return faults
}

// fragmentFaults reads fields of an entry of whichever kind has them.
func fragmentFaults(b block) []fault {
	var best *form.Reporter
	for _, kind := range []string{"service", "template", "hardware", "image", "provider"} {
		out := &form.Reporter{}
		if p := form.ParseNative(out, b.page, []byte(b.text+"\nkind: "+kind+"\nname: fragment\n")); len(p.Entries) > 0 && out.Errors == 0 {
			return nil
		}
		if best == nil || out.Errors < best.Errors {
			best = out
		}
	}
	p := best.Sorted()[0]
	return []fault{{b.line + max(p.Origin.Line, 1) - 1, "neither a file of ours nor fields of a catalog entry: " + p.Message}}
}

// profiles reads the file that names servers.
func (c *documentCheck) profiles(text string) error {
	dir := c.t.TempDir()
	c.t.Setenv("MUSTER_HOME", dir)
	text = strings.ReplaceAll(text, "sha256:…", "sha256:"+strings.Repeat("0", 64))
	if err := os.WriteFile(filepath.Join(dir, "config.yaml"), []byte(text), 0o600); err != nil {
		return err
	}
	_, _, err := cli.ReadProfiles()
	return err
}

// trial reads the fields with which an automator's program is tested, as far as the missing program.
func (c *documentCheck) trial(text string) error {
	file := filepath.Join(c.t.TempDir(), "fields.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return err
	}
	var errOut bytes.Buffer
	run(c.t.Context(), []string{"automator", "test", "./muster-automator-none", "--fields", file}, strings.NewReader(""), io.Discard, &errOut)
	if !strings.Contains(errOut.String(), "can't test ./muster-automator-none") {
		return errors.New(errOut.String())
	}
	return nil
}
