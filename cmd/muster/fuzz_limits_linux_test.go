package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"muster/app"
	"muster/app/identity"
	apptemplate "muster/app/template"
	"muster/cmd/muster/cli"
	"muster/cmd/muster/server"
)

// maxMemory is what the server may take while it is asked for the impossible, in bytes.
const maxMemory = 300 << 20

// extremes are what an integer is set to.
var extremes = []string{strconv.Itoa(apptemplate.MaxNodes), "-9223372036854775808", "-1", "0", "2147483647", "2000000000", "4294967296", "9223372036854775807"}

// unbounded is a template without a largest size: what bounds a request of it is the server.
const unbounded = "kind: template\nname: wide\nextends: web\nconstraints: {size: {min: 1, max: 2000000000}}\n---\n" +
	"kind: template\nname: huge\nextends: web\nconstraints: {size: {min: 2000000000, max: 2000000000}}\n"

// TestNoRequestMakesTheServerLarge takes every integer of the API's description to its extremes, and then asks 5,000 odd things, of a server in a
// process of its
// own: no answer is 5xx, none takes long, and the memory of the server stays small throughout.
func TestNoRequestMakesTheServerLarge(t *testing.T) {
	doc := readAPIDoc(t)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "wide.yaml"), []byte("kind: provider\nname: sandbox\ntype: fake\n---\n"+unbounded), 0o600); err != nil {
		t.Fatal(err)
	}
	p := &process{t: t, data: filepath.Join(t.TempDir(), "data"), catalog: []string{"../../examples/catalog", dir},
		env: []string{"GOGC="}} // the default, as users have it; the gate sets another for its compilers
	tokens := tokensFor(t, p, 300)
	t.Cleanup(p.tidy)
	p.start()
	var most atomic.Int64
	end, watched := make(chan struct{}), make(chan struct{})
	go func() { // a server that grows is stopped before the host has no memory left
		defer close(watched)
		for {
			if n := residentBytes(p.cmd.Process.Pid); n > most.Load() {
				if most.Store(n); n > 4*maxMemory {
					_ = p.cmd.Process.Kill()
				}
			}
			select {
			case <-end:
				return
			case <-time.After(20 * time.Millisecond):
			}
		}
	}()
	s, err := cli.ReadClientSettings(p.data)
	if err != nil {
		t.Fatal(err)
	}
	seed := uint64(time.Now().UnixNano())
	z := &fuzzer{foreign: &foreign{matrix: &matrix{t: t}, values: map[string][]string{"clusters": {"c1"}, "catalog": {"wide"}, "templates": {"wide", "web"}, "tenants": {here}, "providers": {"sandbox"}}},
		doc: doc, rnd: rand.New(rand.NewPCG(seed, 3)), answers: map[int]int{}, good: map[string]bool{}}
	z.renew = func() string {
		z.serial++
		return tokens[z.serial%len(tokens)]
	}
	z.send = func(r *http.Request) *httptest.ResponseRecorder { return z.over(s.URL, r) }

	integers := 0
	for _, o := range doc.operations() {
		for _, place := range z.integers(o) {
			integers++
			for _, v := range extremes {
				z.extreme(o, place, "wide", v)
				if strings.HasSuffix(place, "size") {
					z.extreme(o, place, "huge", v)
				}
				if t.Failed() {
					return
				}
			}
		}
	}
	t.Logf("%d integers at %d extremes each, answers by status: %v; the server took %d MB at most", integers, len(extremes), z.answers, most.Load()>>20)
	if integers < 90 {
		t.Errorf("only %d integers were found in the API's description", integers)
	}
	before, questions := z.asked, 5000
	if testing.Short() {
		questions = 1000
	}
	for z.asked < before+questions {
		for _, o := range doc.operations() {
			if z.round(o); t.Failed() {
				t.Fatalf("seed %d", seed)
			}
		}
	}
	close(end)
	<-watched
	t.Logf("seed %d: %d questions, answers by status: %v; the server took %d MB at most", seed, z.asked, z.answers, most.Load()>>20)
	if most.Load() > maxMemory {
		t.Errorf("the server took %d MB, more than %d", most.Load()>>20, maxMemory>>20)
	}
}

// tokensFor makes the data directory of a server, with n people who have a token each.
func tokensFor(t *testing.T, p *process, n int) (tokens []string) {
	s, err := server.New(t.Context(), server.Config{Data: p.data, Listen: "127.0.0.1:0", Catalogs: p.catalog, Log: slog.New(slog.NewTextHandler(io.Discard, nil)), Env: os.LookupEnv})
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		u := identity.User{Tenant: here, Name: fmt.Sprintf("fuzz%d", i), Role: []app.Role{app.RoleAdmin, app.RoleSuperadmin}[i%2], CreatedAt: time.Now()}
		if err := s.Store.CreateUser(t.Context(), u); err != nil {
			t.Fatal(err)
		}
		token, err := s.Services.Identity.Tokens.IssueToken(t.Context(), u.Tenant, u.Name, "test")
		if err != nil {
			t.Fatal(err)
		}
		tokens = append(tokens, token)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return tokens
}

// residentBytes is the memory of a process that is in RAM; 0 where it is gone.
func residentBytes(pid int) int64 {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(b)) {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == "VmRSS:" {
			n, _ := strconv.ParseInt(fields[1], 10, 64)
			return n << 10
		}
	}
	return 0
}

