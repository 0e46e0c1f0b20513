package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"
)

const usage = `Usage: dev serve [flags]   a server that follows changes of the code; run it in the module's root
       dev clean           delete its clusters and data
       dev generate        write the Go code of changed pages`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "dev:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("dev", flag.ContinueOnError)
	home, err := os.UserHomeDir()
	if err != nil {
		return err
	}
	data := flags.String("data", filepath.Join(home, ".local", "share", "muster-dev"), "data directory")
	port := flags.Int("port", 8420, "port of the portal on 127.0.0.1; the server itself uses the next one")
	flags.Usage = func() { fmt.Fprintln(os.Stderr, usage); flags.PrintDefaults() }
	command := ""
	if len(args) > 0 {
		command, args = args[0], args[1:]
	}
	if err := flags.Parse(args); err != nil {
		return nil //nolint:nilerr // flag has already printed it
	}
	if *port < 1 || *port > 65534 {
		return fmt.Errorf("-port is %d; it has to be from 1 to 65534", *port)
	}
	switch command {
	case "generate":
		return printGenerated()
	case "serve":
		return newServer(*data, *port).serve(ctx)
	case "clean":
		return newServer(*data, *port).clean(ctx)
	}
	flags.Usage()
	return fmt.Errorf("unknown command %q", command)
}

func printGenerated() error {
	begin := time.Now()
	written, err := newTemplates().generateAll()
	for _, name := range written {
		fmt.Println(name)
	}
	if err == nil {
		fmt.Printf("%d pages changed (%.1f s)\n", len(written), time.Since(begin).Seconds())
	}
	return err
}
