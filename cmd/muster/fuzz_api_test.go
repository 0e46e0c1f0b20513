package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/identity"
)

var (
	fuzzTime = flag.Duration("fuzz-api", 5*time.Second, "how long TestFuzzAPI asks odd things")
	fuzzSeed = flag.Uint64("fuzz-api-seed", 0, "of its choices; 0: made up and printed")
)

// TestFuzzAPI asks every operation of docs/openapi.json for odd things: what its schema allows, and then a little, or much, of what it does
// not. Whatever is asked, the answer is one that the API promises: never 5xx, and a problem with a code and a sentence where it is none of success.
func TestFuzzAPI(t *testing.T) {
	t.Parallel()
	doc := readAPIDoc(t)
	seed := *fuzzSeed
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	f := newForeign(t)
	z := &fuzzer{foreign: f, doc: doc, rnd: rand.New(rand.NewPCG(seed, 2)), answers: map[int]int{}, good: map[string]bool{}}
	z.send, z.renew = z.here, z.anyUser
	operations := doc.operations()
	until := time.Now().Add(*fuzzTime)
	for round := 0; round == 0 || time.Now().Before(until); round++ {
		for _, o := range operations {
			if z.round(o); t.Failed() {
				t.Fatalf("in round %d of seed %d", round, seed)
			}
		}
	}
	t.Logf("seed %d: %d questions to %d operations, %d of which could be brought to do it; answers by status: %v", seed, z.asked, len(operations), len(z.good), z.answers)
	if z.asked < len(operations) || len(z.good) < len(operations)/4 {
		t.Errorf("%d questions, %d of %d operations answered with success: this tries hardly anything", z.asked, len(z.good), len(operations))
	}
}

// apiDoc is what the fuzzer needs of an OpenAPI document.
type apiDoc struct {
	Paths      map[string]map[string]json.RawMessage `json:"paths"`
	Components struct {
		Schemas map[string]*schema `json:"schemas"`
	} `json:"components"`
}

type operation struct {
	method, path string
	Parameters   []struct {
		Name     string  `json:"name"`
		In       string  `json:"in"`
		Required bool    `json:"required"`
		Schema   *schema `json:"schema"`
	} `json:"parameters"`
	RequestBody struct {
		Content map[string]struct {
			Schema *schema `json:"schema"`
		} `json:"content"`
	} `json:"requestBody"`
	Responses map[string]json.RawMessage `json:"responses"`
}

type schema struct {
	Ref        string             `json:"$ref"`
	Type       any                `json:"type"` // a name, or several
	Format     string             `json:"format"`
	Enum       []any              `json:"enum"`
	Properties map[string]*schema `json:"properties"`
	Required   []string           `json:"required"`
	Items      *schema            `json:"items"`
	Additional any                `json:"additionalProperties"`
	Minimum    *float64           `json:"minimum"`
	Maximum    *float64           `json:"maximum"`
	OneOf      []*schema          `json:"oneOf"`
	AnyOf      []*schema          `json:"anyOf"`
}

