package catalog

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"strings"
	"time"

	"muster/app/catalog"
	"muster/app/humanize"
	"muster/app/template"
	"muster/cmd/muster/cli"

	"github.com/spf13/cobra"
)

// TemplateCommand shows the server's templates.
func TemplateCommand(c *cli.Context) *cobra.Command {
	list := c.Asks(&cobra.Command{
		Use: "list", Short: "List templates", Args: cli.AtMost(0),
	}, func(ctx context.Context, cl *cli.Client, _ []string) error {
		all, err := cl.Templates.List(ctx)
		if err != nil {
			return err
		}
		if c.JSON() {
			return c.PrintJSON(map[string][]*template.Template{"templates": all})
		}
		t := cli.NewTable("NAME", "STATE", "SIZE", "SERVICES", "DESCRIPTION")
		for _, x := range all {
			about := cmp.Or(x.Label, x.Description)
			if x.ReplacedBy != "" {
				about = "use " + x.ReplacedBy + " instead"
			}
			t.Add(x.Name, string(x.InState()), sizeText(x.Constraints.Size), strings.Join(x.Defaults.Services, ","), about)
		}
		return t.Show(c)
	})
	show := c.Asks(&cobra.Command{
		Use: "show NAME", Short: "Show a resolved template and its parameters", Args: cli.Exactly("NAME"),
	}, func(ctx context.Context, cl *cli.Client, args []string) error {
		v, err := cl.Templates.Get(ctx, args[0])
		if err != nil {
			return err
		}
		if c.JSON() {
			return c.PrintJSON(v)
		}
		return printTemplate(c.Stdout, v)
	})
	return cli.Family("template", "Show templates and their versions", list, show, templateVersionsCommand(c), templateDiffCommand(c))
}

func templateVersionsCommand(c *cli.Context) *cobra.Command {
	return c.Asks(&cobra.Command{
		Use: "versions NAME", Short: "List the versions of a template, newest first", Args: cli.Exactly("NAME"),
	}, func(ctx context.Context, cl *cli.Client, args []string) error {
		all, err := cl.Templates.Versions(ctx, args[0])
		if err != nil {
			return err
		}
		if c.JSON() {
			return c.PrintJSON(map[string][]catalog.TemplateVersion{"versions": all})
		}
		t := cli.NewTable("NUMBER>", "PUBLISHED>", "STATE", "VERSION", "CURRENT")
		for _, v := range all {
			current := ""
			if v.Current {
				current = "yes"
			}
			t.Add(strconv.Itoa(v.Number), humanize.Ago(time.Now(), v.At), string(v.Template.InState()), v.Template.Version, current)
		}
		return t.Show(c)
	})
}

func templateDiffCommand(c *cli.Context) *cobra.Command {
	return c.Asks(&cobra.Command{
		Use: "diff NAME [FROM [TO]]", Short: "Compare two versions of a template",
		Long: "Compare two versions of a template. FROM defaults to the previous version, TO to the latest.",
		Args: cobra.RangeArgs(1, 3), Example: "  muster template diff web 2 3",
	}, func(ctx context.Context, cl *cli.Client, args []string) error {
		q := url.Values{}
		for i, key := range []string{"from", "to"} {
			if len(args) > i+1 {
				if n, err := strconv.Atoi(args[i+1]); err != nil || n < 1 {
					return cli.Usagef("%q isn't a version number", args[i+1]).Hint("List the versions: muster template versions %s", args[0])
				}
				q.Set(key, args[i+1])
			}
		}
		d, err := cl.Templates.Diff(ctx, args[0], q)
		if err != nil {
			return err
		}
		if c.JSON() {
			return c.PrintJSON(d)
		}
		fmt.Fprintf(c.Stdout, "%s, from version %d to %d:\n", d.Name, d.From, d.To)
		if len(d.Changes) == 0 {
			fmt.Fprintln(c.Stdout, "  no differences")
		}
		for _, ch := range d.Changes {
			switch {
			case ch.Before == "":
				fmt.Fprintf(c.Stdout, "+ %s: %s\n", ch.Path, ch.After)
			case ch.After == "":
				fmt.Fprintf(c.Stdout, "- %s: %s\n", ch.Path, ch.Before)
			default:
				fmt.Fprintf(c.Stdout, "~ %s: %s -> %s\n", ch.Path, ch.Before, ch.After)
			}
		}
		return nil
	})
}

func printParameters(w io.Writer, list []template.Parameter) error {
	fmt.Fprint(w, "\nParameters (set with --set NAME=VALUE):\n")
	t := cli.NewTable("NAME", "TYPE", "DEFAULT", "VALUES", "DESCRIPTION")
	for _, p := range list {
		standard := ""
		switch {
		case p.Default != nil:
			standard = fmt.Sprint(p.Default)
		case p.Required:
			standard = "(required)"
		}
		t.Add(p.Name, string(p.Type), standard, strings.TrimSuffix(p.Hint(), "."), cmp.Or(p.Help, p.Label))
	}
	return t.Write(w)
}

// printTemplate prints a template.
func printTemplate(w io.Writer, v catalog.TemplateView) error {
	head := v.Name
	if v.Number > 0 {
		head += fmt.Sprintf(", version %d", v.Number)
	}
	if v.Version != "" {
		head += fmt.Sprintf(" (%s)", v.Version)
	}
	if v.Partial {
		head += ", only for use in other templates"
	}
	fmt.Fprintf(w, "%s, %s\n", head, v.InState())
	for _, line := range append([]string{v.Description}, v.Warnings...) {
		if line != "" {
			fmt.Fprintln(w, line)
		}
	}
	if len(v.Parameters) > 0 {
		if err := printParameters(w, v.Parameters); err != nil {
			return err
		}
	}
	fmt.Fprintln(w)
	t := cli.NewTable("FIELD", "VALUE", "SOURCE")
	for _, p := range v.Parts {
		t.Add(p.Path, p.Value, strings.TrimSpace(p.From+" "+p.At))
	}
	return t.Write(w)
}

func sizeText(s template.SizeRange) string {
	switch {
	case len(s.OneOf) > 0:
		return strings.Trim(strings.ReplaceAll(fmt.Sprint(s.OneOf), " ", ","), "[]")
	case s.Max >= template.Unlimited || s.Max == 0:
		return fmt.Sprintf("%d+", max(s.Min, 1))
	case s.Min == s.Max:
		return strconv.Itoa(s.Min)
	}
	return fmt.Sprintf("%d-%d", s.Min, s.Max)
}
