package static

import (
	"context"
	"os"
	"testing"
	"time"

	"muster/providers/providertest"
	"muster/providers/static/internal/shell"
)

// quick is how long machines may take that are known not to answer.
const quick = 300 * time.Millisecond

// background is for cleaning up, when the test's own context has ended.
func background() context.Context { return context.Background() }

func newPool(p *provider) *shell.Pool { return newPoolOf(p, handshakes) }

func newPoolOf(p *provider, handshakes int) *shell.Pool { return shell.NewPool(p.key, handshakes) }

// put writes a record by hand.
func (b *box) put(t testing.TB, line string) {
	t.Helper()
	d := b.root + "/var/lib/muster/checkout"
	if err := os.MkdirAll(d, 0o700); err != nil {
		t.Fatal(err)
	}
	b.write(t, d+"/record", line+"\n")
}

var harness = providertest.Harness{Flavor: defaultFlavor}
