//go:build unix

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"
)

func main() {
	o := options{}
	flag.Uint64Var(&o.seed, "seed", 0, "`number` that determines all choices; 0 picks and prints one")
	flag.IntVar(&o.rounds, "rounds", 20, "number of `faults`")
	flag.IntVar(&o.batch, "batch", 25, "number of `rounds` between checks")
	flag.IntVar(&o.users, "users", 4, "number of `people` using clusters at the same time")
	flag.StringVar(&o.nodes, "nodes", "fake", "machines: `fake` (an in-process cloud) or sandbox (the server's own sandbox)")
	flag.StringVar(&o.topology, "topology", "one", "Muster's `processes`: one (a server with its workers), or many (two servers on PostgreSQL, two provisioners)")
	flag.StringVar(&o.binary, "muster", "bin/muster", "the `binary` to test")
	flag.StringVar(&o.only, "only", "", "use only faults whose name contains this `text`")
	flag.DurationVar(&o.settle, "settle", 2*time.Minute, "maximum time to settle after the last fault")
	flag.BoolVar(&o.keepGoing, "keep-going", false, "run all rounds even after a failure")
	flag.BoolVar(&o.keep, "keep", false, "keep the run's directory even on success")
	flag.Parse()
	if exit, did := inNamespace(); did {
		os.Exit(exit)
	}
	if o.seed == 0 {
		o.seed = rand.Uint64N(1e6) + 1
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ok, err := run(ctx, o)
	if err != nil {
		fmt.Fprintln(os.Stderr, "chaos:", err)
	}
	if err != nil || !ok {
		stop()
		os.Exit(1)
	}
}

// options are one run's settings.
type options struct {
	seed      uint64
	rounds    int
	batch     int
	users     int
	nodes     string
	topology  string
	binary    string
	only      string
	settle    time.Duration
	keep      bool
	keepGoing bool
}

func (o options) check() error {
	switch {
	case o.rounds < 1 || o.rounds > 100_000:
		return fmt.Errorf("-rounds must be from 1 to 100000, not %d", o.rounds)
	case o.batch < 1:
		return fmt.Errorf("-batch must be at least 1, not %d", o.batch)
	case o.users < 1 || o.users > 50:
		return fmt.Errorf("-users must be from 1 to 50, not %d", o.users)
	case o.nodes != "fake" && o.nodes != "sandbox":
		return fmt.Errorf("-nodes must be fake or sandbox, not %q", o.nodes)
	case o.nodes == "sandbox" && o.topology != "one":
		return errors.New("the sandbox belongs to one server; test many servers with -nodes fake")
	case topologies[o.topology] == nil:
		return fmt.Errorf("-topology must be one or many, not %q", o.topology)
	}
	return nil
}

// run reports whether nothing was lost. The directory of a run that lost something stays.
func run(ctx context.Context, o options) (ok bool, err error) {
	if err := o.check(); err != nil {
		return false, err
	}
	if o.binary, err = filepath.Abs(o.binary); err != nil {
		return false, err
	}
	dir, err := os.MkdirTemp("", "muster-chaos-")
	if err != nil {
		return false, err
	}
	h, err := newHarness(ctx, o, dir, os.Stdout)
	if err == nil {
		ok, err = h.run(ctx)
	}
	if h != nil {
		h.close()
	}
	if ok && err == nil && !o.keep {
		return true, os.RemoveAll(dir)
	}
	fmt.Printf("\nAll output is in %s\n", dir)
	return ok, err
}
