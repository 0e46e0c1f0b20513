package nodefile_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/apptest"
	"muster/app/apptest/harness"
	"muster/app/family"
	"muster/app/nodefile"
	"muster/app/nodefile/nodefiletest"
	"muster/app/sharing"
	"muster/app/terminal"
)

// keys sign certificates that are looked at.
type keys struct {
	harness.Keys
	orders []app.CertificateOrder
}

func (k *keys) SignCertificate(_ []byte, o app.CertificateOrder) (app.SignedCertificate, error) {
	k.orders = append(k.orders, o)
	return app.SignedCertificate{Line: "signed"}, nil
}

// site is a server with a cluster of two nodes, of which n1 has a machine.
type site struct {
	*harness.Harness
	t       *testing.T
	node    *nodefiletest.Node
	keys    *keys
	files   *nodefile.Service
	cluster string
	ada     app.Actor
}

func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{Harness: harness.New(t), t: t, node: nodefiletest.New(t.TempDir()), keys: &keys{}}
	n := apptest.NewCluster(app.DefaultTenant, "web", 2, s.Clock.Now(), apptest.Chain(2))
	n.Nodes[0].Node.Status, n.Nodes[0].Node.SSHUser = app.NodeReady, "ubuntu"
	if _, err := s.Store.CreateCluster(t.Context(), n); err != nil {
		t.Fatal(err)
	}
	s.SQL(`UPDATE nodes SET host_key = 'ssh-ed25519 HOST', addresses = '{"access_v4":"10.0.0.1"}' WHERE name = 'n1'`)
	s.cluster, s.ada, s.files = n.Cluster.ID, s.Actor("ada", app.RoleUser), s.Services.NodeFiles
	s.Services.NodeAccess.SignIn, s.Services.NodeAccess.Keys = s.node.Connect, s.keys
	return s
}

func (s *site) at(path string) nodefile.At {
	return nodefile.At{Cluster: s.cluster, Node: "n1", Path: path}
}

