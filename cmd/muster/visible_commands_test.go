//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"muster/cmd/muster/cli"
)

// hostile is a text that does something to a terminal or its reader wherever it is shown as it is: it sets the clipboard and the title, makes
// a link, wipes the screen, hides what follows, begins its line again and turns the reading direction.
const hostile = "EVIL\x1b]52;c;aGk=\a\x1b]0;t\a\x1b]8;;x:y\x1b\\\x1b[2J\x1b[8m\x1b[0mz\u009b31m\u0085\r\b\x7f\u202e\u2066\u061c\u200e\U000e0041"

// local are commands that ask no server. They are run all the same.
var local = []string{"automator list", "automator test", "backup", "catalog lint", "catalog schema", "catalog show", "doctor", "help", "logout", "migrate status", "plan",
	"profile add", "profile list", "profile remove", "profile show", "profile use", "provider prove", "provider test", "restore",
	"secrets rekey", "secrets rotate", "secrets status", "solve", "version", "worker"}

// begin are commands that start a server or a worker, or write files; what these say is in the log, whose handlers escape too.
var begin = []string{"demo", "man", "migrate up", "provisioner", "serve"}

// asBytes are commands whose answer on stdout is a file; on a terminal it is shown as all else.
var asBytes = []string{"audit export", "catalog export", "catalog get", "cluster inventory", "inventory", "tenant export"}

// argumentsOf are the arguments of commands whose usage does not say them all.
var argumentsOf = map[string]string{
	"build rules apply":              "HOSTILE -f RULES",
	"catalog lint":                   "--catalog FILE",
	"catalog revert":                 "HOSTILE HOSTILE --to 1",
	"catalog show":                   "HOSTILE --catalog FILE",
	"catalog try":                    "-f FILE --template HOSTILE --size 3",
	"cluster cp":                     "evil/n1:file FILE",
	"cluster forward":                "HOSTILE web:8080",
	"notifications read":             "--all",
	"cluster create":                 "HOSTILE --template HOSTILE --size 3 --wait",
	"cluster extend":                 "HOSTILE --by 1h",
	"cluster label":                  "HOSTILE team=web",
	"cluster provider-values set":    "HOSTILE --set-provider region=HOSTILE",
	"cluster action":                 "HOSTILE HOSTILE",
	"cluster run":                    "HOSTILE -- uptime",
	"cluster action-schedule create": "HOSTILE HOSTILE --every 6h",
	"cluster scaling set":            "HOSTILE --max 8",
	"cluster shorten":                "HOSTILE --by 1h",
	"image delete":                   "7 --yes",
	"login":                          "SERVER",
	"plan":                           "--catalog FILE --template HOSTILE --size 3",
	"policy save":                    "POLICY",
	"policy try":                     "POLICY",
	"pool create":                    "HOSTILE --hardware HOSTILE --image HOSTILE --provider HOSTILE --count 3",
	"pool set":                       "HOSTILE --count 3",
	"provisioner token create":       "HOSTILE --for-tenant HOSTILE",
	"quota delete":                   "user/HOSTILE",
	"quota set":                      "user/HOSTILE --clusters 3",
	"resource delete":                "shell/script/evil@1",
	"resource diff":                  "shell/script/evil 1 1",
	"resource pull":                  "shell/script/evil",
	"resource push":                  "shell/script/evil FILE",
	"resource recall":                "shell/script/evil@1",
	"resource show":                  "shell/script/evil",
	"resource stage":                 "shell/script/evil@1",
	"server ready":                   "--server SERVER",
	"slack email":                    "HOSTILE on",
	"volume schedule":                "HOSTILE --off",
	"solve":                          "--catalog FILE --template HOSTILE --size 3",
	"tenant change":                  "HOSTILE --about HOSTILE",
	"user change":                    "HOSTILE --email HOSTILE",
}

