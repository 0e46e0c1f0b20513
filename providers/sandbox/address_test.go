//go:build linux

package sandbox

import (
	"net/netip"
	"os"
	"testing"
)

func TestAddressClaimsWrapAround(t *testing.T) {
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

func TestDataDirectoriesAreSeparate(t *testing.T) {
	a, b := layout{dir: "/srv/a"}.home(), layout{dir: "/srv/b"}.home()
	if a == b || !loopback.Contains(a) || !loopback.Contains(b) {
		t.Errorf("homes %s and %s", a, b)
	}
}

func TestOpenRemovesUnfinishedRecords(t *testing.T) {
	dir := dataDir(t)
	l := layout{dir: dir}
	if err := l.prepare(); err != nil {
		t.Fatal(err)
	}
	for name, file := range map[string]string{"sb-000000000001": "", "sb-000000000002": ".new-123", "sb-000000000003": "something else"} {
		if err := os.Mkdir(l.node(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if file != "" {
			if err := os.WriteFile(l.file(name, file), []byte("{"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	open(t, dir, ModeProcess)
	ids, err := l.ids()
	if err != nil {
		t.Fatal(err)
	}
	if len(ids) != 1 || ids[0] != "sb-000000000003" {
		t.Errorf("left are %v; what is unknown is for a person, all else is to go", ids)
	}
}
