package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/pprof"
	"strings"
	"time"
)

// cores is for how many the limits are meant.
const cores = 2

// actionTimeout is how long one act may take before it counts as failed.
const actionTimeout = 15 * time.Second

func main() {
	if os.Getenv(readersVariable) != "" {
		if err := runReaders(); err != nil {
			fmt.Fprintln(os.Stderr, "bench: readers:", err)
			os.Exit(1)
		}
		return
	}
	if kind := os.Getenv(fakeNodesVariable); kind != "" {
		if err := runFakeNodes(kind); err != nil {
			fmt.Fprintln(os.Stderr, "bench: fake nodes:", err)
			os.Exit(1)
		}
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	only := flag.String("only", "", "measure only figures whose name contains this `text`")
	budget := flag.Duration("time", time.Second, "time to measure each figure")
	check := flag.Bool("check", false, "fail if a figure exceeds its limit")
	profile := flag.String("cpuprofile", "", "write a CPU profile of this process to `file`")
	flag.Parse()
	runtime.GOMAXPROCS(cores)
	if *profile != "" {
		f, err := os.Create(*profile)
		if err == nil {
			err = pprof.StartCPUProfile(f)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			os.Exit(1)
		}
		defer pprof.StopCPUProfile()
	}
	over, wrong, err := run(ctx, os.Stdout, figures(), *only, *budget)
	if err == nil {
		o, w := runEngine(ctx, os.Stdout, *only)
		over, wrong = over+o, wrong+w
	}
	switch {
	case err != nil:
	case wrong > 0:
		err = fmt.Errorf("%d figures got a wrong result", wrong)
	case over > 0 && *check:
		err = fmt.Errorf("%d figures exceed their limits", over)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// run measures and prints. It returns how many figures are over a limit, and how many got a wrong answer.
func run(ctx context.Context, w io.Writer, all []figure, only string, budget time.Duration) (over, wrong int, err error) {
	base, err := measure(budget, func() error { reference(); return nil })
	if err != nil {
		return 0, 0, err
	}
	t := &table{w}
	t.head(base)
	for _, f := range all {
		if !strings.Contains(f.name, only) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return over, wrong, err
		}
		act := f.prepare()
		m, err := measure(budget, func() error {
			ctx, cancel := context.WithTimeout(ctx, actionTimeout)
			defer cancel()
			return act(ctx)
		})
		switch {
		case err != nil:
			t.wrong(f, err)
			wrong++
		case t.row(f, m, base):
			over++
		}
	}
	return over, wrong, nil
}
