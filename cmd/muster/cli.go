package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"muster/app"
)

// cli is what every command shares: the three streams and the flags that stand on the root.
type cli struct {
	stdin          io.Reader
	stdout, stderr io.Writer

	format string // text, json, or one more that the command itself allows
	server string
	token  string
	ca     string
	tenant string // in which a superadmin acts; "": its own
	data   string

	color       string // auto, always or never
	wide        bool   // tables are not cut to the window
	profileName string // what --profile says
	hurry       bool   // in tests: do not wait between two looks for the answer to a sign-in or a request
	printed     bool   // a JSON document is on stdout already

	patience time.Duration // how long to bear with a server that does not answer while watching
}

// annotationFormats names a command's own values of --format, besides text and json, separated by spaces.
const annotationFormats = "muster-formats"

// checkFormat refuses a --format that the command cannot give.
func (c *cli) checkFormat(cmd *cobra.Command) error {
	known := append([]string{"text", "json"}, strings.Fields(cmd.Annotations[annotationFormats])...)
	if slices.Contains(known, c.format) {
		return nil
	}
	asked := c.format
	c.format = "text"
	return usagef("--format %s is not known to `%s`", asked, cmd.CommandPath()).hint("Use one of: %s.", strings.Join(known, ", "))
}

// json tells whether the answer shall be JSON.
func (c *cli) json() bool { return c.format == "json" }

// family makes a command that only holds others: alone it shows its help, and an unknown word is wrong usage.
func family(use, short string, members ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{
		Use:   use,
		Short: short,
		Args:  unknownCommand,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },

		SuggestionsMinimumDistance: 2,
	}
	cmd.AddCommand(members...)
	return cmd
}

// unknownCommand refuses any argument of a command that has only subcommands, with the nearest name.
func unknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	err := usagef("unknown command %q for %q", args[0], cmd.CommandPath())
	if of := memberOf(cmd, args[0]); of != nil {
		return err.hint("Did you mean `%s`?", of.CommandPath())
	}
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		return err.hint("Did you mean `%s %s`?", cmd.CommandPath(), near[0])
	}
	return err.hint("See `%s --help`.", cmd.CommandPath())
}

// memberOf finds a command by its name in the families below another, those of clusters first, since most is about them: "muster create"
// means "muster cluster create". Nil where there is none.
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

// exactly asks for n arguments, each named for the message.
func exactly(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < len(names) {
			return usagef("%s is missing", names[len(args)]).hint("Usage: %s", cmd.UseLine())
		}
		return atMost(len(names))(cmd, args)
	}
}

// atMost allows up to n arguments.
func atMost(n int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > n {
			return usagef("%q is one argument too many", args[n]).hint("Usage: %s", cmd.UseLine())
		}
		return nil
	}
}

// need refuses to go on without the named flags.
func need(cmd *cobra.Command, names ...string) error {
	for _, name := range names {
		if !cmd.Flags().Changed(name) {
			return usagef("--%s is missing", name).hint("Usage: %s; see `%s --help`.", cmd.UseLine(), cmd.CommandPath())
		}
	}
	return nil
}

// tagFlag is --tag NAME=VALUE, repeated.
type tagFlag map[string]string

// String implements pflag.Value.
func (t *tagFlag) String() string {
	if len(*t) == 0 {
		return ""
	}
	return app.TagText(*t)
}

// Type implements pflag.Value.
func (t *tagFlag) Type() string { return "NAME=VALUE" }

// Set implements pflag.Value.
func (t *tagFlag) Set(text string) error {
	name, value, ok := strings.Cut(text, "=")
	if !ok {
		return fmt.Errorf("a tag is NAME=VALUE, not %q", text)
	}
	if *t == nil {
		*t = tagFlag{}
	}
	if had, twice := (*t)[name]; twice && had != value {
		return fmt.Errorf("the tag %s is given twice", name)
	}
	(*t)[name] = value
	return app.CheckTags(*t)
}
