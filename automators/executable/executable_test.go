package executable

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"muster/app"
	"muster/app/family"
	"muster/app/template"
	"muster/automators/automatortest"
	"muster/automators/internal/node"
	"muster/jobs/remote"
	"muster/jobs/remote/remotetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

// install writes a program to where only we can write.
func install(t testing.TB, name, text string) string {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, Prefix+name)
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

// example returns the example's program, installed.
func example(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("python3"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("the example needs python3, which is not here")
		}
		t.Skip("the example needs python3, which is not here")
	}
	real, err := exec.Command("python3", "-c", "import sys; print(sys.executable)").Output()
	if err != nil {
		t.Fatal(err)
	}
	// python3 in the path may be a script that looks for one first.
	t.Setenv("PATH", filepath.Dir(strings.TrimSpace(string(real)))+string(os.PathListSeparator)+os.Getenv("PATH"))
	b, err := os.ReadFile("../../examples/automators/muster-automator-file")
	if err != nil {
		t.Fatal(err)
	}
	return install(t, "file", string(b))
}

func TestTheExamplePassesTheSuite(t *testing.T) {
	program, err := Inquire(t.Context(), "file", example(t), nil, quiet())
	if err != nil {
		t.Fatal(err)
	}
	a := New(program, quiet())
	t.Cleanup(func() { _ = a.Close() })
	fields := func(path, text, then string) map[string]string {
		return map[string]string{"path": path, "text": text, "then": then}
	}
	automatortest.Run(t, automatortest.Member{
		New:      func() family.Automator { return a },
		OK:       fields("{home}/motd", "hello", "cat {home}/motd"),
		OKSays:   "hello",
		Fail:     fields("{home}/motd", "hello", "echo what was wrong >&2; exit 42"),
		FailSays: []string{"failed with exit code 42", "what was wrong"},
		Slow:     fields("{home}/motd", "hello", "echo running now; sleep 600; true"),
		SlowSays: "running now",
		Invalid: []automatortest.Invalid{
			{Fields: fields("motd", "", ""), Field: "path"},
		},
		Changes:    fields("{home}/new", "hello", ""),
		ChangesSay: []string{"new: would be written"},
		Facts:      fields("{home}/facts", "", "echo done"),
		WantFacts:  map[string]string{"path": "{home}/facts"},
	})
}

// scripted is a program in sh that describes itself, and then does what it is made to.
func scripted(t testing.TB, then string) string {
	return install(t, "odd", `#!/bin/sh
read -r line
echo '{"id":1,"result":{"protocol":1,"name":"odd","description":"odd","fields":[{"name":"a"}],"powers":["dry_run"]}}'
`+then+"\n")
}

// odd returns an automator whose process has not been asked to describe itself: its first answer is that to check, and so on.
func odd(t testing.TB, script string, change func(*times)) *dryAutomator {
	t.Helper()
	times := usualTimes
	times.describe, times.check, times.write = 5*time.Minute, 5*time.Minute, 5*time.Minute
	if change != nil {
		change(&times)
	}
	path := install(t, "odd", "#!/bin/sh\n"+script+"\n")
	a := &dryAutomator{&Automator{program: Program{Name: "odd", Path: path, Descriptor: family.Descriptor{Name: "odd", Fields: []family.Field{{Name: "a"}}}, DryRuns: true}, times: times, log: quiet()}}
	t.Cleanup(func() { _ = a.Close() })
	return a
}

