package remote_test

import (
	"os/exec"
	"strings"
	"testing"

	"muster/app/family"
	"muster/app/humanize"
	"muster/jobs/remote"
	"muster/jobs/remote/remotetest"

	"pgregory.net/rapid"
)

func TestQuote(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{"": "''", "plain/x-1": "plain/x-1", "a b": "'a b'", "it's": `'it'\''s'`, "~": "'~'", "a\x00b": "'ab'", "A=b": "'A=b'"} {
		if got := humanize.ShellQuote(in); got != want {
			t.Errorf("ShellQuote(%q) = %s, want %s", in, got, want)
		}
	}
}

// Whatever is quoted comes out of sh as one word, unchanged.
func TestQuoteProperty(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.String(), 1, 5).Draw(t, "words")
		var line, want strings.Builder
		line.WriteString("printf '%s|'")
		for _, w := range words {
			line.WriteString(" " + humanize.ShellQuote(w))
			want.WriteString(strings.ReplaceAll(w, "\x00", "") + "|")
		}
		out, err := exec.Command("/bin/sh", "-c", line.String()).Output()
		if err != nil || string(out) != want.String() {
			t.Fatalf("%s returns %q, %v; want %q", line.String(), out, err, want.String())
		}
	})
}

func FuzzQuote(f *testing.F) {
	for _, s := range hostile {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		out, err := exec.Command("/bin/sh", "-c", "printf %s "+humanize.ShellQuote(s)).Output()
		if want := strings.ReplaceAll(s, "\x00", ""); err != nil || string(out) != want {
			t.Fatalf("%q: %q, %v", s, out, err)
		}
	})
}

func TestQuoteOverSSH(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, _ *remotetest.Node, c *remote.Conn) {
		for _, s := range hostile {
			got := mustRun(t, c, family.Command{Line: "printf '%s\\n' " + humanize.ShellQuote(s)})
			if strings.Join(got, "\n") != s {
				t.Errorf("%q came out as %q", s, got)
			}
		}
	})
}
