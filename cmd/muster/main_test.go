package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"muster/jobs/queue"
	"muster/portal"
	"muster/portal/apitest"
)

// TestMain lets scripts run this binary under the name muster, and what speaks to build hooks.
func TestMain(m *testing.M) {
	if os.Getenv("TZ") == "" {
		_ = os.Setenv("TZ", "UTC") // times are in the zone of the host, which tests don't know
	}
	if signal.Ignored(os.Interrupt) { // as in a shell's background: programs of scripts would inherit that, and never end
		signal.Notify(make(chan os.Signal, 1), os.Interrupt)
	}
	testscript.Main(apitest.Watch(m, portal.InspectAPI), map[string]func(){"muster": func() {
		apitest.Here(portal.InspectAPI)
		queue.ExpireEvery = time.Second / 2
		main()
	},
		"buildsystem": buildSystem, "visitor": visitorMain, "prometheus": prometheusMain})
}

// TestScripts are people's stories over the real binary. -update is not offered: the words are part of the story.
func TestScripts(t *testing.T) {
	t.Parallel()
	for _, program := range []string{"git", "python3", "tar"} { // without them scripts leave parts out
		if _, err := exec.LookPath(program); err != nil && os.Getenv("CI") != "" {
			t.Fatalf("%s is not here; see deploy/ci/setup.sh", program)
		}
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			examples, err := filepath.Abs(filepath.Join("..", "..", "examples"))
			if err != nil {
				return err
			}
			env.Setenv("EXAMPLES", examples)
			env.Setenv("TZ", "UTC")
			env.Setenv(apitest.FaultsFile, os.Getenv(apitest.FaultsFile))
			return receive(env)
		},
	})
}

// receive returns a script that has a file named answer an address, RECEIVER: what is sent there is answered with the status and the text in
// that file, and written to the file sent.
func receive(env *testscript.Env) error {
	answer := filepath.Join(env.WorkDir, "answer")
	if _, err := os.Stat(answer); err != nil {
		return nil
	}
	var mu sync.Mutex
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		body, err := io.ReadAll(r.Body)
		text, readErr := os.ReadFile(answer)
		sent, openErr := os.OpenFile(filepath.Join(env.WorkDir, "sent"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil || readErr != nil || openErr != nil {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		defer sent.Close()
		_, _ = sent.Write(append(body, '\n'))
		status, said, _ := strings.Cut(strings.TrimSpace(string(text)), " ")
		code, err := strconv.Atoi(status)
		if err != nil {
			code = http.StatusInternalServerError
		}
		w.WriteHeader(code)
		_, _ = io.WriteString(w, said)
	}))
	env.Defer(srv.Close)
	env.Setenv("RECEIVER", srv.URL+"/hook")
	return nil
}
