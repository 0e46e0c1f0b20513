package shell_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"muster/app"
	"muster/app/family"
	"muster/app/humanize"
	"muster/automators/automatortest"
	"muster/automators/shell"
	"muster/jobs/remote"
	"muster/jobs/remote/remotetest"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestConformance(t *testing.T) {
	automatortest.Run(t, automatortest.Member{
		New:       func() family.Automator { return shell.New() },
		OK:        map[string]string{"script": `echo "hello from $MUSTER_SERVICE $1"; cat "$MUSTER_CONFIG" >/dev/null`, "args": "'a b' c"},
		OKSays:    "hello from web a b",
		Fail:      map[string]string{"script": "echo what was wrong >&2; exit 42"},
		FailSays:  []string{"failed with exit code 42", "what was wrong"},
		Slow:      map[string]string{"script": "echo running now; sleep 600; true"},
		SlowSays:  "running now",
		Facts:     map[string]string{"script": "echo up; echo leader=$MUSTER_NODE >\"$MUSTER_OUTPUTS\""},
		WantFacts: map[string]string{"leader": "n1"},
		Invalid: []automatortest.Invalid{
			{Fields: map[string]string{"script": " \n"}, Field: "script"},
			{Fields: map[string]string{"script": "a\x00b"}, Field: "script"},
			{Fields: map[string]string{"script": "true", "args": "a 'b"}, Field: "args"},
		},
	})
}

type lines struct {
	mu  sync.Mutex
	out map[app.Stream][]string
}

func (l *lines) add(s app.Stream, line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.out == nil {
		l.out = map[app.Stream][]string{}
	}
	l.out[s] = append(l.out[s], line)
}

func connect(t *testing.T, opt remotetest.Options) (*remotetest.Server, family.Shell) {
	t.Helper()
	s := remotetest.Start(t, opt)
	sh, err := remote.Dial(t.Context(), s.Target())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = sh.Close() })
	return s, sh
}

func call(script string, config map[string]any) family.ServiceCall {
	return family.ServiceCall{
		NodeContext: family.NodeContext{Tenant: "acme", Cluster: "c1", Node: "n1", Hostname: "n1.example.org", Owner: "ada"},
		Operation:   7, Step: "start web@n1",
		Service: "web", Action: app.ActionStart, Fields: map[string]string{"script": script}, Config: config,
	}
}

func run(t *testing.T, sh family.Shell, c family.ServiceCall) *lines {
	t.Helper()
	var l lines
	if err := shell.New().Run(t.Context(), sh, c, l.add); err != nil {
		t.Fatalf("%v\n%q", err, l.out)
	}
	return &l
}

func TestEnvironment(t *testing.T) {
	s, sh := connect(t, remotetest.Options{})
	config := map[string]any{
		"lb":      map[string]any{"port": float64(8080), "ratio": 0.5, "on": true, "huge": 1e21, "none": nil},
		"hosts":   []any{"10.0.0.1", "10.0.0.2", float64(3)},
		"objects": []any{map[string]any{"a": 1}},
		"hostile": "it's $HOME `id` \"x\"\n\\second line ",
		"ünï-x.y": "odd",
	}
	l := run(t, sh, call("env | grep -E '^(MUSTER|CONFIG)_' | sort\necho \"[$CONFIG_HOSTILE]\"; echo $#; umask; pwd >/dev/null", config))
	out := strings.Join(l.out[family.StreamOut], "\n") + "\n"
	for _, want := range []string{
		"MUSTER_TENANT=acme\n", "MUSTER_CLUSTER=c1\n", "MUSTER_NODE=n1\n", "MUSTER_HOSTNAME=n1.example.org\n", "MUSTER_OWNER=ada\n",
		"MUSTER_SERVICE=web\n", "MUSTER_ACTION=start\n", "MUSTER_OPERATION=7\n", "MUSTER_STEP=start web@n1\n",
		"MUSTER_STATE=" + s.State + "/web\n", "MUSTER_CONFIG=" + s.State + "/.run/",
		"CONFIG_LB_PORT=8080\n", "CONFIG_LB_RATIO=0.5\n", "CONFIG_LB_ON=true\n", "CONFIG_LB_HUGE=1000000000000000000000\n", "CONFIG_LB_NONE=\n",
		"CONFIG_HOSTS=10.0.0.1 10.0.0.2 3\n", "CONFIG__N__X_Y=odd\n", "[it's $HOME `id` \"x\"\n\\second line ]\n0\n0022\n",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing in\n%s", want, out)
		}
	}
	if strings.Contains(out, "OBJECTS") {
		t.Error("a list of objects is no variable")
	}
	if s.Execs() != 1 {
		t.Errorf("%d sessions, want 1", s.Execs())
	}
}

