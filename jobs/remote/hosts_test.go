package remote_test

import (
	"os"
	"path/filepath"
	"testing"

	"muster/app"
	"muster/jobs/remote"
	"muster/jobs/remote/remotetest"
)

func TestEnsureHosts(t *testing.T) {
	t.Parallel()
	entries := []app.HostEntry{{Address: "10.0.0.1", Names: []string{"n1.c1.example.org", "n1"}}, {Address: "fd00::2", Names: []string{"n2"}}}
	const block = "# muster begin\n10.0.0.1 n1.c1.example.org n1\nfd00::2 n2\n# muster end\n"
	s := remotetest.Start(t, remotetest.Options{})
	c := dial(t, s.Target())
	for name, tc := range map[string]struct {
		before  string
		entries []app.HostEntry
		after   string
	}{
		"first":             {"127.0.0.1\tlocalhost\n\n# a\\n comment\n", entries, "127.0.0.1\tlocalhost\n\n# a\\n comment\n" + block},
		"again":             {"a\n" + block, entries, "a\n" + block},
		"changed, in front": {"# muster begin\n10.9.9.9 old\n# muster end\n  b\n", entries, "  b\n" + block},
		"no line break":     {"127.0.0.1 localhost", entries, "127.0.0.1 localhost\n" + block},
		"empty":             {"", entries, block},
		"no more":           {"a\n" + block + "b\n", nil, "a\nb\n"},
		"nothing to do":     {"a\nb", nil, "a\nb\n"},
		"no end":            {"a\n# muster begin\nmine\nmine too\n", entries, "a\nmine\nmine too\n" + block},
		"twice":             {block + "x\n" + block, entries, "x\n" + block},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "ho'sts")
			if err := os.WriteFile(file, []byte(tc.before), 0o644); err != nil {
				t.Fatal(err)
			}
			for _, c := range []*remote.Conn{c, c, dial(t, s.Target())} {
				if err := remote.EnsureHostsIn(t.Context(), c, file, tc.entries); err != nil {
					t.Fatal(err)
				}
				check(t, file, tc.after, 0o644)
			}
			if left, _ := filepath.Glob(file + ".*"); len(left) != 0 {
				t.Errorf("left behind: %q", left)
			}
		})
	}
	if c, want := s.Execs(), 18; c != want {
		t.Errorf("%d sessions, want %d", c, want)
	}
}

func TestEnsureHostsChangesNothingTwice(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, n *remotetest.Node, c *remote.Conn) {
		file := tempFile(n, "hosts")
		entries := []app.HostEntry{{Address: "10.0.0.1", Names: []string{"n1"}}}
		if err := remote.EnsureHostsIn(t.Context(), c, file, entries); err != nil { // also makes the file
			t.Fatal(err)
		}
		before, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := remote.EnsureHostsIn(t.Context(), dial(t, n.Target()), file, entries); err != nil {
			t.Fatal(err)
		}
		if after, _ := os.Stat(file); !os.SameFile(before, after) || !after.ModTime().Equal(before.ModTime()) {
			t.Error("written although nothing changed")
		}
	})
}

func TestEnsureHostsRefuses(t *testing.T) {
	t.Parallel()
	s := remotetest.Start(t, remotetest.Options{})
	c := dial(t, s.Target())
	for _, e := range []app.HostEntry{
		{Address: "nowhere", Names: []string{"n1"}}, {Address: "10.0.0.1", Names: []string{"a b"}}, {Address: "fe80::1%eth0", Names: []string{"n1"}},
		{Address: "10.0.0.1", Names: []string{"a\n10.0.0.2 bank"}}, {Address: "10.0.0.1", Names: []string{"#"}}, {Address: "10.0.0.1", Names: []string{""}},
	} {
		wantCode(t, remote.EnsureHosts(t.Context(), c, []app.HostEntry{e}, false), app.EInvalid)
	}
	if s.Execs() != 0 {
		t.Error("something was run")
	}
	wantCode(t, remote.EnsureHostsIn(t.Context(), c, "/nonexistent/hosts", nil), app.EInvalid, "could not be written")
}
