package jobs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"muster/app"
	"muster/app/execution"
	"muster/jobs/remote"
	"muster/jobs/remote/remotetest"
)

// Owners get in with certificates where the machine's home is its own; that of a person here stays as it is.
func TestEnsureAccess(t *testing.T) {
	t.Parallel()
	s := remotetest.Start(t, remotetest.Options{})
	c, err := remote.Dial(t.Context(), s.Target())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var said []string
	out := func(_ app.Stream, line string) { said = append(said, line) }
	ca, private := remotetest.NewKey(t)
	as := &execution.Assignment{Node: app.Node{SSHUser: "admin"}, SSHKey: private}
	dir := filepath.Join(s.Home, ".ssh")

	if err := ensureAccess(t.Context(), as, c, out); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) || s.Execs() != 0 {
		t.Errorf("a home that may be a person's was touched: %v", err)
	}

	as.Node.OwnRoot = true
	for range 2 {
		if err := ensureAccess(t.Context(), as, c, out); err != nil {
			t.Fatal(err)
		}
	}
	b, err := os.ReadFile(filepath.Join(dir, "authorized_keys"))
	if want := `cert-authority,principals="admin" ` + remotetest.AuthorizedKey(ca) + "\n"; err != nil || string(b) != want {
		t.Errorf("%q, %v", b, err)
	}

	// Where it cannot be written the machine is still good for all else, and the log says it.
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := ensureAccess(t.Context(), as, c, out); err != nil || len(said) != 1 || !strings.Contains(said[0], "only the cluster's key") {
		t.Errorf("%v, %q", err, said)
	}
}
