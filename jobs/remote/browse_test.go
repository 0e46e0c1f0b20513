package remote_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"muster/app"
	"muster/app/family"
	"muster/jobs/remote"
	"muster/jobs/remote/remotetest"
)

// browse starts SFTP on the system's OpenSSH, which is what nodes run.
func browse(t *testing.T) (family.Files, *remotetest.Node, *remote.Conn) {
	t.Helper()
	n := remotetest.OpenSSH(t)
	c := dial(t, n.Target())
	f, err := c.OpenFiles(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f, n, c
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func reason(err error) string {
	if err == nil {
		return ""
	}
	return app.AsError(err).Reason
}

// into lets Read write to w.
func into(w io.Writer) func(family.File) (io.Writer, error) {
	return func(family.File) (io.Writer, error) { return w, nil }
}

func TestFilesAreListedWhateverTheirNames(t *testing.T) {
	t.Parallel()
	f, n, _ := browse(t)
	dir := filepath.Join(n.Temp, "list")
	if err := os.MkdirAll(filepath.Join(dir, "folder"), 0o755); err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, name := range append(slices.Clone(hostile), "bad\xff\xfe", ".hidden", "<b>") {
		if strings.Contains(name, "/") {
			continue
		}
		write(t, filepath.Join(dir, name), "content of "+name)
		want = append(want, name)
	}
	for name, target := range map[string]string{"to folder": "folder", "to nothing": "no\nwhere"} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
		want = append(want, name)
	}
	all, whole, err := f.List(t.Context(), dir)
	if err != nil || !whole {
		t.Fatal(whole, err)
	}
	var got []string
	links := map[string]*family.File{}
	for i := range all {
		got = append(got, all[i].Name)
		links[all[i].Name] = &all[i]
	}
	slices.Sort(got)
	want = append(want, "folder")
	slices.Sort(want)
	if !slices.Equal(slices.Compact(want), got) {
		t.Errorf("listed are %q, want %q", got, want)
	}
	f.Resolve(t.Context(), dir, []*family.File{links["to folder"], links["to nothing"]})
	if x := links["to folder"]; x.Target != "folder" || !x.Leads || x.Mode&fs.ModeSymlink == 0 {
		t.Errorf("%+v", x)
	}
	if x := links["to nothing"]; x.Target != "no\nwhere" || x.Leads {
		t.Errorf("%+v", x)
	}
	for _, name := range []string{"bad\xff\xfe", "a\nb", "<b>"} {
		var b bytes.Buffer
		if err := f.Read(t.Context(), filepath.Join(dir, name), into(&b)); err != nil || b.String() != "content of "+name {
			t.Errorf("%q: %q, %v", name, &b, err)
		}
	}
}

func TestALargeFolderIsListedInPart(t *testing.T) {
	t.Parallel()
	_, n, c := browse(t)
	for i := range 3000 {
		write(t, filepath.Join(n.Temp, strings.Repeat("n", 100)+string(rune('a'+i%26))+string(rune(0x4e00+i))), "")
	}
	f, err := c.OpenFilesWith(t.Context(), 64<<10)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	all, whole, err := f.List(t.Context(), n.Temp)
	if err != nil || whole || len(all) == 0 || len(all) >= 3000 {
		t.Errorf("%d files, whole %v: %v", len(all), whole, err)
	}
	var b bytes.Buffer // the session still works
	write(t, filepath.Join(n.Home, "f"), "text")
	if err := f.Read(t.Context(), filepath.Join(n.Home, "f"), into(&b)); err != nil || b.String() != "text" {
		t.Errorf("%q, %v", &b, err)
	}
}

func TestWhatIsNoFileIsntRead(t *testing.T) {
	t.Parallel()
	f, n, _ := browse(t)
	at := func(name string) string { return filepath.Join(n.Temp, name) }
	if err := errors.Join(os.Mkdir(at("folder"), 0o700), syscall.Mkfifo(at("pipe"), 0o600), os.Symlink("loop", at("loop"))); err != nil {
		t.Fatal(err)
	}
	write(t, at("file"), "x")
	for name, want := range map[string]string{"folder": family.FileKind, "pipe": family.FileKind, "loop": family.FileMissing, "none": family.FileMissing} {
		err := f.Read(t.Context(), at(name), func(family.File) (io.Writer, error) { t.Errorf("%s is opened", name); return io.Discard, nil })
		if reason(err) != want || app.AsError(err).Hint == "" {
			t.Errorf("%s: %v, reason %q", name, err, reason(err))
		}
	}
	for name, want := range map[string]string{"file": family.FileKind, "none": family.FileMissing} {
		if _, _, err := f.List(t.Context(), at(name)); reason(err) != want {
			t.Errorf("listing %s: %v", name, err)
		}
	}
	var b bytes.Buffer // of unknown size
	if err := f.Read(t.Context(), "/proc/version", into(&b)); err != nil || b.Len() == 0 {
		t.Errorf("%q, %v", &b, err)
	}
}

func TestFilesAreCreatedAndMoved(t *testing.T) {
	t.Parallel()
	f, n, _ := browse(t)
	at := func(name string) string { return filepath.Join(n.Temp, name) }
	text := strings.Repeat("0123456789abcdef", 300_000) // many pieces at once
	if size, err := f.Create(t.Context(), at("temp"), 0o640, strings.NewReader(text)); err != nil || size != int64(len(text)) {
		t.Fatal(size, err)
	}
	check(t, at("temp"), text, 0o640)
	if _, err := f.Create(t.Context(), at("temp"), 0, strings.NewReader("")); err == nil {
		t.Error("a file that exists is created")
	}
	check(t, at("temp"), text, 0o640)
	if err := f.Move(t.Context(), at("temp"), at("file"), false); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Create(t.Context(), at("temp"), 0o600, strings.NewReader("new")); err != nil {
		t.Fatal(err)
	}
	if err := f.Move(t.Context(), at("temp"), at("file"), false); reason(err) != family.FileExists || app.CodeOf(err) != app.EConflict {
		t.Error(err)
	}
	check(t, at("file"), text, 0o640)
	if err := f.Move(t.Context(), at("temp"), at("file"), true); err != nil {
		t.Fatal(err)
	}
	check(t, at("file"), "new", 0o600)
	if err := f.Remove(t.Context(), at("file")); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Stat(t.Context(), at("file")); reason(err) != family.FileMissing {
		t.Error(err)
	}
	_, err := f.Create(t.Context(), at("no folder/file"), 0, strings.NewReader("x"))
	if reason(err) != family.FileMissing || !strings.Contains(err.Error(), "no folder") {
		t.Error(err)
	}
	broken := errors.New("the browser has gone")
	if _, err := f.Create(t.Context(), at("part"), 0, io.MultiReader(strings.NewReader("part"), cutOff{broken})); !errors.Is(err, broken) {
		t.Errorf("a reader's own error is %v", err)
	}
	if home, err := f.Home(t.Context()); err != nil || !filepath.IsAbs(home) {
		t.Errorf("home is %q: %v", home, err)
	}
}

type cutOff struct{ err error }

func (c cutOff) Read([]byte) (int, error) { return 0, c.err }

func TestASessionOfFilesEndsWithItsContext(t *testing.T) {
	t.Parallel()
	_, n, c := browse(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	f, err := c.OpenFiles(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	why, r := errors.New("stalled"), &endless{started: make(chan struct{})}
	done := make(chan error, 1)
	go func() { _, err := f.Create(ctx, filepath.Join(n.Temp, "part"), 0, r); done <- err }()
	<-r.started
	cancel(why)
	if err := <-done; !errors.Is(err, why) {
		t.Errorf("the end is %v", err)
	}
	again, err := c.OpenFiles(t.Context()) // the connection still works
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if err := again.Remove(t.Context(), filepath.Join(n.Temp, "part")); err != nil {
		t.Error(err)
	}
	_ = c.Close()
	if _, err := c.OpenFiles(t.Context()); app.CodeOf(err) != app.ETransient {
		t.Errorf("on a connection that has ended: %v", err)
	}
	if _, err := again.Stat(t.Context(), n.Temp); app.CodeOf(err) != app.ETransient {
		t.Errorf("in a session that has ended: %v", err)
	}
}

// endless has always more.
type endless struct{ started chan struct{} }

func (e *endless) Read(p []byte) (int, error) {
	select {
	case <-e.started:
	default:
		close(e.started)
	}
	return len(p), nil
}

func TestANodeWithoutSFTP(t *testing.T) {
	t.Parallel()
	c := dial(t, remotetest.Start(t, remotetest.Options{}).Target())
	if _, err := c.OpenFiles(t.Context()); reason(err) != family.FileNoSFTP {
		t.Error(err)
	}
}
