package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	// The first signal asks everything to end well; a second one finds the default handler again and ends it at once.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	defaultHangup()
	os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run carries out one command line and gives the exit code. It never calls os.Exit, so that tests can call it.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	c := &cli{stdin: stdin, stdout: stdout, stderr: stderr, patience: serverPatience}
	return execute(ctx, c, args)
}

func execute(ctx context.Context, c *cli, args []string) int {
	stdout, stderr := newVisible(c.stdout), newVisible(c.stderr)
	defer stdout.flush()
	defer stderr.flush()
	c.stdout, c.stderr = stdout, stderr
	root := rootCommand(c)
	root.SetArgs(args)
	root.SetIn(c.stdin)
	root.SetOut(c.stdout)
	root.SetErr(c.stderr)
	return c.exit(root.ExecuteContext(ctx))
}

// defaultHangup lets the programs that we start end by SIGHUP, also where nohup had us ignore it, which they would do as well.
func defaultHangup() {
	if signal.Ignored(syscall.SIGHUP) {
		signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	}
}