// Every command of the CLI, against a server whose answers are hostile wherever they hold text, and which refuses with hostile words.
func TestNoCommandObeysWhatComesFromOutside(t *testing.T) {
	s := newHostileServer(t)
	for _, name := range []string{"HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "MUSTER_DATA"} {
		t.Setenv(name, t.TempDir())
	}
	t.Setenv("MUSTER_URL", s.http.URL)
	t.Setenv("MUSTER_TOKEN", testToken)
	t.Setenv("TERM", "xterm")
	words := map[string]string{"HOSTILE": hostile, "SERVER": s.http.URL}
	for name, text := range map[string]string{"FILE": "kind: template\nname: \"EVIL\\e[2J\"\n", "RULES": "[]\n",
		"POLICY": "name: \"EVIL\\e[2J\"\norder: 10\nwhen: nodes > 10\neffect: refuse\nreason: dear\n"} {
		words[name] = filepath.Join(t.TempDir(), "hostile.yaml")
		if err := os.WriteFile(words[name], []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(t.TempDir())
	for _, cmd := range leaves(rootCommand(&cli.Context{})) {
		path := strings.TrimPrefix(cmd.CommandPath(), "muster ")
		if slices.Contains(begin, path) {
			continue
		}
		t.Run(path, func(t *testing.T) {
			args := append(strings.Fields(path), arguments(cmd, path, words)...)
			asks, file, shown := !slices.Contains(local, path), slices.Contains(asBytes, path), ""
			for _, way := range []struct {
				name     string
				refuse   bool
				calm     bool
				terminal bool
				more     []string
			}{{name: "plain"}, {name: "ended", calm: true}, {name: "json", more: []string{"--format", "json"}}, {name: "refused", refuse: true},
				{name: "coloured", more: []string{"--color", "always"}}, {name: "terminal", terminal: true}, {name: "ended on a terminal", terminal: true, calm: true}} {
				if way.more != nil && cmd.Flags().Lookup("format") != nil && way.name == "json" {
					continue
				}
				before := s.begin(way.refuse, way.calm)
				got := runHostile(t, s, way.terminal, append(slices.Clone(args), way.more...))
				if asks && way.name == "plain" && s.since(before) == 0 {
					t.Errorf("the server was not asked; %v said %.300q %.300q", args, got.out, got.errOut)
				}
				shown += got.out + got.errOut
				for stream, text := range map[string]string{"stdout": got.out, "stderr": got.errOut} {
					if file && !way.terminal && stream == "stdout" && !way.refuse {
						continue
					}
					if bad := obeyed(text, way.terminal || way.name == "coloured"); bad != "" {
						t.Errorf("%s: %s has %q", way.name, stream, bad)
					}
				}
			}
			if asks && !strings.Contains(shown, "EVIL") {
				t.Errorf("nothing of what the server said is shown: %.500q", shown)
			}
		})
	}
}

// leaves are the commands that do something.
func leaves(cmd *cobra.Command) []*cobra.Command {
	if !cmd.HasSubCommands() {
		return []*cobra.Command{cmd}
	}
	var all []*cobra.Command
	for _, c := range cmd.Commands() {
		all = append(all, leaves(c)...)
	}
	return all
}

// arguments are those that a command needs, as its usage names them, and --yes where it would ask.
func arguments(cmd *cobra.Command, path string, words map[string]string) []string {
	var out []string
	usage, known := argumentsOf[path]
	if !known {
		_, usage, _ = strings.Cut(cmd.Use, " ")
	}
	for _, word := range strings.Fields(usage) {
		prefix, last, _ := strings.Cut(word, "/")
		switch {
		case words[word] != "":
			word = words[word]
		case known && last == "HOSTILE":
			word = prefix + "/" + hostile
		case known:
		case strings.HasPrefix(word, "["): // what follows may be left out
			word = ""
		case strings.Contains(word, "FILE"):
			word = words["FILE"]
		case strings.HasPrefix(word, "NUMBER"), word == "ID", word == "DELIVERY":
			word = "1"
		case word == "LENGTH":
			word = "1h"
		case !strings.HasPrefix(word, "-") && strings.ToUpper(word) == word:
			word = hostile
		}
		if word == "" {
			break
		}
		out = append(out, word)
	}
	if cmd.Flags().Lookup("yes") != nil {
		out = append(out, "--yes")
	}
	return out
}

var ownSequences = regexp.MustCompile("\x1b\\[(0|1|2|31|32|33|36)m|\x1b\\[\\?(1049|25)[hl]|\x1b\\[[HKJ]|\r\x1b\\[K|\x1b\\[K\r\n")

// obeyed returns what a terminal would obey in a text, with what is before it.
func obeyed(text string, own bool) string {
	if own {
		text = ownSequences.ReplaceAllString(text, "")
	}
	for i, r := range text {
		if r == utf8.RuneError && !strings.HasPrefix(text[i:], "\ufffd") || r < ' ' && r != '\n' && r != '\t' && !(own && r == '\r') || cli.Misleads(r) {
			return text[max(0, i-40):min(len(text), i+10)]
		}
	}
	return ""
}

// runHostile runs a command line in this process, where wanted on a terminal, for as long as it asks a few times.
func runHostile(t *testing.T, s *hostileServer, terminal bool, args []string) result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second) // a bound; the server ends running requests
	defer cancel()
	s.enough(cancel)
	var out, errOut bytes.Buffer
	c := &cli.Context{Stdin: strings.NewReader("y\n"), Stdout: &out, Stderr: &errOut, NoPause: true}
	if !terminal {
		code := execute(ctx, c, args)
		return result{code, out.String(), errOut.String()}
	}
	ours, theirs := openTerminal(t)
	c.Stdout = theirs
	read := make(chan []byte)
	go func() {
		b, _ := io.ReadAll(ours) // ends with EIO when the last of theirs is closed
		read <- b
	}()
	code := execute(ctx, c, args)
	theirs.Close()
	return result{code, string(<-read), errOut.String()}
}

