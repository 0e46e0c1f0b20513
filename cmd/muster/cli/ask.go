package cli

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
	"muster/app/humanize"
)

// Asks makes a command that asks a server.
func (c *Context) Asks(cmd *cobra.Command, run func(ctx context.Context, cl *Client, args []string) error) *cobra.Command {
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		cl, err := c.Connect()
		if err != nil {
			return err
		}
		return run(cmd.Context(), cl, args)
	}
	c.ServerFlags(cmd.Flags())
	return cmd
}

// Sure asks whether something is really to be done. Where no one can be asked, --yes must be given.
func (c *Context) Sure(yes bool, what string) error {
	if yes {
		return nil
	}
	if !IsTerminal(c.Stdin) {
		return Usagef("deleting needs --yes where there is no terminal to confirm on")
	}
	fmt.Fprintf(c.Stderr, "%s? [y/N] ", what)
	answer, _ := bufio.NewReader(c.Stdin).ReadString('\n') // an end without a word is a no
	if answer = strings.ToLower(strings.TrimSpace(answer)); answer != "y" && answer != "yes" {
		return &app.Error{Code: app.ECancelled, Message: "nothing was done"}
	}
	return nil
}

// Say prints an answer: v for programs, else a line for people.
func (c *Context) Say(v any, format string, args ...any) error {
	if c.JSON() {
		return c.PrintJSON(v)
	}
	_, err := fmt.Fprintf(c.Stdout, format+"\n", args...)
	return err
}

// Since returns how long ago something was, for columns; never where it was not.
func Since(at time.Time) string {
	if at.IsZero() {
		return "never"
	}
	return humanize.Duration(time.Since(at)) + " ago"
}

// Confirm asks the person at the terminal. Anything but a yes is a no, which is an error with the given words.
func (c *Context) Confirm(ctx context.Context, question, no string) error {
	fmt.Fprintf(c.Stderr, "%s [y/N] ", question)
	answered := make(chan string, 1)
	go func() {
		answer, _ := bufio.NewReader(c.Stdin).ReadString('\n') // an end without a word is a no
		answered <- strings.ToLower(strings.TrimSpace(answer))
	}()
	select {
	case answer := <-answered:
		if answer == "y" || answer == "yes" {
			return nil
		}
	case <-ctx.Done(): // reading a terminal cannot be stopped, but the program ends now
		fmt.Fprintln(c.Stderr)
	}
	return &app.Error{Code: app.ECancelled, Message: no}
}

func ReadLimited(file string, most int64) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, most))
}