func TestConfigFile(t *testing.T) {
	s, sh := connect(t, remotetest.Options{})
	config := map[string]any{"a": map[string]any{"b": []any{"x", map[string]any{"c": "it's <é>"}}}, "n": float64(8080)}
	l := run(t, sh, call("ls -ld \"${MUSTER_CONFIG%/*}\" | cut -c1-10\ncat \"$MUSTER_CONFIG\"", config))
	out := l.out[family.StreamOut]
	if out[0] != "drwx------" {
		t.Errorf("the mode of its directory is %s", out[0])
	}
	var got map[string]any
	if err := json.Unmarshal([]byte(out[1]), &got); err != nil {
		t.Fatal(err)
	}
	if a, b := mustJSON(t, got), mustJSON(t, config); a != b {
		t.Errorf("got %s, want %s", a, b)
	}
	// Gone afterwards, also when the script has failed.
	_ = shell.New().Run(t.Context(), sh, call("exit 1", config), nil)
	if left, _ := filepath.Glob(filepath.Join(s.State, ".run", "*")); len(left) != 0 {
		t.Errorf("left: %q", left)
	}
}

func mustJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestScriptRuns(t *testing.T) {
	_, sh := connect(t, remotetest.Options{})
	for name, tc := range map[string]struct{ script, args, want string }{
		"stops at the first failure": {"false\necho on", "", "web start failed with exit code 1."},
		"knows no unset variables":   {"echo $NO_SUCH_THING", "", "web start failed with exit code 2: "},
		"killed":                     {"kill -KILL $$", "", "exit code 137"},
		"reads nothing":              {"cat; exit 5", "", "exit code 5"},
		"syntax":                     {"if", "", "exit code 2: "},
		"no such interpreter":        {"#!/no/such/thing\n", "", "exit code 127: "},
		"line ends of Windows":       {"exit 6\r\n", "", "exit code 6"},
		"quotes and here documents":  {"cat <<'EOF' >&2\nit's \"$x\" `y` \\\nEOF\nexit 7", "", "exit code 7: it's \"$x\" `y` \\"},
		"the last line said":         {"echo one >&2; echo two >&2; echo >&2; exit 8", "", "exit code 8: two"},
		"arguments":                  {"[ \"$*\" = 'a  b|$HOME|*|' ] || exit 1; exit 9", `'a  b|$HOME|*|'`, "exit code 9"},
	} {
		t.Run(name, func(t *testing.T) {
			c := call(tc.script, nil)
			c.Fields["args"] = tc.args
			err := shell.New().Run(t.Context(), sh, c, nil)
			if app.CodeOf(err) != app.EScript || !strings.Contains(app.AsError(err).Message, tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
	if _, err := os.Stat("/bin/bash"); err == nil {
		l := run(t, sh, call("#!/usr/bin/env bash\nset -o pipefail\nx=(a b)\necho ${x[1]}", nil))
		if !slices.Equal(l.out[family.StreamOut], []string{"b"}) {
			t.Errorf("%q", l.out)
		}
	}
}

func TestStateStays(t *testing.T) {
	s, sh := connect(t, remotetest.Options{})
	run(t, sh, call("echo kept >\"$MUSTER_STATE/file\"", nil))
	l := run(t, sh, call("cat \"$MUSTER_STATE/file\"", nil))
	if !slices.Equal(l.out[family.StreamOut], []string{"kept"}) {
		t.Errorf("%q", l.out)
	}
	for dir, want := range map[string]os.FileMode{"": 0o755, "web": 0o755, ".run": 0o700} {
		if st, err := os.Stat(filepath.Join(s.State, dir)); err != nil || st.Mode().Perm() != want {
			t.Errorf("%q: %v, %v; want %o", dir, st.Mode(), err, want)
		}
	}
}

func TestCollisions(t *testing.T) {
	_, sh := connect(t, remotetest.Options{})
	config := map[string]any{"a": map[string]any{"b": "first"}, "a_b": "second", "A-b": "zeroth"}
	for range 5 {
		l := run(t, sh, call("echo $CONFIG_A_B", config))
		if !slices.Equal(l.out[family.StreamOut], []string{"second"}) {
			t.Errorf("%q", l.out)
		}
		if want := []string{
			"CONFIG_A_B is both A-b and a.b in the configuration; the script uses the latter",
			"CONFIG_A_B is both a.b and a_b in the configuration; the script uses the latter",
		}; !slices.Equal(l.out[family.StreamSystem], want) {
			t.Errorf("warnings %q, want %q", l.out[family.StreamSystem], want)
		}
	}
}

func TestVeryLargeConfig(t *testing.T) {
	_, sh := connect(t, remotetest.Options{})
	many := map[string]any{}
	for i := range 3000 {
		many["key"+strings.Repeat("x", i%7)+string(rune('a'+i%26))+mustJSON(t, i)] = strings.Repeat("v", 4000)
	}
	config := map[string]any{"many": many, "big": strings.Repeat("B", 200<<10), "small": "s"}
	l := run(t, sh, call("wc -c <\"$MUSTER_CONFIG\" | tr -d ' '; echo ${CONFIG_BIG-left out} $CONFIG_SMALL; true", config))
	want := mustJSON(t, len(mustJSON(t, config))+1)
	if out := l.out[family.StreamOut]; len(out) != 2 || out[0] != want {
		t.Errorf("%q, want a file of %s bytes", out, want)
	}
	if l.out[family.StreamSystem] == nil {
		t.Error("no warning about omitted variables")
	}
}

func TestLeftoversAreRemoved(t *testing.T) {
	s, sh := connect(t, remotetest.Options{})
	old := filepath.Join(s.State, ".run", "99999999")
	if err := os.MkdirAll(old, 0o700); err != nil {
		t.Fatal(err)
	}
	run(t, sh, call("true", nil))
	if _, err := os.Stat(old); !os.IsNotExist(err) {
		t.Error("a dead script's directory is still there")
	}
}

// Under a claim, as a worker has it: one session for many actions, the same outcome in the next attempt, and nothing left in files.
func TestUnderAClaim(t *testing.T) {
	s, c := connect(t, remotetest.Options{})
	var first, second lines
	for i, l := range []*lines{&first, &second} {
		sh := remote.Under(c, remote.Claim{Place: "c1.n1", Epoch: int64(i + 1), Operation: 1, Index: 1})
		script := "echo ran; ls -ld \"${MUSTER_CONFIG%/*}\" | cut -c1-10; grep -c " + automatortest.Secret + " \"$MUSTER_CONFIG\" || true"
		if err := shell.New().Run(t.Context(), sh, call(script, map[string]any{"secret": automatortest.Secret}), l.add); err != nil {
			t.Fatal(err)
		}
	}
	if got := first.out[family.StreamOut]; !slices.Equal(got, []string{"ran", "drwx------", "1"}) {
		t.Errorf("first %q", got)
	}
	if got := second.out[family.StreamOut]; len(got) != 0 || len(second.out[family.StreamSystem]) != 1 {
		t.Errorf("it ran again: %q", second.out)
	}
	if s.Execs() > 4 { // the first on a node makes the directory, and what was done before is looked at closely
		t.Errorf("%d sessions", s.Execs())
	}
	before := s.Execs()
	for i := range 10 {
		sh := remote.Under(c, remote.Claim{Place: "c1.n1", Epoch: int64(i + 10), Operation: 2, Index: i})
		if err := shell.New().Run(t.Context(), sh, call("true", map[string]any{"secret": automatortest.Secret}), nil); err != nil {
			t.Fatal(err)
		}
	}
	if n := s.Execs() - before; n > 1 {
		t.Errorf("%d sessions for 10 actions", n)
	}

	// Killed, however stubborn.
	ctx, cancel := context.WithCancel(t.Context())
	sh := remote.Under(c, remote.Claim{Place: "c1.n1", Epoch: 100, Operation: 3, Index: 1})
	err := shell.New().Run(ctx, sh, call("trap '' TERM HUP; echo up; sleep 600", map[string]any{"secret": automatortest.Secret}),
		func(app.Stream, string) { cancel() })
	if app.CodeOf(err) != app.ECancelled {
		t.Errorf("%v", err)
	}
	left, _ := exec.Command("grep", "-rl", automatortest.Secret, s.State, s.Home, s.Temp).Output()
	if len(left) > 0 {
		t.Errorf("the secret is in %s", left)
	}
}

// A script that must be killed leaves no configuration behind either.
func TestStubbornScript(t *testing.T) {
	if testing.Short() {
		t.Skip("takes as long as the patience of a node, 5 s")
	}
	s, sh := connect(t, remotetest.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	err := shell.New().Run(ctx, sh, call("trap '' TERM HUP; echo up; sleep 600; sleep 600", map[string]any{"secret": automatortest.Secret}),
		func(app.Stream, string) { cancel() })
	if app.CodeOf(err) != app.ECancelled {
		t.Errorf("%v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(s.State, ".run", "*")); len(left) != 0 {
		t.Errorf("left: %q", left)
	}
}

// noRoot puts an id on the PATH that says we are not root, and a sudo that does what it should.
func noRoot(t *testing.T, sudo string) remotetest.Options {
	dir := t.TempDir()
	for name, text := range map[string]string{"id": "echo ${FAKE_ID:-1000}", "sudo": sudo} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+text+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return remotetest.Options{User: "admin", Env: []string{"PATH=" + dir + ":$PATH", "MUSTER_STATE_ROOT="}}
}

func TestWithoutRoot(t *testing.T) {
	opt := noRoot(t, "echo 'sudo: a password is required' >&2; exit 1")
	if os.Getuid() == 0 { // the shell is not to be fooled by an id alone
		opt.Line = func(line string) string {
			return "exec setpriv --reuid=65534 --regid=65534 --clear-groups sh -c " + humanize.ShellQuote(line)
		}
	}
	s, sh := connect(t, opt)
	if os.Getuid() == 0 {
		for _, dir := range []string{s.Home, s.Temp} {
			if err := os.Chown(dir, 65534, 65534); err != nil {
				t.Fatal(err)
			}
		}
		// No one may pass through the directories of tests, which belong to root.
		for dir := filepath.Dir(s.Home); dir != os.TempDir() && dir != "/"; dir = filepath.Dir(dir) {
			if err := os.Chmod(dir, 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
	var l lines
	if err := shell.New().Bootstrap(t.Context(), sh, family.NodeContext{Node: "n1"}, l.add); err != nil {
		t.Fatal(err)
	}
	if said := strings.Join(l.out[family.StreamSystem], "\n"); !strings.Contains(said, "without root access") {
		t.Errorf("%q", said)
	}
	got := run(t, sh, call("echo $MUSTER_STATE", nil)).out[family.StreamOut]
	if want := []string{s.Home + "/.muster/web"}; !slices.Equal(got, want) {
		t.Errorf("state in %q, want %q", got, want)
	}
}

func TestWithSudo(t *testing.T) {
	opt := noRoot(t, "shift 3; FAKE_ID=0 ROOT=yes; export FAKE_ID ROOT; exec \"$@\"")
	opt.Env = append(opt.Env, "MUSTER_STATE_ROOT="+t.TempDir())
	s, sh := connect(t, opt)
	if got := run(t, sh, call("echo $ROOT", nil)).out[family.StreamOut]; !slices.Equal(got, []string{"yes"}) {
		t.Errorf("%q", got)
	}
	if s.Execs() != 1 {
		t.Errorf("%d sessions, want 1", s.Execs())
	}
}

func TestBadServiceNames(t *testing.T) {
	_, sh := connect(t, remotetest.Options{})
	for _, name := range []string{"", ".", "..", ".run", "a/b", "a\nb"} {
		c := call("true", nil)
		c.Service = name
		if err := shell.New().Run(t.Context(), sh, c, nil); app.CodeOf(err) != app.EInvalid {
			t.Errorf("%q: %v", name, err)
		}
	}
}
