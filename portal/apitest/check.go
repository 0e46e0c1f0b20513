package apitest

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"mime"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
)

// description is an OpenAPI document, ready to look up operations by their address.
type description struct {
	doc      *huma.OpenAPI
	prefix   string
	paths    func() []route
	patterns sync.Map // of compiled regular expressions, by text
}

type route struct {
	text     string
	segments []string
	item     *huma.PathItem
}

func newDescription(doc *huma.OpenAPI) *description {
	d := &description{doc: doc}
	if len(doc.Servers) > 0 {
		d.prefix = doc.Servers[0].URL
	}
	d.paths = sync.OnceValue(func() (all []route) {
		for text, item := range doc.Paths {
			all = append(all, route{text, strings.Split(text, "/"), item})
		}
		// A literal segment goes before a parameter, as in the router.
		slices.SortFunc(all, func(a, b route) int {
			return strings.Compare(strings.ReplaceAll(a.text, "{", "\x7f"), strings.ReplaceAll(b.text, "{", "\x7f"))
		})
		return all
	})
	return d
}

// find returns the path that an address is of. As in the router, a literal one that does not have the method leaves it to one with a parameter.
func (d *description) find(method, at string) (found route, ok bool) {
	segments := strings.Split(at, "/")
	for _, p := range d.paths() {
		if len(p.segments) != len(segments) {
			continue
		}
		same := true
		for i, s := range p.segments {
			if same = s == segments[i] || strings.HasPrefix(s, "{") && segments[i] != ""; !same {
				break
			}
		}
		if same && operationOf(p.item, method) != nil {
			return p, true
		}
		if same && !ok {
			found, ok = p, true
		}
	}
	return found, ok
}

func operationOf(item *huma.PathItem, method string) *huma.Operation {
	switch method {
	case http.MethodGet, http.MethodHead:
		return item.Get
	case http.MethodPost:
		return item.Post
	case http.MethodPut:
		return item.Put
	case http.MethodPatch:
		return item.Patch
	case http.MethodDelete:
		return item.Delete
	}
	return nil
}

// check says in which ways an answer is not as the document describes it.
func (d *description) check(method, at string, status int, header http.Header, body *bounded) (faults []string) {
	p, found := d.find(method, at)
	where := method + " " + p.text
	bad := func(format string, args ...any) {
		faults = append(faults, where+" "+strconv.Itoa(status)+": "+fmt.Sprintf(format, args...))
	}
	if at == "/openapi.json" && (!found || method == http.MethodGet || method == http.MethodHead) {
		return nil // the document does not describe itself
	}
	var o *huma.Operation
	if found {
		o = operationOf(p.item, method)
	}
	if o == nil {
		want := http.StatusMethodNotAllowed
		if !found {
			where, want = method+" (no such path)", http.StatusNotFound
		}
		switch {
		case status == http.StatusMethodNotAllowed && header.Get("Allow") == "":
			bad("it has no header Allow")
		case status < 400:
			bad("it is done, and is not described")
		case status != want && status < 500 && !slices.Contains([]int{http.StatusRequestEntityTooLarge, http.StatusForbidden}, status):
			bad("an address or method that is not described is answered with %d", want)
		}
		d.problem(method, header, body, bad)
		return faults
	}
	r := o.Responses[strconv.Itoa(status)]
	if r == nil {
		r = o.Responses["default"]
	}
	if r == nil {
		bad("the status is not described; the body is %.200q", body.Bytes())
		return faults
	}
	kind, _, _ := mime.ParseMediaType(header.Get("Content-Type"))
	empty := method == http.MethodHead || body.Len() == 0 && !body.cut
	switch {
	case len(r.Content) == 0 && empty, body.cut, method == http.MethodHead:
	case len(r.Content) == 0:
		bad("a body of type %q is sent and none is described: %.200q", kind, body.Bytes())
	case r.Content[kind] == nil:
		bad("the media type %q is not described", kind)
	case isJSON(kind):
		d.body(r.Content[kind].Schema, body, bad)
	}
	return faults
}

func isJSON(kind string) bool { return kind == "application/json" || strings.HasSuffix(kind, "+json") }

// problem checks an answer for which no operation stands: it is a problem like all others.
func (d *description) problem(method string, header http.Header, body *bounded, bad func(string, ...any)) {
	if kind := header.Get("Content-Type"); kind != "application/problem+json" {
		bad("it is %q and no application/problem+json", kind)
		return
	}
	if method != http.MethodHead {
		d.body(&huma.Schema{Ref: "#/components/schemas/Problem"}, body, bad)
	}
}

func (d *description) body(s *huma.Schema, body *bounded, bad func(string, ...any)) {
	var v any
	if err := json.Unmarshal(body.Bytes(), &v); err != nil {
		bad("it is no JSON: %v", err)
		return
	}
	if s != nil {
		d.value(s, v, "", bad)
	}
}

