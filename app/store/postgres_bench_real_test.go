//go:build real

package store_test

import (
	"fmt"
	"testing"

	"muster/app/apptest"
)

// BenchmarkLedgerOnPostgres is BenchmarkLedger with a PostgreSQL that keeps what it has acknowledged through a power cut.
func BenchmarkLedgerOnPostgres(b *testing.B) {
	p, err := apptest.StartPostgres("fsync=on", "full_page_writes=on")
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = p.Close() }()
	if err := p.Make("bench", ""); err != nil {
		b.Fatal(err)
	}
	for _, size := range []int{1, 16, 64, 256} {
		b.Run(fmt.Sprintf("batch=%d", size), func(b *testing.B) {
			for b.Loop() {
				runLedger(b, p.Fresh(b, ""), 1, 1000, size, deep)
			}
		})
	}
}
