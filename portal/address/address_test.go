package address

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
	"testing"

	"muster/app"
)

// Every kind of subject has a page, and is read from rows as it was written; rows of earlier versions lead where they led.
func TestSubjectsHavePages(t *testing.T) {
	t.Parallel()
	want := map[app.SubjectKind]string{
		app.SubjectCluster: "/clusters/x-1", app.SubjectClusters: "/clusters", app.SubjectLeaseExtension: "/clusters/x-1/extend",
		app.SubjectManualSteps: "/clusters/x-1#questions", app.SubjectRequest: "/requests/x-1", app.SubjectBuild: "/hooks/x-1/builds/",
		app.SubjectRun:       "/clusters/x-1/runs/",
		app.SubjectBuildHook: "/hooks/x-1", app.SubjectHook: "/admin/webhooks/x-1", app.SubjectPool: "/admin/pools/x-1", app.SubjectResources: "/admin/resources",
		app.SubjectUsage: "/usage", app.SubjectNotices: "/notifications", app.SubjectPassword: "/account/password", app.SubjectSecondFactor: "/account/second-factor",
		app.SubjectHome: "/", app.SubjectNewCluster: "/clusters/new", app.SubjectWaiting: "/clusters/x-1/waiting", app.SubjectRequests: "/requests",
		app.SubjectOrphans: "/orphans", app.SubjectIdentityLink: "/link", app.SubjectKeep: "/clusters/x-1/idle",
		app.SubjectVolumes: "/volumes",
		app.SubjectAddress: "x-1",
	}
	for _, k := range kinds(t) {
		s := app.Subject{Kind: k, ID: "x-1"}
		if got, known := want[k]; !known || Of(s) != got {
			t.Errorf("%s is at %q, want %q", k, Of(s), got)
		}
		if k == app.SubjectAddress {
			continue
		}
		for _, s := range []app.Subject{s, {Kind: k}, {Kind: k, ID: "x-1", Query: "end=1&sig=a%3Ab%3F"}} {
			if back := app.ParseSubject(s.String()); back != s {
				t.Errorf("%q is read as %+v", s, back)
			}
		}
	}
	for s, want := range map[app.Subject]string{
		{}: "", {Kind: "unknown", ID: "1", Query: "a=b"}: "",
		app.ClusterSubject("web-1"): "/clusters/web-1", app.RequestSubject(12): "/requests/12", app.BuildSubject("h1", 7): "/hooks/h1/builds/7", app.RunSubject("web-1", 7): "/clusters/web-1/runs/7",
		{Kind: app.SubjectLeaseExtension, ID: "web-1", Query: "end=1&sig=x"}: "/clusters/web-1/extend?end=1&sig=x",
	} {
		if got := Of(s); got != want {
			t.Errorf("%+v is at %q, want %q", s, got, want)
		}
	}
	for _, old := range []string{"/clusters/web-1", "/clusters/web-1/extend?end=1&sig=x", "/clusters/web-1#questions", "/admin/webhooks/a:b", "//evil.example.com"} {
		if s := app.ParseSubject(old); Of(s) != old || s.String() != old {
			t.Errorf("%q of an earlier version is %+v, at %q", old, s, Of(s))
		}
	}
}

// kinds reads the kinds of subject from the source, so that none is left out here.
func kinds(t *testing.T) (all []app.SubjectKind) {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), "../../app/subject.go", nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(f, func(n ast.Node) bool {
		v, ok := n.(*ast.ValueSpec)
		if ok && strings.HasPrefix(v.Names[0].Name, "Subject") {
			text, err := strconv.Unquote(v.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, app.SubjectKind(text))
		}
		return true
	})
	if len(all) < 21 {
		t.Fatalf("only the kinds %v were found", all)
	}
	return all
}
