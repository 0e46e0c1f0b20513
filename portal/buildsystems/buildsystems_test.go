package buildsystems_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/build"
	"muster/portal/buildsystems"
	"muster/portal/buildsystems/buildsystemtest"
)

var family = buildsystems.Family{}

// Every folder with payloads is a member that can be chosen.
func TestEveryFolderIsListed(t *testing.T) {
	var names, folders []string
	for _, s := range family.Systems() {
		names = append(names, s.Name)
	}
	found, err := filepath.Glob("*/testdata")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range found {
		folders = append(folders, filepath.Dir(f))
	}
	if !slices.Equal(names, folders) {
		t.Errorf("the folders with testdata are %v, and the list has %v: add a missing one to list in buildsystems.go", folders, names)
	}
}

// Every member has a section in docs/build-systems.md, which names each of its events.
func TestBuildSystemsAreDocumented(t *testing.T) {
	const page = "docs/build-systems.md"
	b, err := os.ReadFile("../../" + page)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range family.Systems() {
		heading := "\n## " + strings.Fields(s.Title)[0]
		_, section, ok := strings.Cut(string(b), heading)
		if !ok {
			t.Errorf("%s has no section %s: add one, like that of CircleCI", page, strings.TrimSpace(heading))
			continue
		}
		section, _, _ = strings.Cut(section, "\n## ")
		for _, event := range s.Events {
			if event != "ping" && !strings.Contains(section, event) {
				t.Errorf("%s doesn't name the event %s of %s: add it to its section", page, event, s.Name)
			}
		}
	}
}

func TestUnknownSystemsGetASuggestion(t *testing.T) {
	if _, err := family.Read(build.Delivery{System: "gihub"}); app.CodeOf(err) != app.ENotFound || !strings.Contains(app.AsError(err).Hint, "github") {
		t.Errorf("a system that is not known: %v", err)
	}
}

func read(t *testing.T, body map[string]any) app.BuildEvent {
	t.Helper()
	b, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	e, err := family.Read(build.Delivery{System: "jenkins", Body: b})
	if err != nil {
		t.Fatal(err)
	}
	buildsystemtest.Limits(t, e)
	return e
}

func jenkins(url, branch, full string) map[string]any {
	return map[string]any{"name": "web", "build": map[string]any{"phase": "STARTED", "number": 1, "url": url, "full_url": full, "scm": map[string]any{"branch": branch}}}
}

func TestWhatCannotBeSeenIsMarkedAndNotDropped(t *testing.T) {
	for sent, want := range map[string]string{"main": "main", "ma\u200bin": "ma\ufffdin", "\u202emain": "\ufffdmain", "main\n": "main\ufffd", "\x7f": "\ufffd", "naïve/zweig": "naïve/zweig"} {
		if e := read(t, jenkins("job/web/1", sent, "")); e.Branch != want {
			t.Errorf("the branch %q became %q", sent, e.Branch)
		}
	}
}

func TestAddressesLeadToHTTPSOrNowhere(t *testing.T) {
	for sent, want := range map[string]string{
		"https://ci.example.com/a?b=c": "https://ci.example.com/a?b=c", "http://ci.example.com/": "", "javascript:alert(1)": "", "https://": "", "//ci.example.com/": "",
		"https://user:password@ci.example.com/": "", "https://ci.example.com/\n": "", "https://ci.example.com/" + strings.Repeat("x", 1000): "", "HTTPS://ci.example.com/": "https://ci.example.com/",
	} {
		if e := read(t, jenkins("job/web/1", "", sent)); e.URL != want {
			t.Errorf("%.60q became %q", sent, e.URL)
		}
	}
}

func TestLongNamesOfBuildsStayApart(t *testing.T) {
	long := strings.Repeat("ä", 400)
	a, b := read(t, jenkins("job/"+long+"a/1", "", "")), read(t, jenkins("job/"+long+"b/1", "", ""))
	if a.Build == b.Build || a.Build != read(t, jenkins("job/"+long+"a/1", "", "")).Build || !strings.HasPrefix(a.Build, "job/ää") {
		t.Errorf("builds with long names are %q and %q", a.Build, b.Build)
	}
}

// seeds adds all recorded payloads.
func seeds(f *testing.F, add func(system string, body []byte)) {
	files, err := filepath.Glob("*/testdata/*.json")
	if err != nil || len(files) == 0 {
		f.Fatalf("no payloads: %v", err)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		add(filepath.Dir(filepath.Dir(file)), b)
	}
}

// FuzzRead: whatever a body says, it is an event within its limits or refused with a place, and always the same.
func FuzzRead(f *testing.F) {
	seeds(f, func(system string, body []byte) { f.Add(system, "", body) })
	f.Add("github", "workflow_job", []byte(`{"workflow_job":{"run_id":1e3}}`))
	f.Fuzz(func(t *testing.T, system, event string, body []byte) {
		d := build.Delivery{System: system, Event: event, Body: body}
		e, err := family.Read(d)
		if err != nil {
			if a := app.AsError(err); a.Code == app.EInternal || a.Field == "" && a.Code == app.EInvalid {
				t.Fatalf("%v", err)
			}
			return
		}
		buildsystemtest.Limits(t, e)
		again, err := family.Read(d)
		if err != nil || again.Build != e.Build || again.Phase != e.Phase {
			t.Fatalf("read twice it is %+v, %v", again, err)
		}
	})
}

// FuzzVerify: no one without the secret gets in, whatever the headers are.
func FuzzVerify(f *testing.F) {
	seeds(f, func(system string, body []byte) { f.Add(system, "v1,abc= sha256=00", "1763812800", "id", body) })
	f.Add("buildkite", "timestamp=1763812800,signature=00", "", "", []byte("{}"))
	f.Fuzz(func(t *testing.T, system, signature, stamp, id string, body []byte) {
		header := func(name string) string {
			switch {
			case strings.HasSuffix(name, "-Timestamp"):
				return stamp
			case strings.HasSuffix(name, "-Id"):
				return id
			}
			return signature
		}
		_, err := family.Verify(system, header, body, []string{"a secret that nobody guesses", "whsec_bm9ib2R5IGd1ZXNzZXMgdGhpcyBlaXRoZXI="}, time.Unix(1763812800, 0))
		switch app.CodeOf(err) {
		case app.EUnauthorized, app.EInvalid, app.ENotFound, app.ETooLarge:
		default:
			t.Fatalf("%q with %q: %v", system, signature, err)
		}
	})
}