func readAPIDoc(t *testing.T) (doc apiDoc) {
	t.Helper()
	b, err := os.ReadFile(openAPIFile)
	if err == nil {
		err = json.Unmarshal(b, &doc)
	}
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func (d apiDoc) operations() []operation {
	var all []operation
	for _, path := range slices.Sorted(maps.Keys(d.Paths)) {
		for _, method := range slices.Sorted(maps.Keys(d.Paths[path])) {
			o := operation{method: strings.ToUpper(method), path: path}
			if method == "parameters" || json.Unmarshal(d.Paths[path][method], &o) != nil {
				continue
			}
			all = append(all, o)
		}
	}
	return all
}

type fuzzer struct {
	*foreign
	doc     apiDoc
	rnd     *rand.Rand
	token   string
	serial  int
	asked   int
	answers map[int]int
	good    map[string]bool // operations that were answered with success
	send    func(*http.Request) *httptest.ResponseRecorder
	renew   func() (token string)
}

// here sends requests to the server in this process.
func (z *fuzzer) here(r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	z.server.HTTP.Handler.ServeHTTP(w, r)
	return w
}

// someone makes a new user to ask as, since users end themselves, too.
func (z *fuzzer) anyUser() string {
	z.serial++
	u := identity.User{Tenant: there, Name: fmt.Sprintf("fuzz%d", z.serial), Role: app.RoleAdmin, CreatedAt: time.Now()}
	if z.serial%2 == 0 {
		u.Tenant, u.Role = here, app.RoleSuperadmin
	}
	if err := z.server.Store.CreateUser(z.t.Context(), u); err != nil {
		z.t.Fatal(err)
	}
	token, err := z.server.Services.Identity.Tokens.IssueToken(z.t.Context(), u.Tenant, u.Name, "test")
	if err != nil {
		z.t.Fatal(err)
	}
	return token
}

func (z *fuzzer) round(o operation) {
	z.t.Helper()
	if z.token == "" || z.one(50) {
		z.token = z.renew()
	}
	path := z.fill("/api/v1"+o.path, z.rnd, z.one(3))
	query := url.Values{}
	ctx, cancel := context.WithTimeout(z.t.Context(), hangs)
	defer cancel()
	r := httptest.NewRequestWithContext(ctx, o.method, "/", nil)
	for _, p := range o.Parameters {
		if p.In == "path" || !p.Required && !z.one(3) {
			continue
		}
		if p.Name == "wait" {
			query.Set("wait", []string{"0", "0", "-1", "x", "99999"}[z.rnd.IntN(5)])
			continue
		}
		v := fmt.Sprint(z.value(p.Schema, 0))
		if p.In == "query" {
			query.Set(p.Name, v)
		} else {
			r.Header.Set(p.Name, strings.Map(func(c rune) rune {
				if c < ' ' || c > '~' {
					return '?' // nothing else comes through a server as a header
				}
				return c
			}, v))
		}
	}
	if z.one(20) {
		query.Set(z.text(), z.text())
	}
	var body []byte
	for _, kind := range slices.Sorted(maps.Keys(o.RequestBody.Content)) {
		if strings.Contains(kind, "json") {
			body, _ = json.Marshal(z.value(o.RequestBody.Content[kind].Schema, 0))
		} else {
			body = []byte(z.text())
		}
		r.Header.Set("Content-Type", kind)
	}
	if len(body) > 0 && z.one(12) {
		body[z.rnd.IntN(len(body))] = byte(z.rnd.IntN(256))
	}
	if z.one(40) {
		body = body[:z.rnd.IntN(len(body)+1)]
	}
	if z.one(60) {
		body = []byte(strings.Repeat(`[`, 100_000))
	}
	if z.one(60) {
		r.Header.Set("Content-Type", "text/plain")
	}
	u, err := url.Parse(path)
	if err != nil {
		return
	}
	u.RawQuery = query.Encode()
	sent := httptest.NewRequestWithContext(ctx, o.method, u.RequestURI(), bytes.NewReader(body))
	sent.Header = r.Header
	sent.Header.Set("Authorization", "Bearer "+z.token)
	w := z.send(sent)
	z.asked++
	z.answers[w.Code]++
	what := fmt.Sprintf("%s %.400s\n%.400s\n%.1000s\n\n%d %.1000s", o.method, u.RequestURI(), header(r.Header), body, w.Code, w.Body)
	// What the router or the HTTP server answers before there is an operation: another way to write the address, and a head that is too large.
	if w.Code == http.StatusTemporaryRedirect || w.Code == http.StatusRequestHeaderFieldsTooLarge {
		return
	}
	switch {
	case w.Code >= 500 && ctx.Err() == nil:
		z.t.Errorf("the server failed: %s", what)
	case ctx.Err() != nil:
		z.t.Errorf("it took longer than its client waits: %s", what)
	case w.Code == http.StatusTooManyRequests:
		z.token = ""
	case w.Code >= 400:
		var p struct{ Code, Detail string }
		if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil || p.Code == "" || p.Detail == "" {
			z.t.Errorf("it is refused without a code and a sentence (%v): %s", err, what)
		}
		if w.Code == http.StatusUnauthorized {
			z.token = "" // it ended itself
		}
	default:
		z.good[o.method+o.path] = true
	}
	if _, said := o.Responses[fmt.Sprint(w.Code)]; !said && o.Responses["default"] == nil && w.Code != http.StatusNotFound && w.Code != http.StatusMethodNotAllowed {
		z.t.Errorf("the document does not say that it may be answered with this status: %s", what)
	}
}

func header(h http.Header) string {
	var b bytes.Buffer
	_ = h.WriteSubset(&b, map[string]bool{"Authorization": true})
	return b.String()
}

// one is true once in n.
func (z *fuzzer) one(n int) bool { return z.rnd.IntN(n) == 0 }

// value returns one that a schema allows, mostly.
func (z *fuzzer) value(s *schema, depth int) any {
	if s != nil && s.Ref != "" {
		s = z.doc.Components.Schemas[s.Ref[strings.LastIndex(s.Ref, "/")+1:]]
	}
	if s == nil || depth > 8 || z.one(40) {
		return z.anything(depth)
	}
	if len(s.Enum) > 0 {
		return s.Enum[z.rnd.IntN(len(s.Enum))]
	}
	if all := slices.Concat(s.OneOf, s.AnyOf); len(all) > 0 {
		return z.value(all[z.rnd.IntN(len(all))], depth+1)
	}
	kind, _ := s.Type.(string)
	if several, ok := s.Type.([]any); ok && len(several) > 0 {
		kind, _ = several[z.rnd.IntN(len(several))].(string)
	}
	switch kind {
	case "object":
		out := map[string]any{}
		for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
			if name == "$schema" || !slices.Contains(s.Required, name) && z.one(2) || z.one(30) {
				continue
			}
			out[name] = z.named(name, s.Properties[name], depth)
		}
		if s.Additional != false && len(s.Properties) == 0 || z.one(40) {
			for range z.rnd.IntN(4) {
				out[z.text()] = z.anything(depth + 1)
			}
		}
		return out
	case "array":
		out := []any{}
		for range z.rnd.IntN(4) {
			out = append(out, z.value(s.Items, depth+1))
		}
		return out
	case "integer", "number":
		return z.number(s)
	case "boolean":
		return z.one(2)
	case "null":
		return nil
	case "string":
		switch s.Format {
		case "date-time":
			return time.Now().Add(time.Duration(z.rnd.Int64N(int64(4000*time.Hour))) - 2000*time.Hour).UTC().Format(time.RFC3339Nano)
		case "uri", "uri-reference":
			return "https://127.0.0.1:9/" + url.PathEscape(z.text())
		}
		return z.text()
	}
	return z.anything(depth)
}

