package buildsystems_test

import (
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"
	"muster/app"
	"muster/app/build"
	"muster/portal/buildsystems/buildsystemtest"
)

const (
	examples = "../../deploy/ci-examples"
	token    = "mbt_its-token"
)

// door is a server that takes deliveries and answers as Muster does: it knows builds, and what has signed for them.
type door struct {
	*testing.T
	*httptest.Server
	system string

	mu      sync.Mutex
	said    []string // what was asked, in order
	events  []app.BuildEvent
	unique  map[string]bool
	refuse  string // instead of a cluster
	broken  int    // so many requests are answered 503
	lost    int    // so many deliveries are taken, and their answer lost
	waits   int    // so often the build is not ready yet
	over    bool
	failed  string       // the state that it gets instead of ready
	allowed string       // the only inventory's lines
	named   []url.Values // what inventories were asked for with
}

func newDoor(t *testing.T, system string) *door {
	d := &door{T: t, system: system, unique: map[string]bool{}, waits: 2,
		allowed: "# Environment\nMUSTER_CLUSTER=web-1\nMUSTER_NODES=n1,n2\nMUSTER_NODE_N1=10.0.0.1\nMUSTER_SERVICE_WEB=10.0.0.1,10.0.0.2\nPATH=/tmp/evil\nMUSTER_NODE_N2=$(touch evil)\n"}
	d.Server = httptest.NewServer(http.HandlerFunc(d.serve))
	t.Cleanup(d.Close)
	return d
}

func (d *door) serve(w http.ResponseWriter, r *http.Request) {
	d.mu.Lock()
	defer d.mu.Unlock()
	body, _ := io.ReadAll(r.Body)
	path, _ := strings.CutPrefix(r.URL.Path, "/hooks/h1")
	d.said = append(d.said, r.Method+" "+path)
	problem := func(status int, text string) {
		w.WriteHeader(status)
		_, _ = fmt.Fprintf(w, `{"status":%d,"detail":%q}`, status, text)
	}
	if d.broken > 0 {
		d.broken--
		problem(http.StatusServiceUnavailable, "broken")
		return
	}
	if path == "" {
		d.take(w, r, body, problem)
		return
	}
	if r.Header.Get("Authorization") != "Bearer "+token {
		problem(http.StatusUnauthorized, "no such build")
		return
	}
	switch path {
	case "/builds/12":
		state := "creating"
		if d.waits--; d.waits < 0 {
			if state = "ready"; d.failed != "" {
				state = d.failed
			}
		}
		_, _ = fmt.Fprintf(w, `{"id":12,"event":{"build":"x","branch":"\",\"state\":\"failed\"","labels":["\"state\": \"failed\""]},"state":%q,"words":"so it \"is\""}`, state)
	case "/builds/12/inventory":
		d.named = append(d.named, r.URL.Query())
		_, _ = io.WriteString(w, d.allowed)
	case "/builds/12/key":
		_, _ = io.WriteString(w, "PRIVATE KEY\n")
	case "/builds/12/end":
		d.over = true
		_, _ = io.WriteString(w, `{"id":12,"state":"ending"}`)
	case "/builds/12/extend":
		_, _ = io.WriteString(w, `{"id":12,"state":"ready"}`)
	default:
		problem(http.StatusNotFound, "nothing here")
	}
}

