//go:build real

package main

import (
	"context"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/build"
	"muster/app/cluster"
	portaladdress "muster/portal/address"
)

// The ready-made script against a real server: a build has a cluster while its command runs, visits it with nothing but what the script gave it,
// and no machine is left when the command fails.
func TestRealBuildScript(t *testing.T) {
	t.Parallel()
	for _, shell := range []string{"sh", "bash"} {
		t.Run(shell, func(t *testing.T) {
			p := newProcess(t)
			cl := p.client()
			rules := []build.Rule{{Name: "integration", When: `event.event == "build" && "integration" in event.labels`, Do: build.ActionCreate, Template: "web", Size: 3, Lease: "1h"}}
			var hook build.SavedBuildHook
			if err := cl.Call(t.Context(), http.MethodPut, "/build-hooks/ci", nil, build.BuildHookRequest{System: "generic", Rules: &rules}, &hook); err != nil {
				t.Fatal(err)
			}
			script, err := filepath.Abs("../../deploy/ci-examples/muster-build.sh")
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			run := func(env []string, args ...string) (string, int) {
				t.Helper()
				ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
				defer cancel()
				cmd := exec.CommandContext(ctx, shell, append([]string{script}, args...)...)
				cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "MUSTER_HOOK_URL=" + cl.Settings().URL + portaladdress.BuildHook(hook.ID), "MUSTER_HOOK_SECRET=" + hook.Secret, "MUSTER_DIR=" + dir, "MUSTER_FORK=false",
					"MUSTER_LABELS=integration", "MUSTER_KEY=yes", "HOME=" + dir}, env...)
				out, err := cmd.CombinedOutput()
				if cmd.ProcessState == nil {
					t.Fatal(err)
				}
				return string(out), cmd.ProcessState.ExitCode()
			}
			said, code := run([]string{"MUSTER_BUILD=acme/web/1"}, "run", "sh", "-ec", `
				curl -fsS "http://$MUSTER_SERVICE_LB:8080/" >/dev/null && echo "visited"
				node=$(sed -n 's/^Host \([^ ]*\) .*/\1/p' "$MUSTER_DIR/inventory.ssh" | head -n 1)
				ssh -F "$MUSTER_DIR/inventory.ssh" -o BatchMode=yes -o IdentityAgent=none "$node" echo opened
				ansible -i "$MUSTER_INVENTORY" all -m ping | grep -c SUCCESS | sed 's/^/pinged /'
				exit 3`)
			if code != 3 || !strings.Contains(said, "visited\n") || !strings.Contains(said, "opened\n") || !strings.Contains(said, "pinged 3\n") {
				t.Fatalf("exit code %d\n%s\n%s", code, said, p.out)
			}
			t.Log(said)
			var list struct{ Builds []build.Build }
			for end := time.Now().Add(hangs); ; time.Sleep(50 * time.Millisecond) {
				if err := cl.Call(t.Context(), http.MethodGet, "/builds", nil, nil, &list); err != nil {
					t.Fatal(err)
				}
				if len(list.Builds) == 1 && list.Builds[0].State == app.BuildOver {
					break
				}
				if time.Now().After(end) {
					t.Fatalf("the build does not end: %+v", list.Builds)
				}
			}
			if b := list.Builds[0]; b.Event.Build != "acme/web/1" || b.Event.ForkUnknown || b.Cluster == "" {
				t.Errorf("the build is %+v", b)
			}
			var made cluster.View
			if err := cl.Call(t.Context(), http.MethodGet, "/clusters/"+list.Builds[0].Cluster, nil, nil, &made); err != nil {
				t.Fatal(err)
			}
			if made.Build == nil || made.Build.ID != list.Builds[0].ID || made.Build.Event.Build != "acme/web/1" {
				t.Errorf("the cluster was made for %+v", made.Build)
			}
			if _, err := os.Stat(filepath.Join(dir, "key.pem")); !os.IsNotExist(err) {
				t.Errorf("the cluster's key is left: %v", err)
			}
			// What no rule wants gets nothing, and says why; so does another secret.
			if said, code := run([]string{"MUSTER_BUILD=acme/web/2", "MUSTER_LABELS="}, "run", "echo", "it ran"); code != 1 || !strings.Contains(said, "No rule matches") || strings.Contains(said, "it ran") {
				t.Errorf("without a rule: exit code %d\n%s", code, said)
			}
			if said, code := run([]string{"MUSTER_BUILD=acme/web/3", "MUSTER_HOOK_SECRET=whsec_bm9ib2R5IGlzIGhlcmUsIG5vYm9keSBhdCBhbGwgaGVyZQ=="}, "run", "true"); code != 1 || !strings.Contains(said, "rejected the signature") {
				t.Errorf("with another secret: exit code %d\n%s", code, said)
			}
		})
	}
}
