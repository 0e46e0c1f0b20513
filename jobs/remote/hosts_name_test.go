package remote_test

import (
	"regexp"
	"strings"
	"testing"

	"muster/jobs/remote"
	"pgregory.net/rapid"
)

// What goes into a hosts file is what this expression says, which takes ten times as long.
func TestHostNames(t *testing.T) {
	allowed := regexp.MustCompile(`^[A-Za-z0-9_]([A-Za-z0-9_.-]{0,253}[A-Za-z0-9_])?$`)
	check := func(t interface{ Errorf(string, ...any) }, name string) {
		if got, want := remote.IsHostName(name), allowed.MatchString(name); got != want {
			t.Errorf("%q is a host name: %v, want %v", name, got, want)
		}
	}
	for _, name := range []string{"", "a", "-", "n1.", ".n1", "n-1", "a b", "a\nb", "n1\n", "ä", "x/y", "a#b", strings.Repeat("a", 255), strings.Repeat("a", 256)} {
		check(t, name)
	}
	rapid.Check(t, func(t *rapid.T) {
		check(t, rapid.StringOfN(rapid.RuneFrom([]rune("aZ09_.-# \n\té")), 0, 8, -1).Draw(t, "name"))
	})
}