func (d *door) take(w http.ResponseWriter, r *http.Request, body []byte, problem func(int, string)) {
	got, err := family.Verify(d.system, r.Header.Get, body, []string{buildsystemtest.StandardSecret(0)}, time.Now())
	if err != nil {
		problem(http.StatusUnauthorized, app.AsError(err).ForPeople())
		return
	}
	if d.unique[got.Unique] {
		problem(http.StatusConflict, "replayed")
		return
	}
	d.unique[got.Unique] = true
	e, err := family.Read(got)
	if err != nil {
		d.Errorf("what was sent cannot be read: %v\n%s", err, body)
		problem(http.StatusUnprocessableEntity, app.AsError(err).ForPeople())
		return
	}
	d.events = append(d.events, e)
	if d.lost > 0 {
		d.lost--
		panic(http.ErrAbortHandler)
	}
	w.WriteHeader(http.StatusAccepted)
	switch {
	case e.Phase == build.PhaseEnded:
		d.over = true
		_, _ = io.WriteString(w, `{"delivery":2,"outcome":"ended"}`)
	case d.refuse != "":
		_ = json.NewEncoder(w).Encode(map[string]any{"delivery": 1, "outcome": "refused", "words": d.refuse})
	default:
		_, _ = io.WriteString(w, `{"delivery":1,"outcome":"begun","build":12,"state":"waiting","url":"https://elsewhere.example.com/steal","token":"`+token+`"}`)
	}
}

// shells are those that the script is tried with: what sh is here, and bash.
var shells = []string{"sh", "bash"}

// script runs muster-build.sh; env is all that it has besides a path.
func (d *door) script(shell string, env map[string]string, args ...string) (code int, said, dir string) {
	d.Helper()
	cmd, dir := d.command(shell, env, args...)
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		d.Fatal(err)
	}
	d.settled()
	return cmd.ProcessState.ExitCode(), string(out), dir
}

// settled waits until nothing is answered any more, so that what was asked can be read.
func (d *door) settled() {
	d.mu.Lock()
	defer d.mu.Unlock()
}

func (d *door) command(shell string, env map[string]string, args ...string) (*exec.Cmd, string) {
	d.Helper()
	file, err := filepath.Abs(examples + "/muster-build.sh")
	if err != nil {
		d.Fatal(err)
	}
	dir := env["MUSTER_DIR"]
	if dir == "" {
		dir = d.TempDir()
	}
	cmd := exec.CommandContext(d.Context(), shell, append([]string{file}, args...)...)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "MUSTER_HOOK_URL=" + d.URL + "/hooks/h1/", "MUSTER_HOOK_SECRET=" + buildsystemtest.StandardSecret(0), "MUSTER_DIR=" + dir, "MUSTER_BUILD=acme/web/1", "MUSTER_PAUSE=0"}
	for k, v := range env {
		cmd.Env = append(cmd.Env, k+"="+v)
	}
	cmd.WaitDelay = 10 * time.Second
	return cmd, dir
}

func TestScriptRunsACommandWithACluster(t *testing.T) {
	for _, shell := range shells {
		t.Run(shell, func(t *testing.T) {
			for want, command := range map[int]string{0: "true", 7: "exit 7"} {
				d := newDoor(t, "generic")
				code, said, dir := d.script(shell, map[string]string{"MUSTER_LABELS": `big "x"`, "MUSTER_FORK": "false", "MUSTER_JOB": "e2e", "BRANCH_NAME": "a\\\"b\t", "MUSTER_KEY": "yes"},
					"run", "sh", "-c", `echo "web at $MUSTER_SERVICE_WEB of $MUSTER_CLUSTER secret ${MUSTER_HOOK_SECRET:-none}"; `+command)
				if code != want || !strings.Contains(said, "web at 10.0.0.1,10.0.0.2 of web-1 secret none") {
					t.Fatalf("exit %d\n%s", code, said)
				}
				if !d.over || d.said[0] != "POST " || !slices.Contains(d.said, "POST /builds/12/end") || len(d.events) != 1 {
					t.Errorf("it asked %v", d.said)
				}
				e := d.events[0]
				if e.Phase != build.PhaseRunning || e.Build != "acme/web/1" || e.Job != "e2e" || e.Branch != `a\"b` || e.ForkUnknown || !slices.Equal(e.Labels, []string{"big", `"x"`}) {
					t.Errorf("it told %+v", e)
				}
				env, err := os.ReadFile(dir + "/env")
				if err != nil || strings.Contains(string(env), "evil") || strings.Contains(string(env), "PATH") {
					t.Errorf("the environment is %s, %v", env, err)
				}
				for _, gone := range []string{"evil", "key.pem", "token", "headers", "inner"} {
					if _, err := os.Stat(dir + "/" + gone); !os.IsNotExist(err) {
						t.Errorf("%s is left behind", gone)
					}
				}
			}
		})
	}
}

