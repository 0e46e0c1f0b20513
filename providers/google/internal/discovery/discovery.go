package discovery

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// files are the descriptions of the APIs that we use, in Google's module.
var files = []string{"compute/v1/compute-api.json", "dns/v1/dns-api.json", "cloudresourcemanager/v1/cloudresourcemanager-api.json"}

// API is one described API.
type API struct {
	ServicePath string             `json:"servicePath"`
	Parameters  map[string]*Schema `json:"parameters"`
	Schemas     map[string]*Schema `json:"schemas"`
	group
	methods []*Method
}

type group struct {
	Methods   map[string]*Method `json:"methods"`
	Resources map[string]*group  `json:"resources"`
}

// Method is one call of an API.
type Method struct {
	ID         string             `json:"id"`
	HTTPMethod string             `json:"httpMethod"`
	Path       string             `json:"path"`
	Parameters map[string]*Schema `json:"parameters"`
	Request    *Schema            `json:"request"`
	Response   *Schema            `json:"response"` // nil if nothing is returned

	api  *API
	at   *regexp.Regexp // matches escaped paths, with a group for each of names
	name []string
}

// Schema describes a value or a parameter. Ref is the name of another one, which describes it instead.
type Schema struct {
	Ref                  string             `json:"$ref"`
	Type                 string             `json:"type"` // string, integer, number, boolean, array, object, any
	Format               string             `json:"format"`
	Pattern              string             `json:"pattern"`
	Enum                 []string           `json:"enum"`
	Minimum              string             `json:"minimum"`
	Maximum              string             `json:"maximum"`
	Properties           map[string]*Schema `json:"properties"`
	AdditionalProperties *Schema            `json:"additionalProperties"`
	Items                *Schema            `json:"items"`
	ReadOnly             bool               `json:"readOnly"`
	Deprecated           bool               `json:"deprecated"`
	Repeated             bool               `json:"repeated"`
	Location             string             `json:"location"` // of a parameter: path or query
	Required             bool               `json:"required"` // of a parameter
	Annotations          struct {
		Required []string `json:"required"` // IDs of methods whose requests need the field
	} `json:"annotations"`
}

// Load returns the described APIs. Their module is one that other modules of ours name, so its checksum is in go.sum; but as nothing imports it, it's
// downloaded here.
var Load = sync.OnceValues(func() ([]*API, error) {
	var module struct{ Dir, Error string }
	out, err := exec.Command("go", "mod", "download", "-json", "google.golang.org/api").Output()
	if wrong := json.Unmarshal(out, &module); err == nil {
		err = wrong
	}
	dir := module.Dir
	if err != nil || dir == "" {
		return nil, fmt.Errorf("can't download Google's descriptions of its APIs with `go mod download google.golang.org/api`: %w", cmp.Or(err, errors.New(module.Error)))
	}
	var apis []*API
	for _, file := range files {
		b, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			return nil, err
		}
		api := &API{}
		if err := json.Unmarshal(b, api); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		api.collect(&api.group)
		apis = append(apis, api)
	}
	return apis, nil
})

var parameter = regexp.MustCompile(`\{\+?(\w+)\}`)

func (a *API) collect(g *group) {
	for _, m := range g.Methods {
		m.api = a
		pattern, last := "", 0
		path := a.ServicePath + m.Path
		for _, at := range parameter.FindAllStringSubmatchIndex(path, -1) {
			pattern += regexp.QuoteMeta(path[last:at[0]]) + `([^/]+)`
			m.name = append(m.name, path[at[2]:at[3]])
			last = at[1]
		}
		m.at = regexp.MustCompile("^/" + pattern + regexp.QuoteMeta(path[last:]) + "$")
		a.methods = append(a.methods, m)
	}
	for _, inner := range g.Resources {
		a.collect(inner)
	}
}

// Find returns the method that a request calls, after checking its path, its query and its body. A body that isn't sent is empty.
func Find(apis []*API, method string, u *url.URL, body []byte) (*Method, error) {
	for _, api := range apis {
		for _, m := range api.methods {
			if m.HTTPMethod != method {
				continue
			}
			// A name such as {resource} also matches NAME:VERB, the path of another method.
			if found := m.at.FindStringSubmatch(u.EscapedPath()); found != nil && (strings.Contains(m.Path, ":") || !strings.Contains(found[len(found)-1], ":")) {
				if err := m.check(found[1:], u.Query(), body); err != nil {
					return nil, fmt.Errorf("%s: %w", m.ID, err)
				}
				return m, nil
			}
		}
	}
	return nil, fmt.Errorf("no API has the call %s %s", method, u.EscapedPath())
}

