//go:build unix

package doctor

import (
	"os"
	"testing"

	"muster/cmd/muster/server"
)

// What root may do says little about the server's user, whose directory it is. Others may give nothing away, so for them there is nothing to try.
func TestDoctorChecksAsTheOwner(t *testing.T) {
	dir := t.TempDir()
	d := Doctor{Config: server.Config{Data: dir}}
	wantChecked(t, "one's own", d.data(t.Context()), checkOK, "is writable")
	if os.Geteuid() != 0 {
		return
	}
	if err := os.Chown(dir, 65534, 65534); err != nil {
		t.Fatal(err)
	}
	wantChecked(t, "another's", d.data(t.Context()), CheckFail, "belongs to")
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}
