//go:build !real

package jobs_test

import (
	"testing"

	"muster/jobs/queue"
)

// redisForTest returns the address of a Redis of the test's own: here one inside the process.
func redisForTest(t *testing.T) string {
	t.Helper()
	r, err := queue.StartEmbeddedRedis("secret")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return r.URL("secret")
}