var numbered = regexp.MustCompile(`^[0-9]+$`)

// value checks a value. Its place has no indexes, so that one fault in a list of many is told once.
func (d *description) value(s *huma.Schema, v any, at string, bad func(string, ...any)) {
	for s.Ref != "" {
		if s.Nullable && v == nil {
			return
		}
		ref := s.Ref
		if s = d.doc.Components.Schemas.SchemaFromRef(ref); s == nil {
			bad("%s: the document has no %s", at, ref)
			return
		}
	}
	if v == nil && s.Nullable {
		return
	}
	d.several(s, v, at, bad)
	if len(s.Enum) > 0 && !slices.ContainsFunc(s.Enum, func(e any) bool { return fmt.Sprint(e) == fmt.Sprint(v) }) {
		bad("%s: %.100v is none of %v", at, v, s.Enum)
	}
	switch s.Type {
	case huma.TypeObject:
		if m, ok := v.(map[string]any); ok {
			d.object(s, m, at, bad)
			return
		}
	case huma.TypeArray:
		if l, ok := v.([]any); ok {
			if s.MinItems != nil && len(l) < *s.MinItems || s.MaxItems != nil && len(l) > *s.MaxItems {
				bad("%s: it has %d items", at, len(l))
			}
			for _, x := range l {
				if s.Items != nil {
					d.value(s.Items, x, at+"[]", bad)
				}
			}
			return
		}
	case huma.TypeString:
		if text, ok := v.(string); ok {
			d.text(s, text, at, bad)
			return
		}
	case huma.TypeNumber, huma.TypeInteger:
		if n, ok := v.(float64); ok {
			if s.Type == huma.TypeInteger && n != math.Trunc(n) || s.Minimum != nil && n < *s.Minimum || s.Maximum != nil && n > *s.Maximum ||
				s.ExclusiveMinimum != nil && n <= *s.ExclusiveMinimum || s.ExclusiveMaximum != nil && n >= *s.ExclusiveMaximum {
				bad("%s: the %s is out of its range", at, s.Type)
			}
			return
		}
	case huma.TypeBoolean:
		if _, ok := v.(bool); ok {
			return
		}
	default:
		return
	}
	bad("%s: %s is described, and it is %s", at, s.Type, kindOf(v))
}

func kindOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case map[string]any:
		return "an object"
	case []any:
		return "an array"
	}
	return fmt.Sprintf("a %T", v)
}

func (d *description) several(s *huma.Schema, v any, at string, bad func(string, ...any)) {
	for _, one := range s.AllOf {
		d.value(one, v, at, bad)
	}
	for name, list := range map[string][]*huma.Schema{"oneOf": s.OneOf, "anyOf": s.AnyOf} {
		fit := 0
		for _, one := range list {
			right := true
			d.value(one, v, at, func(string, ...any) { right = false })
			if right {
				fit++
			}
		}
		if len(list) > 0 && (fit == 0 || name == "oneOf" && fit > 1) {
			bad("%s: %d of %s fit", at, fit, name)
		}
	}
}

func (d *description) object(s *huma.Schema, m map[string]any, at string, bad func(string, ...any)) {
	for _, name := range s.Required {
		if _, ok := m[name]; !ok {
			bad("%s: %s is missing", at, name)
		}
	}
	for name, v := range m {
		place := strings.TrimPrefix(at+"."+name, ".")
		if p := s.Properties[name]; p != nil {
			d.value(p, v, place, bad)
			continue
		}
		switch more := s.AdditionalProperties.(type) {
		case bool:
			if !more {
				bad("%s: it is not described", place)
			}
		case *huma.Schema:
			if numbered.MatchString(name) || len(s.Properties) == 0 {
				place = strings.TrimPrefix(at+".*", ".")
			}
			d.value(more, v, place, bad)
		}
	}
}

func (d *description) text(s *huma.Schema, text, at string, bad func(string, ...any)) {
	n := utf8.RuneCountInString(text)
	if s.MinLength != nil && n < *s.MinLength || s.MaxLength != nil && n > *s.MaxLength {
		bad("%s: it has %d characters", at, n)
	}
	if s.Pattern != "" {
		re, ok := d.patterns.Load(s.Pattern)
		if !ok {
			re, _ = d.patterns.LoadOrStore(s.Pattern, regexp.MustCompile(s.Pattern))
		}
		if !re.(*regexp.Regexp).MatchString(text) {
			bad("%s: it does not match %s", at, s.Pattern)
		}
	}
	if s.Format == "date-time" {
		if _, err := time.Parse(time.RFC3339, text); err != nil {
			bad("%s: it is no date and time", at)
		}
	}
	if s.ContentEncoding == "base64" {
		if _, err := base64.StdEncoding.DecodeString(text); err != nil {
			bad("%s: it is no base64", at)
		}
	}
}
