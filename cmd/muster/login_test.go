package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"muster/cmd/muster/cli"
)

// portalOf answers looks for a token one after the other, each with a status and a reason; 201 has a token.
func portalOf(t *testing.T, answers ...string) (url string, ended *[]string) {
	t.Helper()
	var mu sync.Mutex
	ended = &[]string{}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		switch r.Method + " " + r.URL.Path {
		case "POST /api/v1/device/code":
			if !strings.HasPrefix(r.UserAgent(), "muster ") || r.Header.Get("Authorization") != "" {
				t.Errorf("it asks with %v", r.Header)
			}
			_, _ = w.Write([]byte(`{"device_code":"dev","user_code":"BCDF-GHJK","verification_path":"/device","expires_in":600,"interval":1}`))
		case "POST /api/v1/device/token":
			var in struct {
				DeviceCode string `json:"device_code"`
			}
			if err := json.NewDecoder(r.Body).Decode(&in); err != nil || in.DeviceCode != "dev" || len(answers) == 0 {
				t.Errorf("it looks with %+v, %v; %d answers are left", in, err, len(answers))
				return
			}
			said := answers[0]
			answers = answers[1:]
			if said == "token" {
				w.WriteHeader(http.StatusCreated)
				_, _ = w.Write([]byte(`{"token":{"id":7},"secret":"fresh"}`))
				return
			}
			status, reason, _ := strings.Cut(said, " ")
			w.WriteHeader(map[string]int{"409": 409, "429": 429, "403": 403, "404": 404}[status])
			_, _ = w.Write([]byte(`{"title":"no","kind":"` + reason + `"}`))
		case "GET /api/v1/templates":
			if r.Header.Get("Authorization") != "Bearer fresh" {
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			_, _ = w.Write([]byte(`{"templates":[]}`))
		case "DELETE /api/v1/token":
			*ended = append(*ended, r.Header.Get("Authorization"))
			_, _ = w.Write([]byte(`{"revoked":7}`))
		default:
			t.Errorf("asked %s %s", r.Method, r.URL)
		}
	}))
	t.Cleanup(srv.Close)
	return srv.URL, ended
}

// musterNoPause runs a command line that does not wait between two looks.
func musterNoPause(t *testing.T, stdin string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	c := &cli.Context{Stdin: strings.NewReader(stdin), Stdout: &out, Stderr: &errs, RetryTime: 1, NoPause: true}
	code = execute(t.Context(), c, args)
	return code, out.String(), errs.String()
}

func TestLogin(t *testing.T) {
	for name, tt := range map[string]struct {
		answers []string
		code    int
		want    string
	}{
		"allowed":  {[]string{"409 authorization_pending", "429 slow_down", "409 authorization_pending", "token"}, 0, "Signed in to"},
		"denied":   {[]string{"409 authorization_pending", "403 access_denied"}, cli.ExitFailed, "the sign-in was refused in the browser"},
		"too late": {[]string{"404 expired_token"}, cli.ExitFailed, "the code has expired"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("MUSTER_HOME", filepath.Join(home(t), "config"))
			url, _ := portalOf(t, tt.answers...)
			code, stdout, stderr := musterNoPause(t, "", "login", url+"/")
			if code != tt.code || !strings.Contains(stdout+stderr, tt.want) || !strings.Contains(stderr, url+"/device?code=BCDF-GHJK") {
				t.Errorf("%d\n%s%s", code, stdout, stderr)
			}
			if strings.Contains(stdout+stderr, "fresh") {
				t.Error("the token is shown")
			}
			all, _, err := cli.ReadProfiles()
			if err != nil || (len(all.Profiles) == 1) != (tt.code == 0) {
				t.Errorf("%+v, %v", all, err)
			}
		})
	}
}

func TestLoginAgainAndLogout(t *testing.T) {
	t.Setenv("MUSTER_HOME", filepath.Join(home(t), "config"))
	url, ended := portalOf(t, "token")
	if code, stdout, stderr := musterNoPause(t, "fresh\n", "login", url, "--token", "--profile", "prod"); code != 0 {
		t.Fatalf("%d\n%s%s", code, stdout, stderr)
	}
	err := cli.ChangeProfiles(func(all *cli.Profiles) error { all.Profiles["prod"].Token = "old"; return nil })
	if err != nil {
		t.Fatal(err)
	}
	// The token that is replaced ends.
	if code, stdout, stderr := musterNoPause(t, "", "login"); code != 0 || !strings.Contains(stdout, "Current profile: prod") {
		t.Fatalf("%d\n%s%s", code, stdout, stderr)
	}
	if code, stdout, stderr := musterNoPause(t, "", "logout"); code != 0 || !strings.Contains(stdout, "The token is revoked") {
		t.Errorf("%d\n%s%s", code, stdout, stderr)
	}
	if got := strings.Join(*ended, ", "); got != "Bearer old, Bearer fresh" {
		t.Errorf("ended: %s", got)
	}
	if code, _, stderr := musterNoPause(t, "", "logout"); code != cli.ExitFailed || !strings.Contains(stderr, "you're not signed in") {
		t.Errorf("%d %s", code, stderr)
	}
	if code, _, stderr := musterNoPause(t, "wrong\n", "login", "--token"); code == 0 {
		t.Errorf("a token that does not hold is kept: %s", stderr)
	}
	if code, _, stderr := musterNoPause(t, "two words\n", "login", "--token"); code != cli.ExitUsage || strings.Contains(stderr, "two words") {
		t.Errorf("%d %s", code, stderr)
	}
}
