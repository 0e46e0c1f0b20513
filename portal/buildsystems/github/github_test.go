package github_test

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/build"
	"muster/portal/buildsystems"
	"muster/portal/buildsystems/buildsystemtest"
	"muster/portal/buildsystems/github"
)

func Test(t *testing.T) {
	buildsystemtest.Run(t, buildsystemtest.Member{Systems: buildsystems.Family{}, Name: github.Name, Secret: buildsystemtest.PlainSecret, Schemes: []buildsystemtest.Scheme{buildsystemtest.Hex("X-Hub-Signature-256", "sha256=")},
		Events: func(body []byte) map[string]string {
			h := map[string]string{"X-GitHub-Delivery": "72d3162e-cc78-11e3-81ab-4c9367dc0958"}
			if bytes.Contains(body, []byte("comment")) {
				h["X-GitHub-Event"] = "issue_comment"
			}
			return h
		},
		Unknown: `{"action":"created","issue":{"number":1},"comment":{"id":2}}`})
}

const secret = "s3cret"

// verify sends a body that is signed rightly, with other headers.
func verify(body string, headers map[string]string) (build.Delivery, error) {
	m := hmac.New(sha256.New, []byte(secret))
	m.Write([]byte(body))
	return buildsystems.Family{}.Verify(github.Name, func(name string) string {
		if name == "X-Hub-Signature-256" {
			return "sha256=" + hex.EncodeToString(m.Sum(nil))
		}
		return headers[name]
	}, []byte(body), []string{secret}, time.Time{})
}

func TestUnsignedHeaders(t *testing.T) {
	b, err := os.ReadFile("testdata/workflow_job.queued.json")
	if err != nil {
		t.Fatal(err)
	}
	job := string(b)
	for event, ok := range map[string]bool{"workflow_job": true, "": true, "workflow_run": false, "push": false, "ping": false, "issues": false, "deployment_review": false} {
		d, err := verify(job, map[string]string{"X-GitHub-Event": event})
		if ok && (err != nil || d.Event != "workflow_job") || !ok && (app.CodeOf(err) != app.EInvalid || app.AsError(err).Field != "X-GitHub-Event") {
			t.Errorf("a job that calls itself %q: %q, %v", event, d.Event, err)
		}
	}
	// What is not understood cannot be made something that is.
	if _, err := verify(`{"action":"created","issue":{}}`, map[string]string{"X-GitHub-Event": "push"}); app.CodeOf(err) != app.EInvalid {
		t.Errorf("an issue that calls itself a push: %v", err)
	}
	if d, err := verify(`{"action":"created","issue":{}}`, map[string]string{"X-GitHub-Event": "iss\x00ues", "X-GitHub-Delivery": "\u202e" + strings.Repeat("x", 3000)}); err != nil || strings.Contains(d.Event+d.ID, "\x00") || len(d.ID) > 300 {
		t.Errorf("rubbish in unsigned headers: %q, %q, %v", d.Event, d.ID, err)
	}
}

func TestRelatedEventsAreNotMistaken(t *testing.T) {
	for event, body := range map[string]string{
		"pull_request_review":        `{"action":"submitted","pull_request":{"number":2},"review":{"id":1}}`,
		"deployment_status":          `{"action":"created","deployment":{"id":1},"deployment_status":{"id":2},"workflow_run":{"id":3}}`,
		"deployment_review":          `{"action":"requested","workflow_run":{"id":3},"since":"2023-01-01T00:00:00Z"}`,
		"deployment_protection_rule": `{"action":"requested","deployment":{"id":1},"deployment_callback_url":"https://api.github.com/x","pull_requests":[]}`,
		"create":                     `{"ref":"v1","ref_type":"tag","master_branch":"main"}`,
	} {
		d, err := verify(body, map[string]string{"X-GitHub-Event": event})
		if err != nil || d.Event != event {
			t.Errorf("%s: %q, %v", event, d.Event, err)
			continue
		}
		if e, err := (buildsystems.Family{}).Read(d); err != nil || e.Phase != build.PhaseOther || e.Build != "" {
			t.Errorf("%s is taken for %+v, %v", event, e, err)
		}
	}
}

func TestFormsAreRefusedWithAWayOut(t *testing.T) {
	_, err := verify("payload=%7B%7D", map[string]string{"Content-Type": "application/x-www-form-urlencoded"})
	if app.CodeOf(err) != app.EInvalid || !strings.Contains(app.AsError(err).Hint, "application/json") {
		t.Errorf("a form: %v", err)
	}
}
