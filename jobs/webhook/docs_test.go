package webhook

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// block returns the first block of a language on a page that contains a text.
func block(t *testing.T, page, language, text string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("../..", page))
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range strings.Split(string(b), "```"+language+"\n")[1:] {
		if code, _, _ := strings.Cut(part, "```"); strings.Contains(code, text) {
			return code
		}
	}
	t.Fatalf("%s has no %s with %s", page, language, text)
	return ""
}

// What pages show of messages has their fields, and no others.
func TestPayloadsInDocs(t *testing.T) {
	for _, c := range []struct {
		page, text string
		into       any
	}{
		{"docs/hooks.md", `"operation.before"`, &newsEvent{}}, {"docs/hooks.md", `"request.check"`, &requestEvent{}}, {"docs/hooks.md", `"decision"`, &requestAnswer{}},
		{"docs/notifications.md", `"timestamp"`, &event{}}, {"docs/builds.md", `"timestamp"`, &buildEvent{}},
	} {
		d := json.NewDecoder(strings.NewReader(block(t, c.page, "json", c.text)))
		d.DisallowUnknownFields()
		if err := d.Decode(c.into); err != nil {
			t.Errorf("%s, %s: %v", c.page, c.text, err)
		}
	}
}

// The programs that docs/notifications.md has people copy verify what we sign, and nothing else.
func TestVerificationInDocs(t *testing.T) {
	const page = "docs/notifications.md"
	key, body, now := []byte("a key of 24 bytes at the"), []byte(`{"type":"lease"}`), time.Now()
	secret, signature := "whsec_"+base64.StdEncoding.EncodeToString(key), Sign("msg-1", now, body, []byte("an older key"), key)
	python := block(t, page, "python", "def verify") + fmt.Sprintf(`
headers = {"webhook-id": "msg-1", "webhook-timestamp": "%d", "webhook-signature": "%s"}
print(verify(%q, headers, b'%s'), verify(%q, headers, b"other"))
`, now.Unix(), signature, secret, body, secret)
	shell := fmt.Sprintf("set -eu\nid=msg-1 timestamp=%d secret=%s\n", now.Unix(), secret) + block(t, page, "sh", "openssl")
	_, own, _ := strings.Cut(signature, " v1,")
	for _, run := range []struct{ program, needs, script, want string }{{"python3", "python3", python, "True False"}, {"sh", "openssl", shell, own}} {
		if _, err := exec.LookPath(run.needs); err != nil && os.Getenv("CI") == "" {
			continue // CI has all of them
		}
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "body"), body, 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), run.program)
		var out, errOut bytes.Buffer
		cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = dir, strings.NewReader(run.script), &out, &errOut
		if err := cmd.Run(); err != nil || strings.TrimSpace(out.String()) != run.want {
			t.Errorf("%s: %s says %q, not %q: %v %s", page, run.program, out.String(), run.want, err, errOut.String())
		}
	}
}