// openTerminal returns both ends of a terminal that passes bytes on as they are.
func openTerminal(t *testing.T) (ours, theirs *os.File) {
	t.Helper()
	ours, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	t.Cleanup(func() { ours.Close() })
	fd := int(ours.Fd())
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		theirs, err = os.OpenFile(fmt.Sprint("/dev/pts/", n), os.O_RDWR|unix.O_NOCTTY, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { theirs.Close() })
	mode, err := unix.IoctlGetTermios(int(theirs.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	mode.Oflag &^= unix.OPOST
	mode.Lflag &^= unix.ECHO
	if err := unix.IoctlSetTermios(int(theirs.Fd()), unix.TCSETS, mode); err != nil {
		t.Fatal(err)
	}
	return ours, theirs
}

// hostileServer answers every route of docs/openapi.json with what its schema allows, and hostile texts wherever it allows text.
type hostileServer struct {
	http *httptest.Server
	api  struct {
		Paths      map[string]map[string]json.RawMessage
		Components struct{ Schemas map[string]*shape }
	}

	mu           sync.Mutex
	asked, few   int
	refuse, calm bool
	stop         func()
}

type shape struct {
	Ref                  string `json:"$ref"`
	Type                 any
	Format               string
	Enum                 []any
	Const                any
	Minimum              *float64
	Properties           map[string]*shape
	Items                *shape
	AdditionalProperties json.RawMessage
	OneOf, AnyOf, AllOf  []*shape
}

// maxAsked is how many requests a command may send before it's interrupted: enough for live output to appear.
const maxAsked = 12

func newHostileServer(t *testing.T) *hostileServer {
	s := &hostileServer{}
	b, err := os.ReadFile(openAPIFile)
	if err == nil {
		err = json.Unmarshal(b, &s.api)
	}
	if err != nil {
		t.Fatal(err)
	}
	s.http = httptest.NewServer(s)
	t.Cleanup(s.http.Close)
	return s
}

func (s *hostileServer) begin(refuse, calm bool) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refuse, s.calm = refuse, calm
	return s.asked
}

func (s *hostileServer) since(before int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked - before
}

func (s *hostileServer) enough(stop func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.few, s.stop = 0, stop
}

func (s *hostileServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.asked++
	if s.few++; s.few == maxAsked {
		s.stop()
	}
	refuse, calm := s.refuse, s.calm
	s.mu.Unlock()
	if refuse {
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(http.StatusForbidden)
		_ = json.NewEncoder(w).Encode(map[string]any{"title": hostile, "status": 403, "detail": hostile, "code": "forbidden", "kind": hostile, "hint": hostile, "field": hostile})
		return
	}
	op := s.route(r.Method, r.URL.EscapedPath())
	for _, code := range []string{"200", "201", "202", "204"} {
		answer, ok := op.Responses[code]
		if !ok {
			continue
		}
		if body, ok := answer.Content["application/json"]; ok {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("ETag", `"1"`)
			_ = json.NewEncoder(w).Encode(s.example(body.Schema, "", 0, calm))
			return
		}
		if code == "204" {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		break
	}
	_, _ = io.WriteString(w, hostile+"\n"+hostile)
}

type route struct {
	Responses map[string]struct {
		Content map[string]struct{ Schema *shape }
	}
}

// route finds what is said of one; of several that fit, that with the most words of its own.
func (s *hostileServer) route(method, path string) (best route) {
	have, most := strings.Split(path, "/"), -1
	for template, methods := range s.api.Paths {
		want, own := strings.Split("/api/v1"+strings.TrimPrefix(template, "/api/v1"), "/"), 0
		fits := len(want) == len(have) && methods[strings.ToLower(method)] != nil
		for i := 0; fits && i < len(want); i++ {
			if !strings.HasPrefix(want[i], "{") {
				own++
				fits = want[i] == have[i]
			}
		}
		if fits && own > most {
			most, best = own, route{}
			_ = json.Unmarshal(methods[strings.ToLower(method)], &best)
		}
	}
	return best
}

// example is a value that a schema allows.
func (s *hostileServer) example(x *shape, name string, depth int, calm bool) any {
	if x == nil {
		return hostile
	}
	if x.Ref != "" {
		return s.example(s.api.Components.Schemas[x.Ref[strings.LastIndexByte(x.Ref, '/')+1:]], name, depth+1, calm)
	}
	for _, some := range [][]*shape{x.OneOf, x.AnyOf, x.AllOf} {
		if len(some) > 0 {
			return s.example(some[0], name, depth, calm)
		}
	}
	kind, _ := x.Type.(string)
	if kinds, ok := x.Type.([]any); ok {
		kind, _ = kinds[0].(string)
	}
	switch {
	case x.Const != nil:
		return x.Const
	case len(x.Enum) > 0:
		return x.Enum[0]
	case depth > 12:
		return nil
	case kind == "object" || x.Properties != nil:
		out := map[string]any{}
		for key, p := range x.Properties {
			out[key] = s.example(p, key, depth+1, calm)
		}
		var values *shape
		if json.Unmarshal(x.AdditionalProperties, &values) == nil && values != nil {
			out[hostile] = s.example(values, "", depth+1, calm)
		}
		return out
	case kind == "array":
		return []any{s.example(x.Items, name, depth+1, calm)}
	case kind == "integer" || kind == "number":
		if x.Minimum != nil {
			return max(1, *x.Minimum)
		}
		return 1
	case kind == "boolean":
		return !calm
	case x.Format == "date-time":
		return "2026-01-02T03:04:05Z"
	case x.Format == "date":
		return "2026-01-02"
	case x.Format == "byte" || x.Format == "base64":
		return []byte(hostile)
	case calm && (name == "status" || name == "state"):
		return "succeeded"
	}
	return hostile
}
