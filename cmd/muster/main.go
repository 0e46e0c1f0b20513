package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"

	"muster/cmd/muster/cli"
)

func main() {
	// The first signal starts a graceful shutdown; a second one reaches the default handler and ends the process at once.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	defaultHangup()
	os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run executes one command line and returns the exit code. It never calls os.Exit, so that tests can call it.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	c := &cli.Context{Stdin: stdin, Stdout: stdout, Stderr: stderr, RetryTime: cli.DefaultRetryTime}
	return execute(ctx, c, args)
}

func execute(ctx context.Context, c *cli.Context, args []string) int {
	stdout, stderr := cli.NewVisible(c.Stdout), cli.NewVisible(c.Stderr)
	defer stdout.Flush()
	defer stderr.Flush()
	c.Stdout, c.Stderr = stdout, stderr
	root := rootCommand(c)
	root.SetArgs(args)
	root.SetIn(c.Stdin)
	root.SetOut(c.Stdout)
	root.SetErr(c.Stderr)
	return c.Exit(root.ExecuteContext(ctx))
}

// defaultHangup lets child processes end on SIGHUP even if nohup had us ignore it, which they would inherit.
func defaultHangup() {
	if signal.Ignored(syscall.SIGHUP) {
		signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	}
}
