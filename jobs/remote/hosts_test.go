package remote_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"muster/app"
	"muster/app/family"
	"muster/jobs/remote"
	"muster/jobs/remote/remotetest"
)

func TestSetHosts(t *testing.T) {
	t.Parallel()
	entries := []family.HostEntry{{Address: "10.0.0.1", Names: []string{"n1.c1.example.org", "n1"}}, {Address: "fd00::2", Names: []string{"n2"}}}
	const block = "# muster begin\n10.0.0.1 n1.c1.example.org n1\nfd00::2 n2\n# muster end\n"
	s := remotetest.Start(t, remotetest.Options{})
	c := dial(t, s.Target())
	for name, tc := range map[string]struct {
		before  string
		entries []family.HostEntry
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
				if err := remote.SetHostsIn(t.Context(), c, file, tc.entries); err != nil {
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

// What service steps add keeps what a names step has written, in whatever order they come, and a names step takes out what is not in its list.
func TestAddHosts(t *testing.T) {
	t.Parallel()
	at := func(address string, names ...string) family.HostEntry {
		return family.HostEntry{Address: address, Names: names}
	}
	one, two, three := at("10.0.0.1", "n1.c1", "n1"), at("10.0.0.2", "n2.c1", "n2"), at("fd00::3", "n3.c1", "n3")
	const first, second, third = "10.0.0.1 n1.c1 n1\n", "10.0.0.2 n2.c1 n2\n", "fd00::3 n3.c1 n3\n"
	block := func(lines ...string) string { return "# muster begin\n" + strings.Join(lines, "") + "# muster end\n" }
	onEach(t, func(t *testing.T, n *remotetest.Node, c *remote.Conn) {
		for name, tc := range map[string]struct {
			before string
			add    []family.HostEntry
			after  string
		}{
			"first":                     {"a\n", []family.HostEntry{one, two}, "a\n" + block(first, second)},
			"all there":                 {"a\n" + block(first, second, third), []family.HostEntry{three, one}, "a\n" + block(first, second, third)},
			"one more":                  {block(first, third) + "b\n", []family.HostEntry{two}, "b\n" + block(first, third, second)},
			"another address":           {block(first, "10.9.9.9 n2.c1 n2\n", third), []family.HostEntry{two}, block(first, third, second)},
			"an address of another now": {block(first, "10.0.0.2 n7.c1 n7\n"), []family.HostEntry{two}, block(first, second)},
			"a name that begins alike":  {block("10.0.0.21 n2.c1.old n2\n"), []family.HostEntry{two}, block("10.0.0.21 n2.c1.old n2\n", second)},
			"twice":                     {block(first, first) + "x\n" + block(second), []family.HostEntry{one}, "x\n" + block(first, second)},
			"no end":                    {"# muster begin\nmine\n", []family.HostEntry{one}, "mine\n" + block(first)},
			"nothing":                   {"a\n" + block(first), nil, "a\n" + block(first)},
		} {
			t.Run(name, func(t *testing.T) {
				file := tempFile(n, "hosts "+name)
				if err := os.WriteFile(file, []byte(tc.before), 0o644); err != nil {
					t.Fatal(err)
				}
				for _, c := range []*remote.Conn{c, dial(t, n.Target())} {
					if err := remote.AddHostsIn(t.Context(), c, file, tc.add); err != nil {
						t.Fatal(err)
					}
					check(t, file, tc.after, 0o644)
				}
			})
		}

		// Another worker writes the same file over its own connection, and what this one wrote before is not taken for what is there.
		file, other := tempFile(n, "written by two"), dial(t, n.Target())
		for _, s := range []struct {
			write func(context.Context, family.Shell, string, []family.HostEntry) error
			on    *remote.Conn
			list  []family.HostEntry
			want  string
		}{
			{remote.RewriteHostsIn, c, []family.HostEntry{one, two}, block(first, second)},
			{remote.RewriteHostsIn, other, []family.HostEntry{one, two, three}, block(first, second, third)},
			{remote.AddHostsIn, other, []family.HostEntry{two}, block(first, second, third)},
			{remote.RewriteHostsIn, c, []family.HostEntry{one, two}, block(first, second)},
		} {
			if err := s.write(t.Context(), s.on, file, s.list); err != nil {
				t.Fatal(err)
			}
			check(t, file, s.want, 0o644)
		}
	})
}

func TestSetHostsChangesNothingTwice(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, n *remotetest.Node, c *remote.Conn) {
		file := tempFile(n, "hosts")
		entries := []family.HostEntry{{Address: "10.0.0.1", Names: []string{"n1"}}}
		if err := remote.SetHostsIn(t.Context(), c, file, entries); err != nil { // also makes the file
			t.Fatal(err)
		}
		before, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := remote.SetHostsIn(t.Context(), dial(t, n.Target()), file, entries); err != nil {
			t.Fatal(err)
		}
		if after, _ := os.Stat(file); !os.SameFile(before, after) || !after.ModTime().Equal(before.ModTime()) {
			t.Error("written although nothing changed")
		}
	})
}

func TestSetHostsRefuses(t *testing.T) {
	t.Parallel()
	s := remotetest.Start(t, remotetest.Options{})
	c := dial(t, s.Target())
	for _, e := range []family.HostEntry{
		{Address: "nowhere", Names: []string{"n1"}}, {Address: "10.0.0.1", Names: []string{"a b"}}, {Address: "fe80::1%eth0", Names: []string{"n1"}},
		{Address: "10.0.0.1", Names: []string{"a\n10.0.0.2 bank"}}, {Address: "10.0.0.1", Names: []string{"#"}}, {Address: "10.0.0.1", Names: []string{""}},
	} {
		wantCode(t, remote.SetHosts(t.Context(), c, []family.HostEntry{e}, false), app.EInvalid)
	}
	if s.Execs() != 0 {
		t.Error("something was run")
	}
	wantCode(t, remote.SetHostsIn(t.Context(), c, "/nonexistent/hosts", nil), app.EInvalid, "Can't write host names")
}
