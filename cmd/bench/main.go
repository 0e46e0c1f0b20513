package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"runtime/pprof"
	"slices"
	"time"
)

// cores is for how many the limits are meant.
const cores = 2

func main() {
	if began, err := runChild(); began {
		if err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			os.Exit(1)
		}
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := command(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// runChild makes this process one of the other ends, if it was started as such.
func runChild() (began bool, err error) {
	if os.Getenv(readersVariable) != "" {
		return true, runReaders()
	}
	if kind := os.Getenv(fakeNodesVariable); kind != "" {
		return true, runFakeNodes(kind)
	}
	if config := os.Getenv(serverVariable); config != "" {
		return true, runServer(config)
	}
	return false, nil
}

func command(ctx context.Context) (err error) {
	b := &bench{sizes: full, out: os.Stdout}
	only := flag.String("only", "", "measure only scenarios whose names contain this `text`")
	flag.DurationVar(&b.budget, "time", time.Second, "time to measure what is short")
	flag.IntVar(&b.runs, "runs", 5, "how often to measure what has a reference, in turn with it")
	flag.BoolVar(&b.alone, "alone", false, "don't measure references")
	quick := flag.Bool("short", false, "small sizes without limits, to see whether everything works")
	check := flag.Bool("check", false, "fail if a figure exceeds its limit")
	file := flag.String("json", "", "write all figures to `file`, one per line, after a line about this machine")
	base := flag.String("base", "", "compare with the bench at this `commit`, in turn")
	profile := flag.String("cpuprofile", "", "write a CPU profile of this process to `file`")
	flag.Parse()
	runtime.GOMAXPROCS(cores)
	if *quick {
		b.sizes = short
	}
	if b.runs < 1 {
		return errors.New("-runs must be at least 1")
	}
	if *base != "" {
		self, err := os.Executable()
		if err != nil {
			return err
		}
		return comparison{base: *base, self: self, runs: b.runs, out: os.Stdout,
			args: []string{"-only", *only, "-time", b.budget.String(), fmt.Sprintf("-short=%t", *quick)}}.run(ctx)
	}
	if *profile != "" {
		f, err := os.Create(*profile)
		if err == nil {
			err = pprof.StartCPUProfile(f)
		}
		if err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	if *file != "" {
		f, err := os.Create(*file)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, f.Close()) }()
		b.record = json.NewEncoder(f)
		if err := b.record.Encode(describeMachine(ctx, b.runs)); err != nil {
			return err
		}
	}
	wrong := b.run(ctx, slices.Concat(solverScenarios(), engineScenarios, portalScenarios), *only)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case wrong > 0:
		return fmt.Errorf("%d scenarios failed", wrong)
	case b.over > 0 && *check:
		return fmt.Errorf("%d figures exceed their limits", b.over)
	}
	return nil
}