// named returns a value that something of this name may have, so that more than its first check is tried.
func (z *fuzzer) named(name string, s *schema, depth int) any {
	known := map[string][]string{"template": {"web"}, "provider": {"sandbox"}, "hardware": {"small"}, "image": {"linux"}, "when": {"true", "nodes > 3"},
		"role": {"developer", "admin"}, "url": {"https://127.0.0.1:9/x"}, "size": nil}[name]
	switch {
	case z.one(3):
	case name == "size":
		return 3 + z.rnd.IntN(5)
	case len(known) > 0:
		return known[z.rnd.IntN(len(known))]
	}
	return z.value(s, depth+1)
}

func (z *fuzzer) number(s *schema) any {
	low, high := 0.0, 100.0
	if s.Minimum != nil {
		low = *s.Minimum
	}
	if s.Maximum != nil {
		high = *s.Maximum
	}
	switch z.rnd.IntN(12) {
	case 0:
		return []any{low - 1, high + 1, -1, 0, 1 << 53, -9.3e18, int64(1<<63 - 1), 1e300, 0.5}[z.rnd.IntN(9)]
	case 1:
		return high
	case 2:
		return low
	}
	return int64(low) + z.rnd.Int64N(int64(max(min(high-low, 1e6), 0))+1)
}

// odd are texts at which programs stumble.
var odd = []string{"", " ", "\x00", "..", "../../etc/passwd", "a/b", "%00", "%", "'", "\"; drop table clusters; --", "<script>alert(1)</script>", "${event}", "%(name)",
	"\u202eabc", "𝔘𝔫𝔦", "é", "\ufeff", "nan", "null", "true", "0", "-1", "1e999", "9223372036854775808", "2026-11-22T00:00:00Z", "24h", "-24h", "forever", "P1D", "\"*\"", "W/\"x\"", "*",
	strings.Repeat("a", 70), strings.Repeat("ä", 3000), strings.Repeat("x", 70_000), "a\nb", "\r\nX: y", "kind: template\nname: x\n", "{{", "\xff\xfe"}

func (z *fuzzer) text() string {
	switch z.rnd.IntN(4) {
	case 0:
		return odd[z.rnd.IntN(len(odd))]
	case 1:
		all := slices.Concat(slices.Collect(maps.Values(z.values))...)
		slices.SortFunc(all, cmp.Compare)
		return all[z.rnd.IntN(len(all))]
	case 2:
		return fmt.Sprintf("n%d", z.rnd.IntN(30))
	}
	b := make([]rune, z.rnd.IntN(12))
	for i := range b {
		b[i] = rune(z.rnd.IntN(0x250))
	}
	return string(b)
}

func (z *fuzzer) anything(depth int) any {
	n := 8
	if depth > 8 {
		n = 5
	}
	switch z.rnd.IntN(n) {
	case 0:
		return nil
	case 1:
		return z.one(2)
	case 2:
		return z.number(&schema{})
	case 3, 4:
		return z.text()
	case 5:
		return []any{z.anything(depth + 1), z.anything(depth + 1)}
	case 6:
		return map[string]any{z.text(): z.anything(depth + 1)}
	}
	var deep any = z.text()
	for range 50 {
		deep = map[string]any{"a": deep}
	}
	return deep
}