// over sends a request to a server, and keeps the beginning of the answer.
func (z *fuzzer) over(server string, r *http.Request) *httptest.ResponseRecorder {
	u, err := url.Parse(server)
	if err != nil {
		z.t.Fatal(err)
	}
	r = r.Clone(r.Context())
	r.RequestURI, r.Host, r.URL.Scheme, r.URL.Host = "", u.Host, u.Scheme, u.Host
	w := httptest.NewRecorder()
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		w.Code = http.StatusInternalServerError
		fmt.Fprintf(w.Body, "no answer: %v", err)
		return w
	}
	defer answer.Body.Close()
	w.Code = answer.StatusCode
	maps.Copy(w.Header(), answer.Header)
	_, _ = io.Copy(w.Body, io.LimitReader(answer.Body, 1<<20))
	return w
}

// integers finds where an operation takes one: "?name" of a query, "/name" of the path, "a.b" and "a[]" in its body.
func (z *fuzzer) integers(o operation) (places []string) {
	for _, p := range o.Parameters {
		if isInteger(p.Schema) && p.In != "header" {
			places = append(places, map[string]string{"query": "?", "path": "/"}[p.In]+p.Name)
		}
	}
	var walk func(s *schema, at string, depth int)
	walk = func(s *schema, at string, depth int) {
		if s = z.whole(s); s == nil || depth > 6 {
			return
		}
		if isInteger(s) {
			places = append(places, at)
		}
		for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
			walk(s.Properties[name], strings.TrimPrefix(at+"."+name, "."), depth+1)
		}
		if s.Items != nil {
			walk(s.Items, at+"[]", depth+1)
		}
	}
	for kind, c := range o.RequestBody.Content {
		if strings.Contains(kind, "json") {
			walk(c.Schema, "", 0)
		}
	}
	return places
}

func isInteger(s *schema) bool {
	several, _ := s.Type.([]any)
	return s.Type == "integer" || slices.Contains(several, any("integer"))
}

// whole follows a reference.
func (z *fuzzer) whole(s *schema) *schema {
	if s != nil && s.Ref != "" {
		return z.doc.Components.Schemas[s.Ref[strings.LastIndex(s.Ref, "/")+1:]]
	}
	return s
}

// extreme asks with one integer set, and with all else as it should be.
func (z *fuzzer) extreme(o operation, place, template, value string) {
	path, query := z.fill("/api/v1"+o.path, z.rnd, false), url.Values{}
	for _, p := range o.Parameters {
		if p.In == "query" && p.Required {
			query.Set(p.Name, fmt.Sprint(z.usual(p.Name, p.Schema, "", "", template, 0)))
		}
	}
	var body []byte
	switch place[0] {
	case '?':
		query.Set(place[1:], value)
	case '/':
		path = z.fill("/api/v1"+strings.ReplaceAll(o.path, "{"+place[1:]+"}", value), z.rnd, false)
	}
	for kind, c := range o.RequestBody.Content {
		if strings.Contains(kind, "json") {
			body, _ = json.Marshal(z.usual("", c.Schema, "", place, template, 0))
			body = bytes.ReplaceAll(body, []byte(`"`+mark+`"`), []byte(value))
		}
	}
	token := z.renew()
	r := httptest.NewRequestWithContext(z.t.Context(), o.method, path, bytes.NewReader(body))
	r.URL.RawQuery = query.Encode()
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", "application/json")
	began := time.Now()
	w := z.send(r)
	z.asked++
	z.answers[w.Code]++
	if took := time.Since(began); w.Code >= 500 || took > time.Minute {
		z.t.Errorf("%s %s?%s with %s = %s: %d after %s\n%.1000s\n%.1000s", o.method, path, query.Encode(), place, value, w.Code, took, body, w.Body)
	}
}

// mark is where the integer goes.
const mark = "the-extreme-integer"

// usual returns a value with the required parts of a schema, and with the parts on the way to a place in it.
func (z *fuzzer) usual(name string, s *schema, at, place, template string, depth int) any {
	if s = z.whole(s); s == nil || depth > 8 {
		return nil
	}
	if place != "" && at == place {
		return mark
	}
	if known, ok := map[string]any{"template": template, "provider": "sandbox", "hardware": "small", "image": "linux", "size": 3, "when": "true", "role": "developer",
		"url": "https://127.0.0.1:9/x", "tenant": here}[name]; ok {
		return known
	}
	if len(s.Enum) > 0 {
		return s.Enum[0]
	}
	kind, _ := s.Type.(string)
	if several, ok := s.Type.([]any); ok && len(several) > 0 {
		kind, _ = several[0].(string)
	}
	switch kind {
	case "object":
		out := map[string]any{}
		for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
			next := strings.TrimPrefix(at+"."+name, ".")
			if slices.Contains(s.Required, name) || name == "template" || name == "size" || strings.HasPrefix(place, next+".") || strings.HasPrefix(place, next+"[]") || place == next {
				out[name] = z.usual(name, s.Properties[name], next, place, template, depth+1)
			}
		}
		return out
	case "array":
		if !strings.HasPrefix(place, at+"[]") {
			return []any{}
		}
		return []any{z.usual(name, s.Items, at+"[]", place, template, depth+1)}
	case "integer", "number":
		return 1
	case "boolean":
		return false
	}
	return "x"
}