func (s *site) write(name, text string) {
	s.t.Helper()
	if err := os.WriteFile(filepath.Join(s.node.Home, name), []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// has checks a file of the node; "" means that there is none.
func (s *site) has(name, want string) {
	s.t.Helper()
	if b, err := os.ReadFile(filepath.Join(s.node.Home, name)); string(b) != want || want != "" && err != nil || want == "" && !errors.Is(err, os.ErrNotExist) {
		s.t.Errorf("%s has %q (%v), want %q", name, b, err, want)
	}
}

// clean checks that nothing is left of uploads that didn't end, and that no connection is.
func (s *site) clean() {
	s.t.Helper()
	if left, _ := filepath.Glob(filepath.Join(s.node.Home, "*"+nodefile.TempPrefix+"*")); len(left) > 0 {
		s.t.Errorf("left are %v", left)
	}
	if n := s.node.Open(); n > 0 {
		s.t.Errorf("%d connections are open", n)
	}
}

func (s *site) upload(name string, replace bool, r io.Reader) error {
	_, err := s.files.UploadNodeFile(s.t.Context(), s.ada, nodefile.Upload{Folder: s.at(""), Name: name, Replace: replace}, r)
	return err
}

func (s *site) download(who app.Actor, path string, w io.Writer) error {
	return s.files.DownloadNodeFile(s.t.Context(), who, s.at(path), func(family.File) (io.Writer, error) { return w, nil })
}

func (s *site) audited(action string) []string {
	s.t.Helper()
	list, err := s.Store.Audit(s.t.Context(), app.AuditFilter{Tenant: app.DefaultTenant, Limit: 100})
	if err != nil {
		s.t.Fatal(err)
	}
	var all []string
	for _, e := range list {
		if e.Act == action {
			all = append(all, e.Who+" "+e.Object+" "+e.Detail)
		}
	}
	return all
}

func TestFilesGoThereAndBack(t *testing.T) {
	s := newSite(t)
	if err := s.upload("a.txt", false, strings.NewReader("hello")); err != nil {
		t.Fatal(err)
	}
	s.has("a.txt", "hello")
	var b bytes.Buffer
	if err := s.download(s.ada, "a.txt", &b); err != nil || b.String() != "hello" {
		t.Errorf("%q, %v", &b, err)
	}
	if o := s.keys.orders[0]; o.Principals[0] != "ubuntu" || o.Until.Sub(s.Clock.Now()) > 5*time.Minute {
		t.Errorf("the certificate is %+v", o)
	}
	if len(s.keys.orders) != 2 || s.node.Targets[0].User != "ubuntu" {
		t.Errorf("%d certificates for %+v", len(s.keys.orders), s.node.Targets)
	}
	for _, action := range []string{"file.upload", "file.download"} {
		want := "ada " + s.cluster + " n1:" + s.node.Home + "/a.txt"
		if got := s.audited(action); len(got) != 1 || got[0] != want {
			t.Errorf("the audit log has %q, want %q", got, want)
		}
	}
	s.clean()
}

func TestAFolderIsListed(t *testing.T) {
	s := newSite(t)
	for i := range nodefile.MaxShown {
		s.write(fmt.Sprintf("f%04d", i), "")
	}
	if err := errors.Join(os.Mkdir(s.node.Home+"/zz", 0o700), os.Symlink("zz", s.node.Home+"/aa"), os.Symlink("f0001", s.node.Home+"/ab")); err != nil {
		t.Fatal(err)
	}
	f, err := s.files.NodeFiles(t.Context(), s.ada, s.at(""))
	if err != nil || f.Path != s.node.Home || f.User != "ubuntu" || f.Found != nodefile.MaxShown+3 || !f.Whole || len(f.Files) != nodefile.MaxShown {
		t.Fatalf("%s of %s: %d of %d, %v", f.Path, f.User, len(f.Files), f.Found, err)
	}
	if a, b, c := f.Files[0], f.Files[1], f.Files[2]; a.Name != "aa" || a.Target != "zz" || b.Name != "zz" || c.Name != "ab" || c.Leads {
		t.Errorf("first are %+v, %+v, %+v", a, b, c)
	}
	if _, err := s.files.NodeFiles(t.Context(), s.ada, s.at("none")); app.AsError(err).Reason != family.FileMissing {
		t.Error(err)
	}
	for p, want := range map[string]string{"zz/../zz": s.node.Home + "/zz", s.node.Home + "/./zz/": s.node.Home + "/zz", "/../..": "/"} {
		if f, err := s.files.NodeFiles(t.Context(), s.ada, s.at(p)); err != nil || f.Path != want {
			t.Errorf("%s is %s, %v", p, f.Path, err)
		}
	}
	for _, p := range []string{"a\x00b", strings.Repeat("/a", 3000)} {
		if _, err := s.files.NodeFiles(t.Context(), s.ada, s.at(p)); app.AsError(err).Field != "path" {
			t.Errorf("%.10q: %v", p, err)
		}
	}
	s.clean()
}

func TestFilesAreReplacedOnlyIfWanted(t *testing.T) {
	s := newSite(t)
	s.write("f", "old")
	if err := s.upload("f", false, strings.NewReader("new")); app.AsError(err).Reason != family.FileExists {
		t.Error(err)
	}
	s.has("f", "old")
	if err := s.upload("f", true, strings.NewReader("new")); err != nil {
		t.Error(err)
	}
	s.has("f", "new")
	if i, err := os.Stat(s.node.Home + "/f"); err != nil || i.Mode().Perm() != 0o600 {
		t.Errorf("the permissions aren't those of before: %v, %v", i, err)
	}
	if err := errors.Join(os.Mkdir(s.node.Home+"/folder", 0o700), os.Symlink("f", s.node.Home+"/link")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"folder", "link"} {
		if err := s.upload(name, true, strings.NewReader("x")); app.AsError(err).Reason != family.FileKind || app.CodeOf(err) != app.EConflict {
			t.Errorf("%s: %v", name, err)
		}
	}
	// One of that name comes while the content does.
	late := io.MultiReader(strings.NewReader("x"), does(func() { s.write("late", "theirs") }))
	if err := s.upload("late", false, late); app.AsError(err).Reason != family.FileExists {
		t.Error(err)
	}
	s.has("late", "theirs")
	s.clean()
}

// does is a reader that does something and ends.
type does func()

func (d does) Read([]byte) (int, error) { d(); return 0, io.EOF }

// breaks is a reader that does something and fails.
type breaks func() error

func (b breaks) Read([]byte) (int, error) { return 0, b() }

func TestAnInterruptedUploadLeavesNothing(t *testing.T) {
	s := newSite(t)
	s.files.Limit(10, time.Hour, time.Hour)
	gone := errors.New("the browser has gone")
	part := strings.NewReader
	ctx, cancel := context.WithCancel(t.Context())
	for name, c := range map[string]struct {
		r    io.Reader
		code app.Code
	}{
		"browser":    {io.MultiReader(part("half"), breaks(func() error { cancel(); return gone })), app.EInternal},
		"too large":  {part("0123456789a"), app.ETooLarge},
		"connection": {io.MultiReader(part("half"), does(s.node.Cut)), app.ETransient},
		"access":     {io.MultiReader(part("half"), does(func() { s.SQL(`UPDATE nodes SET status = 'deleted' WHERE name = 'n1'`) })), app.EForbidden},
	} {
		use := t.Context()
		if name == "browser" {
			use = ctx
		}
		_, err := s.files.UploadNodeFile(use, s.ada, nodefile.Upload{Folder: s.at(""), Name: name}, c.r)
		if app.CodeOf(err) != c.code {
			t.Errorf("%s: %v, want %s", name, err, c.code)
		}
		s.has(name, "")
		s.clean()
		s.SQL(`UPDATE nodes SET status = 'ready' WHERE name = 'n1'`)
	}
	if err := s.upload("ten", false, part("0123456789")); err != nil {
		t.Error(err)
	}
	if got := s.audited("file.upload"); len(got) != 1 {
		t.Errorf("the audit log has %q", got)
	}
}

// waits is a reader that waits until it's closed.
type waits chan struct{}

func (w waits) Read([]byte) (int, error) { <-w; return 0, io.ErrUnexpectedEOF }

func TestACopyThatStallsEnds(t *testing.T) {
	s := newSite(t)
	s.files.Limit(100, time.Millisecond, time.Hour)
	s.write("f", "text")
	err := s.files.DownloadNodeFile(t.Context(), s.ada, s.at("f"), func(family.File) (io.Writer, error) { return untilEnded{s.node}, nil })
	if app.AsError(err).Reason != family.FileStalled || app.CodeOf(err) != app.ETimeout {
		t.Error(err)
	}
	s.clean()
}

// untilEnded is a writer that takes nothing until the session is ended.
type untilEnded struct{ n *nodefiletest.Node }

func (u untilEnded) Write([]byte) (int, error) { <-u.n.Ended(); return 0, io.ErrClosedPipe }

func TestACopyEndsWithTheAccess(t *testing.T) {
	s := newSite(t)
	s.files.Limit(100, time.Hour, time.Millisecond)
	bob := s.Actor("bob", app.RoleUser)
	share := func(c sharing.SharingChange) {
		t.Helper()
		if _, err := s.Services.Cluster.Sharing.ShareCluster(t.Context(), s.ada, s.cluster, c); err != nil {
			t.Fatal(err)
		}
	}
	share(sharing.SharingChange{Add: []sharing.Share{{Person: "bob", Access: app.AccessUser}}})
	s.write("f", "text")
	err := s.files.DownloadNodeFile(t.Context(), bob, s.at("f"), func(family.File) (io.Writer, error) {
		share(sharing.SharingChange{Remove: []sharing.Share{{Person: "bob"}}})
		return untilEnded{s.node}, nil
	})
	if e := app.AsError(err); e.Reason != "access" || e.Code != app.EForbidden {
		t.Error(err)
	}
}

func TestNamesOfUploads(t *testing.T) {
	s := newSite(t)
	for _, name := range []string{"", ".", "..", "../f", "/etc/passwd", "a/b", "a\x00b", "a\nb", "\x1b[2J", strings.Repeat("n", 256)} {
		if err := s.upload(name, true, strings.NewReader("x")); app.CodeOf(err) != app.EInvalid || app.AsError(err).Field != "file" {
			t.Errorf("%.20q: %v", name, err)
		}
	}
	for _, name := range []string{"...", "-rf", "a b", "ünï", `a"b\c`, "bad\xff", "<b>", strings.Repeat("n", 255)} {
		if err := s.upload(name, false, strings.NewReader("x")); err != nil {
			t.Errorf("%.20q: %v", name, err)
		}
		s.has(name, "x")
	}
	if got := s.audited("file.upload"); len(got) != 8 || !strings.Contains(strings.Join(got, "\n"), `bad\xff`) {
		t.Errorf("the audit log has %q", got)
	}
}

func TestWhoUsesFiles(t *testing.T) {
	s := newSite(t)
	s.write("f", "text")
	root := s.Actor("root", app.RoleAdmin)
	for name, c := range map[string]struct {
		who  app.Actor
		at   nodefile.At
		code app.Code
	}{
		"the owner":         {s.ada, s.at("f"), ""},
		"an admin":          {root, s.at("f"), ""},
		"another's cluster": {s.Actor("bob", app.RoleUser), s.at("f"), app.ENotFound},
		"a viewer":          {s.Actor("ada", app.RoleViewer), s.at("f"), app.EForbidden},
		"another tenant":    {app.Actor{Tenant: "acme", User: "ada", Role: app.RoleAdmin}, s.at("f"), app.ENotFound},
		"no node":           {s.ada, nodefile.At{Cluster: s.cluster, Node: "n9", Path: "f"}, app.ENotFound},
		"no machine":        {s.ada, nodefile.At{Cluster: s.cluster, Node: "n2", Path: "f"}, app.EConflict},
	} {
		folder := c.at
		folder.Path = ""
		_, listed := s.files.NodeFiles(t.Context(), c.who, folder)
		_, up := s.files.UploadNodeFile(t.Context(), c.who, nodefile.Upload{Folder: folder, Name: "up", Replace: true}, strings.NewReader("x"))
		down := s.files.DownloadNodeFile(t.Context(), c.who, c.at, func(family.File) (io.Writer, error) { return io.Discard, nil })
		for what, err := range map[string]error{"list": listed, "upload": up, "download": down} {
			if err == nil && c.code != "" || err != nil && app.CodeOf(err) != c.code {
				t.Errorf("%s, %s: %v, want %s", name, what, err, c.code)
			}
		}
	}
	s.node.Down(true)
	if _, err := s.files.NodeFiles(t.Context(), s.ada, s.at("")); app.CodeOf(err) != app.ETransient {
		t.Error(err)
	}
	s.node.Down(false)
	s.SQL(`UPDATE nodes SET status = 'stopped' WHERE name = 'n1'`)
	if _, err := s.files.NodeFiles(t.Context(), s.ada, s.at("")); app.AsError(err).Reason != "no_machine" {
		t.Errorf("asleep: %v", err)
	}
	s.SQL(`UPDATE nodes SET status = 'ready' WHERE name = 'n1'`)
	// Where terminals need a fresh proof, files do.
	if _, err := s.Services.Terminal.SetTerminalSettings(t.Context(), root, terminal.Settings{StepUp: true}); err != nil {
		t.Fatal(err)
	}
	old := s.ada
	old.Session, old.SeenAt, old.ProvenAt = "1", s.Clock.Now(), s.Clock.Now().Add(-time.Hour)
	fresh := old
	fresh.ProvenAt = s.Clock.Now()
	if err := s.download(old, "f", io.Discard); app.AsError(err).Reason != app.StepUpReason {
		t.Error(err)
	}
	if _, err := s.files.NodeFiles(t.Context(), old, s.at("")); app.AsError(err).Reason != app.StepUpReason {
		t.Error(err)
	}
	if err := s.download(fresh, "f", io.Discard); err != nil {
		t.Error(err)
	}
	s.clean()
}

func TestAUserCopiesAFewFilesAtOnce(t *testing.T) {
	s := newSite(t)
	s.write("f", "text")
	hold, done := make(waits), make(chan error, nodefile.MostOfUser)
	for i := range nodefile.MostOfUser {
		ready := make(chan struct{})
		go func() { done <- s.upload(fmt.Sprint(i), false, io.MultiReader(does(func() { close(ready) }), hold)) }()
		<-ready
	}
	if err := s.upload("more", false, strings.NewReader("x")); app.CodeOf(err) != app.ERateLimit {
		t.Error(err)
	}
	if _, err := s.files.NodeFiles(t.Context(), s.ada, s.at("")); err != nil {
		t.Errorf("lists are counted apart: %v", err)
	}
	if err := s.download(s.Actor("root", app.RoleAdmin), "f", io.Discard); err != nil {
		t.Errorf("another user: %v", err)
	}
	close(hold)
	for range nodefile.MostOfUser {
		<-done
	}
	if err := s.upload("more", false, strings.NewReader("x")); err != nil {
		t.Error(err)
	}
	s.clean()
}
