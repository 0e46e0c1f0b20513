package terminal_test

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"muster/app/terminal"
)

// Whatever is written in whatever pieces, what a reader gets from an offset is what was written there, as far back as is kept.
func TestBufferKeepsTheEnd(t *testing.T) {
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 7))
		b, all := terminal.NewBuffer(), []byte(nil)
		for range 60 {
			p := make([]byte, r.IntN(40<<10))
			for i := range p {
				p[i] = byte(r.Uint32())
			}
			b.Write(p)
			all = append(all, p...)
			if kept := b.Kept(); kept > terminal.ScrollBack*5/4 || kept < min(len(all), terminal.ScrollBack) {
				t.Fatalf("seed %d: %d bytes of %d are kept", seed, kept, len(all))
			}
			from, most := r.Int64N(int64(len(all))+1), 1+r.IntN(1<<20)
			got, next := b.After(from, most)
			start := max(from, int64(len(all)-b.Kept()))
			want := all[start:min(int64(len(all)), start+int64(most))]
			if !bytes.Equal(got, want) || next != start+int64(len(want)) {
				t.Fatalf("seed %d: %d bytes to %d after %d of %d, want %d", seed, len(got), next, from, len(all), len(want))
			}
		}
	}
}
