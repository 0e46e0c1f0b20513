package store_test

import (
	"path/filepath"
	"testing"
	"time"

	"muster/app/apptest"
	"muster/app/execution"
)

// BenchmarkWaiting asks why a cluster of 10,000 nodes waits, whose 20,000 starts wait for 10,000 confirms through a join.
func BenchmarkWaiting(b *testing.B) {
	s := open(b, filepath.Join(b.TempDir(), "muster.db"))
	op, err := s.CreateCluster(b.Context(), apptest.NewCluster("t", "web", 10000, time.Now(), apptest.Chain(10000)))
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		w, err := s.WaitingRows(b.Context(), "t", op.ID, execution.WaitingFilter{Limit: 50}, time.Now())
		if err != nil || len(w.Groups) != 4 || len(w.Steps) != 50 {
			b.Fatal(len(w.Groups), len(w.Steps), err)
		}
	}
}
