package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"muster/app"
)

// asks makes a command that asks a server.
func (c *cli) asks(cmd *cobra.Command, run func(ctx context.Context, cl *client, args []string) error) *cobra.Command {
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		cl, err := c.connect()
		if err != nil {
			return err
		}
		return run(cmd.Context(), cl, args)
	}
	c.serverFlags(cmd.Flags())
	return cmd
}

// sure asks whether something is really to be done. Where nobody can be asked, --yes must be given.
func (c *cli) sure(yes bool, what string) error {
	if yes {
		return nil
	}
	if !isTerminal(c.stdin) {
		return usagef("deleting needs --yes where there is no terminal to confirm on")
	}
	fmt.Fprintf(c.stderr, "%s? [y/N] ", what)
	answer, _ := bufio.NewReader(c.stdin).ReadString('\n') // an end without a word is a no
	if answer = strings.ToLower(strings.TrimSpace(answer)); answer != "y" && answer != "yes" {
		return &app.Error{Code: app.ECancelled, Message: "nothing was done"}
	}
	return nil
}

// say prints an answer: v for programs, else a line for people.
func (c *cli) say(v any, format string, args ...any) error {
	if c.json() {
		return c.printJSON(v)
	}
	_, err := fmt.Fprintf(c.stdout, format+"\n", args...)
	return err
}

// since gives how long ago something was, for columns; never where it was not.
func since(at time.Time) string {
	if at.IsZero() {
		return "never"
	}
	return span(time.Since(at)) + " ago"
}

// confirm asks the person at the terminal. Anything but a yes is a no, which is an error with the given words.
func (c *cli) confirm(ctx context.Context, question, no string) error {
	fmt.Fprintf(c.stderr, "%s [y/N] ", question)
	answered := make(chan string, 1)
	go func() {
		answer, _ := bufio.NewReader(c.stdin).ReadString('\n') // an end without a word is a no
		answered <- strings.ToLower(strings.TrimSpace(answer))
	}()
	select {
	case answer := <-answered:
		if answer == "y" || answer == "yes" {
			return nil
		}
	case <-ctx.Done(): // reading a terminal cannot be stopped, but the program ends now
		fmt.Fprintln(c.stderr)
	}
	return &app.Error{Code: app.ECancelled, Message: no}
}

func readLimited(file string, most int64) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, most))
}