func TestScriptHoldsOut(t *testing.T) {
	for name, try := range map[string]struct {
		make func(d *door)
		env  map[string]string
		code int
		says string
		ends bool
	}{
		"a server that is broken for a while": {make: func(d *door) { d.broken = 3 }, says: "done", ends: true},
		"an answer that got lost":             {make: func(d *door) { d.lost = 1 }, says: "done", ends: true},
		"no rule for it":                      {make: func(d *door) { d.refuse = `No rule "matches".` }, code: 1, says: `No rule "matches".`, ends: true},
		"a cluster that fails":                {make: func(d *door) { d.failed = "failed" }, code: 1, says: "failed. so it \"is\"", ends: true},
		"a cluster that never comes":          {make: func(d *door) { d.waits = 1 << 30 }, env: map[string]string{"MUSTER_TIMEOUT": "0"}, code: 1, says: "wasn't ready within", ends: true},
		"another secret":                      {make: func(d *door) {}, env: map[string]string{"MUSTER_HOOK_SECRET": buildsystemtest.StandardSecret(1)}, code: 1, says: "rejected the signature"},
		"no secret":                           {make: func(d *door) {}, env: map[string]string{"MUSTER_HOOK_SECRET": ""}, code: 1, says: "forks"},
		"half a secret":                       {make: func(d *door) {}, env: map[string]string{"MUSTER_HOOK_SECRET": "whsec_YWJj"}, code: 1, says: "16 to 64 bytes"},
		"an address without TLS":              {make: func(d *door) {}, env: map[string]string{"MUSTER_HOOK_URL": "http://muster.example.com/hooks/1"}, code: 1, says: "https://"},
		"no build":                            {make: func(d *door) {}, env: map[string]string{"MUSTER_BUILD": ""}, code: 1, says: "Unknown build"},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDoor(t, "generic")
			d.mu.Lock()
			try.make(d)
			d.mu.Unlock()
			code, said, _ := d.script("sh", try.env, "run", "echo", "done")
			if code != try.code || !strings.Contains(said, try.says) || d.over != try.ends || try.code != 0 && strings.Contains(said, "\ndone\n") {
				t.Errorf("exit %d, ended %v, %v\n%s", code, d.over, d.said, said)
			}
		})
	}
}

func TestScriptInTwoSteps(t *testing.T) {
	d := newDoor(t, "generic")
	env := map[string]string{"MUSTER_DIR": t.TempDir(), "GITHUB_ENV": filepath.Join(t.TempDir(), "env")}
	for _, args := range [][]string{{"begin"}, {"extend", "2h"}, {"end"}, {"end"}} {
		if code, said, _ := d.script("sh", env, args...); code != 0 {
			t.Fatalf("%v: exit %d\n%s", args, code, said)
		}
	}
	if b, err := os.ReadFile(env["GITHUB_ENV"]); err != nil || !strings.Contains(string(b), "MUSTER_SERVICE_WEB=10.0.0.1,10.0.0.2\n") {
		t.Errorf("later steps are given %q, %v", b, err)
	}
	if last := d.events[len(d.events)-1]; last.Phase != build.PhaseEnded || last.Build != "acme/web/1" {
		t.Errorf("the second end told %+v", last)
	}
	if info, err := os.Stat(filepath.Join(env["MUSTER_DIR"], "env")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("others may read what it keeps: %v, %v", info.Mode(), err)
	}
}

