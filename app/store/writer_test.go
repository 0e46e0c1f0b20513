package store

import (
	"fmt"
	"testing"
	"time"

	"muster/app"
	"muster/app/apptest"
	"muster/app/store/db"
)

// A full disk refuses what comes, as something that passes, breaks nothing that is there, and is forgotten once there is
// room again.
func TestFullDisk(t *testing.T) {
	s := onDisk(t)
	create := func(name string) error {
		_, err := s.CreateCluster(t.Context(), apptest.NewCluster("t", name, 10, time.Now(), apptest.Chain(10)))
		return err
	}
	// The pragma needs the writer's own connection.
	pages := func(n int) {
		t.Helper()
		if err := s.Write(t.Context(), func(tx *db.Tx) error {
			return tx.Row(fmt.Sprintf(`PRAGMA max_page_count = %d`, n)).Scan(new(int))
		}); err != nil {
			t.Fatal(err)
		}
	}
	pages(100)
	n := 0
	err := create("c0")
	for ; err == nil; err = create(fmt.Sprintf("c%d", n)) {
		n++
	}
	if app.CodeOf(err) != app.ETransient {
		t.Errorf("a full disk is %v", err)
	}
	errs := make(chan error, 50)
	for i := range cap(errs) {
		go func() { errs <- create(fmt.Sprintf("d%d", i)) }()
	}
	for range cap(errs) {
		if err := <-errs; err != nil && app.CodeOf(err) != app.ETransient {
			t.Errorf("with others, a full disk is %v", err)
		}
	}
	pages(1 << 20)
	if err := create("after"); err != nil {
		t.Errorf("with room again: %v", err)
	}
	list, err := s.Clusters(t.Context(), "t", app.ClusterFilter{})
	if err != nil || len(list) < n+1 {
		t.Errorf("%d clusters (%v), want at least %d", len(list), err, n+1)
	}
}