func (m *Method) check(path []string, query url.Values, body []byte) error {
	for i, name := range m.name {
		text, err := url.PathUnescape(path[i])
		if err == nil {
			err = m.Parameters[name].checkText(text)
		}
		if err != nil {
			return fmt.Errorf("%s in the path: %w", name, err)
		}
	}
	for name, values := range query {
		p := m.Parameters[name]
		if p == nil {
			p = m.api.Parameters[name]
		}
		switch {
		case p == nil || p.Location != "query":
			return fmt.Errorf("it has no parameter %s", name)
		case p.Deprecated:
			return fmt.Errorf("the parameter %s is deprecated", name)
		case len(values) > 1 && !p.Repeated:
			return fmt.Errorf("the parameter %s is sent %d times", name, len(values))
		}
		for _, v := range values {
			if err := p.checkText(v); err != nil {
				return fmt.Errorf("the parameter %s: %w", name, err)
			}
		}
	}
	for name, p := range m.Parameters {
		if p.Required && p.Location == "query" && !query.Has(name) {
			return fmt.Errorf("the parameter %s is missing", name)
		}
	}
	if m.Request == nil || len(body) == 0 {
		if len(body) != 0 {
			return errors.New("it takes no body")
		}
		if m.Request != nil {
			return errors.New("its body is missing")
		}
		return nil
	}
	return m.compare(m.Request, body, true)
}

// CheckResponse checks the body of a successful response.
func (m *Method) CheckResponse(body []byte) error {
	if m.Response == nil {
		return nil
	}
	if err := m.compare(m.Response, body, false); err != nil {
		return fmt.Errorf("response of %s: %w", m.ID, err)
	}
	return nil
}

func (m *Method) compare(s *Schema, body []byte, sent bool) error {
	var v any
	if err := json.Unmarshal(body, &v); err != nil {
		return err
	}
	return m.value("", s, v, sent)
}

// Resolve follows a reference.
func (a *API) Resolve(s *Schema) *Schema {
	for s.Ref != "" {
		s = a.Schemas[s.Ref]
	}
	return s
}

// Resolve follows a reference of the method's API.
func (m *Method) Resolve(s *Schema) *Schema { return m.api.Resolve(s) }

// value checks a JSON value at a place in a request (sent) or response.
func (m *Method) value(at string, s *Schema, v any, sent bool) error {
	s = m.api.Resolve(s)
	kind := s.Type
	if s.Format == "int64" || s.Format == "uint64" {
		kind = "string" // as JSON; parameters are texts anyway
	}
	wrong := func() error { return fmt.Errorf("%s is %T (%.60v), not %s", at, v, v, s.Type) }
	switch v := v.(type) {
	case map[string]any:
		if kind != "object" {
			return wrong()
		}
		return m.object(at, s, v, sent)
	case []any:
		if kind != "array" {
			return wrong()
		}
		for i, inner := range v {
			if err := m.value(fmt.Sprintf("%s[%d]", at, i), s.Items, inner, sent); err != nil {
				return err
			}
		}
	case string:
		if kind != "string" && (kind != "number" || !slices.Contains([]string{"Infinity", "-Infinity", "NaN"}, v)) {
			return wrong()
		}
		if err := s.checkText(v); err != nil && kind == "string" {
			return fmt.Errorf("%s: %w", at, err)
		}
	case bool:
		if kind != "boolean" {
			return wrong()
		}
	case float64:
		if kind != "number" && (kind != "integer" || v != float64(int64(v))) {
			return wrong()
		}
	default:
		return fmt.Errorf("%s is null", at)
	}
	return nil
}

func (m *Method) object(at string, s *Schema, v map[string]any, sent bool) error {
	for name, inner := range v {
		p, known := s.Properties[name]
		switch {
		case !known && s.AdditionalProperties != nil:
			p = s.AdditionalProperties
		case !known:
			return fmt.Errorf("%s has no field %s", at, name)
		case sent && p.ReadOnly:
			return fmt.Errorf("%s.%s is only returned, never sent", at, name)
		case sent && p.Deprecated:
			return fmt.Errorf("%s.%s is deprecated", at, name)
		}
		if err := m.value(strings.TrimPrefix(at+"."+name, "."), p, inner, sent); err != nil {
			return err
		}
	}
	for name, p := range s.Properties {
		if _, is := v[name]; sent && !is && slices.Contains(p.Annotations.Required, m.ID) {
			return fmt.Errorf("%s.%s is required", at, name)
		}
	}
	return nil
}

// checkText checks a parameter, or a text in a body.
func (s *Schema) checkText(v string) error {
	number, err := strconv.ParseInt(v, 10, 64)
	if s.Format == "uint64" {
		var u uint64
		u, err = strconv.ParseUint(v, 10, 64)
		number = int64(min(u, 1<<62))
	}
	switch {
	case len(s.Enum) > 0 && !slices.Contains(s.Enum, v):
		return fmt.Errorf("%q is none of %s", v, strings.Join(s.Enum, ", "))
	case s.Pattern != "" && !regexp.MustCompile("^(?:"+s.Pattern+")$").MatchString(v):
		return fmt.Errorf("%q doesn't match %s", v, s.Pattern)
	case s.Type == "boolean" && v != "true" && v != "false":
		return fmt.Errorf("%q is neither true nor false", v)
	case s.Type != "integer" && s.Format != "int64" && s.Format != "uint64":
		return nil
	case err != nil:
		return fmt.Errorf("%q isn't a whole number", v)
	}
	if low, err := strconv.ParseInt(s.Minimum, 10, 64); err == nil && number < low {
		return fmt.Errorf("%s is below %s", v, s.Minimum)
	}
	if high, err := strconv.ParseInt(s.Maximum, 10, 64); err == nil && number > high {
		return fmt.Errorf("%s is above %s", v, s.Maximum)
	}
	return nil
}