func TestInvalidDescriptions(t *testing.T) {
	good := `{"protocol":1,"name":"odd","description":"good","fields":[{"name":"a"}],"resource_types":[{"name":"t","format":"file"}],"tools":["sh"]}`
	for name, tc := range map[string]struct{ old, now, says string }{
		"protocol": {`"protocol":1`, `"protocol":2`, "version 2"}, "name": {`"name":"odd"`, `"name":"even"`, "even"}, "description": {"good", " ", "description is empty"},
		"field's name": {`"name":"a"`, `"name":"A b"`, "A b"}, "field twice": {`{"name":"a"}`, `{"name":"a"},{"name":"a"}`, "duplicate"}, "format": {`"file"`, `"disk"`, "resource type"},
		"mode": {`"format":"file"`, `"format":"file","mode":512`, "modes"}, "tool": {`"sh"`, `"a b"`, "valid program name"}, "power": {`"tools"`, `"powers":["fly"],"tools"`, "fly"},
		"default": {`{"name":"a"}`, `{"name":"a","default":"x","options":["y"]}`, "one of the options"},
		"type":    {`{"name":"a"}`, `{"name":"a","type":"date"}`, `unknown type "date"`}, "choice": {`{"name":"a"}`, `{"name":"a","type":"choice"}`, "choice without options"},
	} {
		var d descriptionLine
		if err := json.Unmarshal([]byte(strings.Replace(good, tc.old, tc.now, 1)), &d); err != nil {
			t.Fatal(err)
		}
		if _, err := d.check("odd"); app.CodeOf(err) != app.EInvalid || !strings.Contains(app.AsError(err).Message, tc.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	var d descriptionLine
	if err := json.Unmarshal([]byte(good), &d); err != nil {
		t.Fatal(err)
	}
	d.Fields = append(d.Fields, family.Field{Name: "size", Default: "2"}, family.Field{Name: "wait", Default: "2", Type: family.FieldInt})
	if p, err := d.check("odd"); err != nil || p.Descriptor.Fields[0].Label != "a" || p.Descriptor.Fields[1].Type != "" || p.Descriptor.Fields[2].Type != family.FieldInt {
		t.Errorf("%+v, %v", p, err)
	}
}

func TestInquire(t *testing.T) {
	if p, err := Inquire(t.Context(), "odd", scripted(t, "exit"), nil, quiet()); err != nil || !p.DryRuns {
		t.Errorf("%+v, %v", p, err)
	}
	patient := usualTimes
	patient.describe = 5 * time.Minute
	short := usualTimes // for who says nothing, and does not end either
	short.describe, short.eof, short.term = 200*time.Millisecond, 10*time.Millisecond, 10*time.Millisecond
	for name, tc := range map[string]struct{ text, says string }{
		"silent": {"#!/bin/sh\nsleep 600", "didn't describe itself within"}, "ends": {"#!/bin/sh\nread -r x; exit 3", "exit status 3"}, "no JSON": {"#!/bin/sh\nread -r x; echo hello; cat", "isn't a JSON"},
		"another's answer": {"#!/bin/sh\nread -r x; echo '{\"id\":9,\"result\":{}}'; cat", "unknown request"}, "asks for a node": {"#!/bin/sh\nread -r x; echo '{\"id\":1,\"verb\":\"run\",\"params\":{}}'; read -r x\ncase $x in *'No node'*) exit 4;; esac", "exit status 4"},
	} {
		times := patient
		if name == "silent" {
			times = short
		}
		path := install(t, "odd", tc.text)
		if _, err := inquire(t.Context(), "odd", path, nil, quiet(), times); err == nil || !strings.Contains(app.AsError(err).Message, tc.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	open := install(t, "odd", "#!/bin/sh")
	if err := os.Chmod(open, 0o722); err != nil {
		t.Fatal(err)
	}
	if _, err := Inquire(t.Context(), "odd", open, nil, quiet()); app.CodeOf(err) != app.EForbidden {
		t.Errorf("a program that others may write: %v", err)
	}
}

func shell(t *testing.T) (*remotetest.Server, family.Shell) {
	t.Helper()
	s := remotetest.Start(t, remotetest.Options{})
	sh, err := remote.Dial(t.Context(), s.Target())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = sh.Close() })
	return s, sh
}

// A dialogue is a program that reads a line, writes one, and so on; what it read is kept for the test.
func dialogue(dir string, lines ...string) string {
	var b strings.Builder
	for i, l := range lines {
		fmt.Fprintf(&b, "read -r line || exit 0\nprintf '%%s\\n' \"$line\" >%s/%d\ncat <<'EOF'\n%s\nEOF\n", dir, i, l)
	}
	b.WriteString("cat >/dev/null\n")
	return b.String()
}

const checked = `{"id":1,"result":{}}`

func TestProgramRequests(t *testing.T) {
	s, sh := shell(t)
	dir := t.TempDir()
	resources := t.TempDir()
	a := odd(t, dialogue(dir, checked,
		`{"verb":"say","params":{"line":"about to\u0007 begin"}}
{"id":1,"verb":"put","params":{"name":"conf","content":"secret-text","mode":"0640"}}`,
		`{"id":2,"verb":"put","params":{"path":"`+resources+`/x","content":"x"}}`,
		`{"id":3,"verb":"put","params":{"path":"../x","content":"x"}}`,
		`{"id":4,"verb":"put","params":{"name":"../x","content":"x"}}`,
		`{"id":5,"verb":"run","params":{"line":"cat; echo wrong >&2; exit 3","stdin":"in\n"}}`,
		`{"id":6,"verb":"fly","params":{}}`,
		`{"id":7,"verb":"run","params":{"line":"echo once","once":true}}`,
		`{"id":8,"verb":"put","params":{"name":"b","content_base64":"AAH/"}}`,
		`{"id":2,"result":{"facts":{"port":8080,"Bad Name":"x"}}}`), nil)
	var said []string
	facts := map[string]string{}
	call := family.ServiceCall{NodeContext: family.NodeContext{Tenant: "acme", Node: "n1"}, Service: "web", Action: app.ActionStart, Resources: resources, Operation: 7, Step: "s",
		Refs: []template.ResourceRef{{Type: "t", Name: "r"}}, Config: map[string]any{"k": "v"}, Tell: func(f map[string]string) { facts = f }}
	if err := a.Run(t.Context(), sh, call, func(s app.Stream, line string) { said = append(said, string(s)+": "+line) }); err != nil {
		t.Fatal(err, said)
	}
	if facts["port"] != "8080" || len(facts) != 1 {
		t.Errorf("facts %v", facts)
	}
	text := strings.Join(said, "\n")
	for _, want := range []string{"muster: about to  begin", "stdout: in", "stderr: wrong", "stdout: once", "Bad Name"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing from the output:\n%s", want, text)
		}
	}
	read := func(n int) string {
		b, err := os.ReadFile(filepath.Join(dir, fmt.Sprint(n)))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	for n, want := range map[int]string{1: `"resources":[{"type":"t","name":"r"}]`, 2: `"path":"` + s.State, 3: "read-only", 4: "must be absolute", 5: "letters, digits", 6: `{"exit":3,"stdout":"in\n","stderr":"wrong\n"}`,
		7: "Unknown verb", 8: `{"exit":0,"stdout":"","stderr":"","cut":true}`} {
		if !strings.Contains(read(n), want) {
			t.Errorf("line %d is %s, want %s", n, read(n), want)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(s.State, ".programs", "*")); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
}

func TestProgramFailures(t *testing.T) {
	_, sh := shell(t)
	short := func(t *times) { t.eof, t.term = 10*time.Millisecond, 10*time.Millisecond }
	hasty := func(t *times) { short(t); t.check = 300 * time.Millisecond }
	run := func(a *dryAutomator) error {
		return a.Run(t.Context(), sh, family.ServiceCall{Service: "web", Action: app.ActionStart}, nil)
	}
	dir := t.TempDir()
	for name, tc := range map[string]struct {
		script string
		code   app.Code
		says   string
	}{
		"ends":                    {"read -r x; echo '" + checked + "'; read -r x; exit 5", app.ETransient, "didn't respond"},
		"is silent in check":      {"sleep 600", app.ETimeout, "timed out"},
		"writes rubbish":          {dialogue(dir, checked, "hello"), app.ETransient, "isn't a JSON"},
		"answers twice":           {dialogue(dir, checked+"\n"+checked), app.ETransient, "unknown request"},
		"returns no result":       {dialogue(dir, checked, `{"id":2}`), app.ETransient, "result and error"},
		"returns another result":  {dialogue(dir, checked, `{"id":2,"result":[1]}`), app.EInternal, "invalid result"},
		"returns an unknown code": {dialogue(dir, checked, `{"id":2,"error":{"code":"boom","message":"x"}}`), app.EInternal, `"boom"`},
		"says that a tool fails":  {dialogue(dir, checked, `{"id":2,"error":{"code":"script","exit":4,"message":"a\nb"}}`), app.EScript, "web start failed with exit code 4: a b"},
		"refuses a field":         {dialogue(dir, `{"id":1,"error":{"code":"invalid","field":"a","message":"no"}}`), app.EInvalid, "no"},
	} {
		change := short
		if tc.code == app.ETimeout {
			change = hasty
		}
		err := run(odd(t, tc.script, change))
		if e := app.AsError(err); e.Code != tc.code || !strings.Contains(e.Message, tc.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := odd(t, "sleep 600 & read -r x; echo '"+checked+"'; wait", short).Check(nil); err != nil {
		t.Error(err)
	}
}

// A process that did its work well is used again; one that was stopped in the middle is not.
func TestProcessesAreReused(t *testing.T) {
	_, sh := shell(t)
	dir := t.TempDir()
	a := odd(t, `echo >>`+dir+`/starts
n=0
while read -r line; do
n=$((n+1))
case $line in
*'"verb":"run"'*'"slow"'*) echo '{"id":1,"verb":"run","params":{"line":"echo running now; sleep 600","quiet":false}}'; read -r x ;;
esac
echo "{\"id\":$n,\"result\":{}}"
done`, func(t *times) { t.eof, t.term = 50*time.Millisecond, 50*time.Millisecond })
	starts := func() int {
		b, _ := os.ReadFile(filepath.Join(dir, "starts"))
		return len(b)
	}
	for range 3 {
		if err := a.Run(t.Context(), sh, family.ServiceCall{Service: "web", Action: app.ActionStart}, nil); err != nil {
			t.Fatal(err)
		}
	}
	if starts() != 1 {
		t.Errorf("%d starts, want 1", starts())
	}
	ctx, cancel := context.WithCancel(t.Context())
	err := a.Run(ctx, sh, family.ServiceCall{Service: "slow", Action: app.ActionStart}, func(_ app.Stream, line string) {
		if line == "running now" {
			cancel()
		}
	})
	if app.CodeOf(err) != app.ECancelled {
		t.Errorf("got %v", err)
	}
	if err := a.Check(nil); err != nil {
		t.Error(err)
	}
	if starts() != 2 {
		t.Errorf("%d starts, want 2", starts())
	}
}

// Whatever a program writes, it is understood as one of the protocol's lines or refused.
func FuzzMessages(f *testing.F) {
	for _, s := range []string{checked, `{"id":1,"verb":"run","params":{"line":"x"}}`, `{"verb":"say","params":{"line":"x"}}`, `{"id":1,"error":{"code":"script","exit":-1}}`, `{"id":1,"result":null}`, `[]`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := readMessage(b)
		if err != nil {
			return
		}
		if m.Verb == "" && m.ID == 0 {
			t.Fatalf("%s: neither asked nor answered", b)
		}
		if m.Error != nil {
			if e := m.Error.err("web start", &node.LastLine{}); e.Message == "" || len(e.Message) > 2*longestMessage+200 {
				t.Fatalf("%s became %+v", b, e)
			}
		}
		var d descriptionLine
		if json.Unmarshal(m.Result, &d) == nil {
			if p, err := d.check("x"); err == nil && p.Name != "x" {
				t.Fatalf("%+v", p)
			}
		}
	})
}
