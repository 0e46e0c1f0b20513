//go:build unix

package sandbox

import (
	"net/netip"
	"os"
	"testing"
)

func TestClaimGoesRoundTheNetwork(t *testing.T) {
	l := layout{dir: t.TempDir()}
	if err := os.MkdirAll(l.addresses(), 0o700); err != nil {
		t.Fatal(err)
	}
	network := netip.MustParsePrefix("127.99.0.0/29") // .2 to .6 can be given
	var got []string
	for range 6 {
		a, err := l.claim(t.Context(), "m", network, netip.MustParseAddr("127.99.0.5"), func(a netip.Addr) bool {
			for _, g := range got {
				if g == a.String() {
					return false
				}
			}
			return true
		})
		if err != nil {
			break
		}
		got = append(got, a.String())
	}
	want := []string{"127.99.0.5", "127.99.0.6", "127.99.0.2", "127.99.0.3", "127.99.0.4"}
	if len(got) != len(want) {
		t.Fatalf("claimed %v, want %v", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("claimed %v, want %v", got, want)
		}
	}
}

func TestEachDataDirectoryHasAHomeOfItsOwn(t *testing.T) {
	a, b := layout{dir: "/srv/a"}.home(), layout{dir: "/srv/b"}.home()
	if a == b || !loopback.Contains(a) || !loopback.Contains(b) {
		t.Errorf("homes %s and %s", a, b)
	}
}