// What is put beside each other names each other, in whatever directory a build system works.
func TestScriptPlacesItsFiles(t *testing.T) {
	for name, named := range map[string]bool{"web@2+x": true, "my job": false, "a'b;c": false} {
		d := newDoor(t, "generic")
		dir := filepath.Join(t.TempDir(), name)
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		code, said, _ := d.script("sh", map[string]string{"MUSTER_DIR": dir, "MUSTER_KEY": "yes"}, "run", "true")
		if code != 0 || strings.Contains(said, "set MUSTER_DIR") == named {
			t.Errorf("in %q: exit %d\n%s", name, code, said)
		}
		for _, q := range d.named {
			if named && (q.Get("known_hosts") != dir+"/inventory.known_hosts" || q.Get("key") != dir+"/key.pem") || !named && len(q) != 1 {
				t.Errorf("in %q it asks for an inventory with %v", name, q)
			}
		}
		if len(d.named) == 0 {
			t.Errorf("in %q it asks for no inventory", name)
		}
	}
}

// A build that is cancelled returns its cluster.
func TestScriptEndsWhenItIsStopped(t *testing.T) {
	for _, shell := range shells {
		d := newDoor(t, "generic")
		cmd, dir := d.command(shell, nil, "run", "sh", "-c", "echo $$ >started; exec sleep 600")
		var out strings.Builder
		cmd.Stdout, cmd.Stderr = &out, &out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		for end := time.Now().Add(5 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
			if b, err := os.ReadFile(dir + "/started"); err == nil && len(b) > 1 {
				break
			}
			if time.Now().After(end) {
				t.Fatal("the command does not start")
			}
		}
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil { // a shell whose own parent ignores interrupts ignores them, too
			t.Fatal(err)
		}
		_ = cmd.Wait()
		d.settled()
		if code := cmd.ProcessState.ExitCode(); code != 143 || !d.over {
			t.Errorf("%s: exit %d, ended %v\n%s", shell, code, d.over, out.String())
		}
	}
}

