package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"muster/app"
	"muster/app/fleet"
)

// Context is what all commands share: the three streams and the root command's flags.
type Context struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer

	Format string // text, json, or another one that the command allows
	Server string
	Token  string
	CA     string
	tenant string // tenant a superadmin acts in; "": the superadmin's own
	Data   string

	Color       string // auto, always or never
	Wide        bool   // tables aren't fitted to the terminal
	ProfileName string // the value of --profile
	NoPause     bool   // in tests: no pause between polls for a sign-in or a request
	Printed     bool   // a JSON document was written to stdout

	RetryTime time.Duration // how long to tolerate an unreachable server while watching
}

// AnnotationFormats names a command's own values of --format, besides text and json, separated by spaces.
const AnnotationFormats = "muster-formats"

// CheckFormat rejects a --format that the command doesn't support.
func (c *Context) CheckFormat(cmd *cobra.Command) error {
	known := append([]string{"text", "json"}, strings.Fields(cmd.Annotations[AnnotationFormats])...)
	if slices.Contains(known, c.Format) {
		return nil
	}
	asked := c.Format
	c.Format = "text"
	return Usagef("`%[2]s` doesn't support --format %[1]s", asked, cmd.CommandPath()).Hint("Choose one of: %s.", strings.Join(known, ", "))
}

// JSON reports whether the output format is JSON.
func (c *Context) JSON() bool { return c.Format == "json" }

// Family makes a command that only groups others: alone it shows its help, and an unknown subcommand is a usage error.
func Family(use, short string, members ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{
		Use:   use,
		Short: short,
		Args:  UnknownCommand,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },

		SuggestionsMinimumDistance: 2,
	}
	cmd.AddCommand(members...)
	return cmd
}

// UnknownCommand rejects any argument of a command that has only subcommands, and suggests the nearest name.
func UnknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	err := Usagef("unknown command %q for %q", args[0], cmd.CommandPath())
	if of := memberOf(cmd, args[0]); of != nil {
		return err.Hint("Did you mean `%s`?", of.CommandPath())
	}
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		return err.Hint("Did you mean `%s %s`?", cmd.CommandPath(), near[0])
	}
	return err.Hint("See `%s --help`.", cmd.CommandPath())
}

// memberOf finds a command by name in the families below another, cluster first as the most used one: "muster create" means
// "muster cluster create". Nil if none matches.
func memberOf(cmd *cobra.Command, name string) (found *cobra.Command) {
	for _, family := range cmd.Commands() {
		for _, c := range family.Commands() {
			if (c.Name() == name || c.HasAlias(name)) && !c.Hidden && (found == nil || family.Name() == "cluster") {
				found = c
			}
		}
	}
	return found
}

// Exactly requires n arguments, each named for the message.
func Exactly(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < len(names) {
			return Usagef("%s is required", names[len(args)]).Hint("Usage: %s", cmd.UseLine())
		}
		return AtMost(len(names))(cmd, args)
	}
}

// AtMost allows up to n arguments.
func AtMost(n int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > n {
			return Usagef("unexpected argument %q", args[n]).Hint("Usage: %s", cmd.UseLine())
		}
		return nil
	}
}

// Need requires the named flags.
func Need(cmd *cobra.Command, names ...string) error {
	for _, name := range names {
		if !cmd.Flags().Changed(name) {
			return Usagef("--%s is required", name).Hint("Usage: %s; see `%s --help`.", cmd.UseLine(), cmd.CommandPath())
		}
	}
	return nil
}

// TagFlag is --tag NAME=VALUE, repeated.
type TagFlag map[string]string

func (t *TagFlag) String() string {
	if len(*t) == 0 {
		return ""
	}
	return app.TagText(*t)
}

func (t *TagFlag) Type() string { return "NAME=VALUE" }

func (t *TagFlag) Set(text string) error {
	name, value, ok := strings.Cut(text, "=")
	if !ok {
		return fmt.Errorf("%q isn't NAME=VALUE", text)
	}
	if *t == nil {
		*t = TagFlag{}
	}
	if had, twice := (*t)[name]; twice && had != value {
		return fmt.Errorf("tag %s is set twice", name)
	}
	(*t)[name] = value
	return fleet.CheckTags(*t)
}
