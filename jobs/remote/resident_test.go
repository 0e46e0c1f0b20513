package remote_test

import (
	"testing"

	"muster/app"
	"muster/jobs/remote"
	"muster/jobs/remote/remotetest"
)

// One session carries out all commands of a claim's node, and those of later claims.
func TestResidentStays(t *testing.T) {
	t.Parallel()
	s := remotetest.Start(t, remotetest.Options{})
	c := dial(t, s.Target())
	for i := range 10 {
		mustRun(t, remote.Under(c, claim(int64(i+1), i)), app.Command{Line: "true", Once: i > 3})
	}
	if n := s.Execs(); n != 1 {
		t.Errorf("%d sessions for 10 commands", n)
	}
}