// Neither secret nor token is to be seen by other users of the machine.
func TestScriptKeepsSecretsFromCommandLines(t *testing.T) {
	d := newDoor(t, "generic")
	bin, log := t.TempDir(), filepath.Join(t.TempDir(), "log")
	for _, tool := range []string{"curl", "openssl", "od", "sed", "tr", "grep", "cat", "head"} {
		real, err := exec.LookPath(tool)
		if err != nil {
			t.Fatal(err)
		}
		shim := fmt.Sprintf("#!/bin/sh\necho %s \"$@\" >>%s\nexec %s \"$@\"\n", tool, log, real)
		if err := os.WriteFile(filepath.Join(bin, tool), []byte(shim), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if code, said, _ := d.script("sh", map[string]string{"PATH": bin + ":" + os.Getenv("PATH")}, "run", "true"); code != 0 {
		t.Fatalf("exit %d\n%s", code, said)
	}
	b, err := os.ReadFile(log)
	if err != nil || !strings.Contains(string(b), "curl ") || !strings.Contains(string(b), "openssl ") {
		t.Fatalf("nothing was seen: %s, %v", b, err)
	}
	secret := strings.TrimPrefix(buildsystemtest.StandardSecret(0), "whsec_")
	for _, secret := range []string{secret, token, strings.Repeat("30", 16)} {
		if strings.Contains(string(b), secret) {
			t.Errorf("%s is on a command line:\n%s", secret, b)
		}
	}
}

// What the script makes up names the same build as the system's own webhook.
func TestScriptKnowsItsBuild(t *testing.T) {
	for name, try := range map[string]struct {
		env  map[string]string
		want app.BuildEvent
	}{
		"github": {map[string]string{"GITHUB_RUN_ID": "2202229078", "GITHUB_RUN_ATTEMPT": "2", "GITHUB_REPOSITORY": "octo/web", "GITHUB_SERVER_URL": "https://github.com", "GITHUB_JOB": "e2e",
			"GITHUB_REF": "refs/pull/2/merge", "GITHUB_REF_TYPE": "branch", "GITHUB_REF_NAME": "2/merge", "GITHUB_HEAD_REF": "changes", "GITHUB_SHA": "abc", "GITHUB_ACTOR": "octocat", "MUSTER_FORK": "true"},
			app.BuildEvent{Build: "octo/web/actions/runs/2202229078/attempts/2", Job: "e2e", Repository: "octo/web", Branch: "changes", Commit: "abc", PullRequest: 2, Fork: true, Actor: "octocat",
				URL: "https://github.com/octo/web/actions/runs/2202229078"}},
		"github tag": {map[string]string{"GITHUB_RUN_ID": "1", "GITHUB_REPOSITORY": "octo/web", "GITHUB_SERVER_URL": "https://github.com", "GITHUB_REF": "refs/tags/v1", "GITHUB_REF_TYPE": "tag", "GITHUB_REF_NAME": "v1", "MUSTER_FORK": "false"},
			app.BuildEvent{Build: "octo/web/actions/runs/1/attempts/1", Repository: "octo/web", Tag: "v1", URL: "https://github.com/octo/web/actions/runs/1"}},
		"gitlab": {map[string]string{"CI_PIPELINE_ID": "31", "CI_PROJECT_PATH": "acme/web", "CI_JOB_NAME": "e2e", "CI_JOB_ID": "1977", "CI_JOB_URL": "https://gitlab.example.com/acme/web/-/jobs/1977", "CI_COMMIT_SHA": "abc",
			"CI_MERGE_REQUEST_IID": "7", "CI_MERGE_REQUEST_SOURCE_BRANCH_NAME": "test", "CI_MERGE_REQUEST_SOURCE_PROJECT_ID": "99", "CI_MERGE_REQUEST_PROJECT_ID": "15", "GITLAB_USER_LOGIN": "root"},
			app.BuildEvent{Build: "acme/web/-/pipelines/31", Job: "e2e", JobID: "1977", Repository: "acme/web", Branch: "test", Commit: "abc", PullRequest: 7, Fork: true, Actor: "root", URL: "https://gitlab.example.com/acme/web/-/jobs/1977"}},
		"buildkite": {map[string]string{"BUILDKITE_BUILD_NUMBER": "27", "BUILDKITE_ORGANIZATION_SLUG": "my-great-org", "BUILDKITE_PIPELINE_SLUG": "my-pipeline", "BUILDKITE_STEP_KEY": "e2e", "BUILDKITE_JOB_ID": "b6",
			"BUILDKITE_BRANCH": "main", "BUILDKITE_COMMIT": "abc", "BUILDKITE_PULL_REQUEST": "false", "BUILDKITE_BUILD_URL": "https://buildkite.com/my-great-org/my-pipeline/builds/27"},
			app.BuildEvent{Build: "my-great-org/my-pipeline/builds/27", Job: "e2e", JobID: "b6", Branch: "main", Commit: "abc", URL: "https://buildkite.com/my-great-org/my-pipeline/builds/27"}},
		"buildkite fork": {map[string]string{"BUILDKITE_BUILD_NUMBER": "27", "BUILDKITE_ORGANIZATION_SLUG": "o", "BUILDKITE_PIPELINE_SLUG": "p", "BUILDKITE_PULL_REQUEST": "13", "BUILDKITE_REPO": "git@github.com:o/r.git", "BUILDKITE_PULL_REQUEST_REPO": "https://github.com/mallory/r"},
			app.BuildEvent{Build: "o/p/builds/27", PullRequest: 13, Fork: true}},
		"buildkite own": {map[string]string{"BUILDKITE_BUILD_NUMBER": "27", "BUILDKITE_ORGANIZATION_SLUG": "o", "BUILDKITE_PIPELINE_SLUG": "p", "BUILDKITE_PULL_REQUEST": "13", "BUILDKITE_REPO": "ssh://git@github.com:22/O/r.git", "BUILDKITE_PULL_REQUEST_REPO": "git://github.com/o/r.git"},
			app.BuildEvent{Build: "o/p/builds/27", PullRequest: 13}},
		"circleci": {map[string]string{"CIRCLE_WORKFLOW_ID": "fda08377", "CIRCLE_PROJECT_USERNAME": "acme", "CIRCLE_PROJECT_REPONAME": "web", "CIRCLE_JOB": "e2e", "CIRCLE_BRANCH": "pull/12", "CIRCLE_PR_NUMBER": "12", "CIRCLE_PR_REPONAME": "web", "CIRCLE_SHA1": "abc"},
			app.BuildEvent{Build: "acme/web/workflows/fda08377", Job: "e2e", Repository: "acme/web", Branch: "pull/12", PullRequest: 12, Fork: true, Commit: "abc"}},
		"jenkins": {map[string]string{"MUSTER_FORMAT": "jenkins", "JENKINS_URL": "https://jenkins.example.com/", "BUILD_URL": "https://jenkins.example.com/job/acme/job/web/18/", "BUILD_NUMBER": "18", "JOB_NAME": "acme/web",
			"JOB_BASE_NAME": "web", "GIT_URL": "https://github.com/acme/web.git", "GIT_BRANCH": "origin/main", "GIT_COMMIT": "abc"},
			app.BuildEvent{Build: "job/acme/job/web/18", Action: "started", Repository: "acme/web", Branch: "main", Commit: "abc", ForkUnknown: true, URL: "https://jenkins.example.com/job/acme/job/web/18/"}},
	} {
		t.Run(name, func(t *testing.T) {
			try.want.System, try.want.Event, try.want.Phase = "generic", "build", build.PhaseRunning
			if try.env["MUSTER_FORMAT"] != "" {
				try.want.System = name
			}
			d := newDoor(t, try.want.System)
			try.env["MUSTER_BUILD"] = ""
			if code, said, _ := d.script("sh", try.env, "run", "true"); code != 0 {
				t.Fatalf("exit %d\n%s", code, said)
			}
			got, _ := json.Marshal(d.events[0])
			if want, _ := json.Marshal(try.want); string(got) != string(want) {
				t.Errorf("it told\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// The examples are what their systems can read, name existing files, and let nothing from outside into the text of a script.
func TestExamplesAreRead(t *testing.T) {
	seen := 0
	err := filepath.WalkDir(examples, func(file string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || filepath.Ext(file) != ".yml" {
			return err
		}
		b, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		var v map[string]any
		if err := yaml.Unmarshal(b, &v); err != nil || len(v) == 0 {
			t.Errorf("%s: %v", file, err)
		}
		seen++
		scripts(v, func(s string) {
			if strings.Contains(s, "${{") || strings.Contains(s, "<<") {
				t.Errorf("%s puts what comes from outside into a script: %s", file, s)
			}
		})
		return nil
	})
	if err != nil || seen != 5 {
		t.Errorf("%d files were read: %v", seen, err)
	}
	b, err := os.ReadFile(examples + "/Jenkinsfile")
	if err != nil || strings.Count(string(b), "{") != strings.Count(string(b), "}") || !strings.Contains(string(b), "pipeline {") {
		t.Errorf("the Jenkinsfile is broken: %v", err)
	}
}

// scripts visits the texts that shells are given.
func scripts(v any, visit func(string)) {
	switch v := v.(type) {
	case map[string]any:
		for k, one := range v {
			if s, ok := one.(string); ok && (k == "run" || k == "command" && strings.Contains(s, "muster-build.sh")) {
				visit(s)
			}
			scripts(one, visit)
		}
	case []any:
		for _, one := range v {
			scripts(one, visit)
		}
	}
}
