package policy

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"muster/app"
	"muster/app/file/yamlfile"
	"muster/app/humanize"
	"muster/app/policy"
	"muster/cmd/muster/cli"

	"github.com/spf13/cobra"
)

func Command(c *cli.Context) *cobra.Command {
	return cli.Family("policy", "Manage and test policies for requests", policyListCommand(c), policyShowCommand(c), policySaveCommand(c),
		policyDeleteCommand(c), policyTryCommand(c), policyZoneCommand(c))
}

func policyListCommand(c *cli.Context) *cobra.Command {
	var words bool
	cmd := &cobra.Command{Use: "list", Aliases: []string{"ls"}, Short: "List policies in order of evaluation", Args: cli.AtMost(0)}
	cmd.Flags().BoolVar(&words, "words", false, "list the variables and functions for expressions instead")
	return c.Asks(cmd, func(ctx context.Context, cl *cli.Client, _ []string) error {
		list, err := cl.Policies.List(ctx)
		if err != nil {
			return err
		}
		if c.JSON() {
			return c.PrintJSON(list)
		}
		if words {
			t := cli.NewTable("NAME", "TYPE", "DESCRIPTION")
			for _, w := range list.Variables {
				t.Add(w.Name, w.Type, w.Text)
			}
			return t.Show(c)
		}
		t := cli.NewTable("ORDER>", "NAME", "EFFECT", "WHEN", "VERSION>", "BY")
		for _, p := range list.Policies {
			effect := string(p.Effect)
			if !p.Enabled {
				effect = "off (" + effect + ")"
			}
			t.Add(strconv.Itoa(p.Order), p.Name, effect, cli.FirstLine(p.When), strconv.Itoa(p.Version), p.SavedBy)
		}
		return t.Show(c)
	})
}

func policyShowCommand(c *cli.Context) *cobra.Command {
	var versions bool
	cmd := &cobra.Command{Use: "show NAME", Short: "Show a policy as JSON", Args: cli.Exactly("NAME")}
	cmd.Flags().BoolVar(&versions, "versions", false, "show all versions, newest first")
	return c.Asks(cmd, func(ctx context.Context, cl *cli.Client, args []string) error {
		all, err := cl.Policies.Versions(ctx, args[0])
		switch {
		case err != nil:
			return err
		case versions:
			return c.PrintJSON(all)
		case len(all) == 0 || all[0].Deleted:
			return app.Errorf(app.ENotFound, "Policy %q doesn't exist.", args[0])
		}
		return c.PrintJSON(all[0])
	})
}

// readPolicy reads a policy from a file, or from stdin for "-".
func readPolicy(c *cli.Context, file string) (p policy.Policy, err error) {
	var b []byte
	if file == "-" {
		b, err = io.ReadAll(io.LimitReader(c.Stdin, 1<<20))
	} else {
		b, err = os.ReadFile(file)
	}
	if err != nil {
		return p, cli.Usagef("%v", err).Hint("Name a YAML or JSON file with a policy, or - for stdin; `muster policy show NAME` prints one.")
	}
	p.Enabled = true
	f := yamlfile.Parse(string(b))
	switch {
	case f.Empty:
		f.Wrong(0, 0, "", "The file is empty.", "")
	case f.Root != nil:
		f.Read(f.Root, &p, "")
	}
	if err := f.Err(file, "policy"); err != nil {
		return p, cli.Usagef("%s", err.Error()).Hint("%s", cmp.Or(app.AsError(err).Hint, "Example:\n  name: small\n  order: 10\n  when: nodes > 10\n  effect: refuse\n  reason: At most 10."))
	}
	p.SavedBy, p.SavedAt, p.Deleted = "", time.Time{}, false
	return p, nil
}

func policySaveCommand(c *cli.Context) *cobra.Command {
	cmd := &cobra.Command{Use: "save FILE", Short: "Create or update a policy from a file", Args: cli.Exactly("FILE"),
		Long: "Create or update a policy from a YAML or JSON file, or from stdin for -. If the file has a version, it must be the current one, so that\n" +
			"you don't overwrite someone else's change. Durations are in nanoseconds."}
	return c.Asks(cmd, func(ctx context.Context, cl *cli.Client, args []string) error {
		p, err := readPolicy(c, args[0])
		if err != nil {
			return err
		}
		if p, err = cl.Policies.Save(ctx, p); err != nil {
			return err
		}
		return c.Say(p, "Saved policy %s as version %d.", p.Name, p.Version)
	})
}

func policyDeleteCommand(c *cli.Context) *cobra.Command {
	cmd := &cobra.Command{Use: "delete NAME", Aliases: []string{"rm"}, Short: "Delete a policy; its versions are kept", Args: cli.Exactly("NAME")}
	return c.Asks(cmd, func(ctx context.Context, cl *cli.Client, args []string) error {
		if err := cl.Policies.Delete(ctx, args[0]); err != nil {
			return err
		}
		return c.Say(map[string]string{"deleted": args[0]}, "Deleted policy %s.", args[0])
	})
}

func policyTryCommand(c *cli.Context) *cobra.Command {
	var t policy.TrialRequest
	cmd := &cobra.Command{Use: "try FILE", Short: "Test a policy against past requests", Args: cli.Exactly("FILE")}
	cmd.Flags().IntVar(&t.Past, "past", 0, "`number` of past requests, newest first, at most 1000 (default 200)")
	return c.Asks(cmd, func(ctx context.Context, cl *cli.Client, args []string) error {
		var err error
		if t.Policy, err = readPolicy(c, args[0]); err != nil {
			return err
		}
		trial, err := cl.Policies.Try(ctx, t)
		if err != nil {
			return err
		}
		if c.JSON() {
			return c.PrintJSON(trial)
		}
		fmt.Fprintf(c.Stdout, "Tested %s: %d would have a different outcome.\n", humanize.Count(trial.Requests, "request"), trial.Otherwise)
		if trial.Partial {
			fmt.Fprintln(c.Stdout, "Testing was cut short by a time limit.")
		}
		if len(trial.Cases) == 0 {
			return nil
		}
		table := cli.NewTable("REQUEST>", "BY", "CLUSTER", "CURRENT", "WITH POLICY")
		for _, k := range trial.Cases {
			table.Add(strconv.FormatInt(k.Request, 10), k.Requester, k.Text, k.Old.Text(), k.New.Text())
		}
		return table.Show(c)
	})
}

func policyZoneCommand(c *cli.Context) *cobra.Command {
	cmd := &cobra.Command{Use: "time-zone [ZONE]", Short: "Show or set the time zone for weekday and hour in policies", Args: cli.AtMost(1)}
	return c.Asks(cmd, func(ctx context.Context, cl *cli.Client, args []string) error {
		var zone string
		if len(args) == 1 {
			zone = args[0]
			if err := cl.Policies.SetZone(ctx, zone); err != nil {
				return err
			}
		} else {
			list, err := cl.Policies.List(ctx)
			if err != nil {
				return err
			}
			zone = list.TimeZone
		}
		return c.Say(map[string]string{"time_zone": zone}, "%s", zone)
	})
}
