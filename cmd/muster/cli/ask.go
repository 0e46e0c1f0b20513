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

// Asks makes a command run against a server.
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

// Sure asks for confirmation, as in "Delete it". Without a terminal, --yes is required.
func (c *Context) Sure(yes bool, what string) error {
	if yes {
		return nil
	}
	if !IsTerminal(c.Stdin) {
		return Usagef("--yes is required without a terminal to confirm on")
	}
	fmt.Fprintf(c.Stderr, "%s? [y/N] ", what)
	answer, _ := bufio.NewReader(c.Stdin).ReadString('\n') // no answer is a no
	if answer = strings.ToLower(strings.TrimSpace(answer)); answer != "y" && answer != "yes" {
		return &app.Error{Code: app.ECancelled, Message: "cancelled; nothing was changed"}
	}
	return nil
}

// Say prints a result: v as JSON, or a line of text.
func (c *Context) Say(v any, format string, args ...any) error {
	if c.JSON() {
		return c.PrintJSON(v)
	}
	_, err := fmt.Fprintf(c.Stdout, format+"\n", args...)
	return err
}

// Since formats a time for columns, as its age; "never" for the zero time.
func Since(at time.Time) string {
	if at.IsZero() {
		return "never"
	}
	return humanize.Ago(time.Now(), at)
}

// Confirm asks the person at the terminal. Anything but a yes is an error with the given message.
func (c *Context) Confirm(ctx context.Context, question, no string) error {
	fmt.Fprintf(c.Stderr, "%s [y/N] ", question)
	answered := make(chan string, 1)
	go func() {
		answer, _ := bufio.NewReader(c.Stdin).ReadString('\n') // no answer is a no
		answered <- strings.ToLower(strings.TrimSpace(answer))
	}()
	select {
	case answer := <-answered:
		if answer == "y" || answer == "yes" {
			return nil
		}
	case <-ctx.Done(): // a read from a terminal can't be interrupted, but the program ends now
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
