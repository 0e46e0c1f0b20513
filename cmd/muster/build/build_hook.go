package build

import (
	"cmp"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"muster/app/build"
	"muster/app/file/spec"
	"muster/app/humanize"
	"muster/cmd/muster/cli"
	"muster/cmd/muster/webhook"
	"muster/portal/address"

	"github.com/spf13/cobra"
)

func buildHooksCommand(c *cli.Context) *cobra.Command {
	return &cobra.Command{Use: "hooks", Short: "List build hooks and the supported build systems", Args: cli.AtMost(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			cl, err := c.Connect()
			if err != nil {
				return err
			}
			all, err := cl.BuildHooks.List(cmd.Context())
			if err != nil {
				return err
			}
			if c.JSON() {
				return c.PrintJSON(all)
			}
			t := cli.NewTable("NAME", "SYSTEM", "OWNER", "RULES>", "BUILDS>", "LAST DELIVERY", "PATH", "")
			now := time.Now()
			for _, h := range all.Hooks {
				last := "-"
				if !h.LastDeliveryAt.IsZero() {
					last = humanize.Ago(now, h.LastDeliveryAt)
				}
				words := h.Problem
				if !h.Enabled {
					words = "off"
				}
				t.Add(h.Name, h.System, h.Owner, strconv.Itoa(len(h.Rules)), strconv.Itoa(h.Active), last, address.BuildHook(h.ID), words)
			}
			if len(all.Hooks) == 0 {
				fmt.Fprintln(c.Stdout, "No build hooks. Create one: muster build hook save NAME --system SYSTEM")
			} else if err := t.Show(c); err != nil {
				return err
			}
			var names []string
			for _, s := range all.Systems {
				names = append(names, s.Name)
			}
			_, err = fmt.Fprintf(c.Stdout, "Build systems: %s\n", cmp.Or(strings.Join(names, ", "), "none"))
			return err
		}}
}

func buildHookCommand(c *cli.Context) *cobra.Command {
	return cli.Family("hook", "Create, show, update and delete build hooks", buildHookSaveCommand(c), buildHookShowCommand(c), buildHookDeleteCommand(c))
}

func buildHookSaveCommand(c *cli.Context) *cobra.Command {
	var (
		system, owner, rulesFile, secretFile string
		statusFile, statusAPI                string
		rotate, on, off                      bool
	)
	cmd := &cobra.Command{Use: "save NAME", Short: "Create or update a build hook",
		Long:    "Create a build hook, or update the existing one of that name; settings you omit stay as they are. The secret of a new hook is printed\nonce, unless the build system generates it.",
		Example: "  muster build hook save web --system github --owner ci --rules rules.yaml\n  muster build hook save web --rotate\n  muster build hook save web --status-token-file token",
		Args:    cli.Exactly("NAME"),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			r := build.BuildHookRequest{Name: args[0], System: system, Rotate: rotate}
			if on && off {
				return cli.Usagef("--on and --off can't be combined")
			}
			if on || off {
				r.Enabled = &on
			}
			if cmd.Flags().Changed("owner") {
				r.Owner = &owner
			}
			if secretFile != "" {
				if r.Secret, err = webhook.ReadWord(c, secretFile, "secret-file"); err != nil {
					return err
				}
			}
			if cmd.Flags().Changed("status-token-file") {
				token := ""
				if statusFile != "" {
					if token, err = webhook.ReadWord(c, statusFile, "status-token-file"); err != nil {
						return err
					}
				}
				r.StatusToken = &token
			}
			if cmd.Flags().Changed("status-api") {
				r.StatusAPI = &statusAPI
			}
			if rulesFile != "" {
				rules, err := readBuildRules(c, rulesFile)
				if err != nil {
					return err
				}
				r.Rules = &rules
			}
			cl, err := c.Connect()
			if err != nil {
				return err
			}
			s, err := cl.BuildHooks.Save(cmd.Context(), r)
			if err != nil {
				return err
			}
			if c.JSON() {
				return c.PrintJSON(s)
			}
			word := "updated"
			if s.Created {
				word = "created"
			}
			fmt.Fprintf(c.Stdout, "Build hook %s %s. Send deliveries to %s%s\n", s.Name, word, cl.Settings().URL, address.BuildHook(s.ID))
			if s.Secret != "" {
				fmt.Fprintf(c.Stdout, "Secret: %s  (shown only once)\n", s.Secret)
			}
			for _, w := range s.Warnings {
				fmt.Fprintln(c.Stderr, "Warning: "+w)
			}
			return nil
		}}
	flags := cmd.Flags()
	flags.StringVar(&system, "system", "", "build `system` that sends the deliveries; see muster build hooks")
	flags.StringVar(&owner, "owner", "", "`user` the hook acts as (default: you)")
	flags.StringVar(&rulesFile, "rules", "", "rules `file`, or - for stdin")
	flags.StringVar(&secretFile, "secret-file", "", "`file` with the secret, if the build system generates it, or - for stdin")
	flags.StringVar(&statusFile, "status-token-file", "", "`file` with a GitHub or GitLab token that can write commit statuses, or - for stdin; \"\" turns commit statuses off")
	flags.StringVar(&statusAPI, "status-api", "", "`URL` of the API for commit statuses (default: the build system's public API)")
	flags.BoolVar(&rotate, "rotate", false, "generate a new secret; the old one stays valid for a day")
	flags.BoolVar(&on, "on", false, "turn the hook on")
	flags.BoolVar(&off, "off", false, "turn the hook off: builds can end, but none start")
	return cmd
}

func buildHookShowCommand(c *cli.Context) *cobra.Command {
	return &cobra.Command{Use: "show NAME", Short: "Show a build hook and its rules", Args: cli.Exactly("NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			cl, err := c.Connect()
			if err != nil {
				return err
			}
			h, err := cl.BuildHooks.Get(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if c.JSON() {
				return c.PrintJSON(h)
			}
			fmt.Fprintf(c.Stdout, "Build hook %s for %s, acting as %s: %s%s\n", h.Name, h.System, h.Owner, cl.Settings().URL, address.BuildHook(h.ID))
			for _, words := range []string{h.Problem, h.Refused} {
				if words != "" {
					fmt.Fprintln(c.Stdout, "! "+words)
				}
			}
			for _, w := range h.Warnings {
				fmt.Fprintln(c.Stdout, "Warning: "+w)
			}
			if h.Statuses {
				fmt.Fprintf(c.Stdout, "Commit statuses: on%s\n", map[bool]string{true: "", false: ", at " + h.StatusAPI}[h.StatusAPI == ""])
			}
			text, err := spec.BuildRules(h.Rules)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(c.Stdout, "\n%s", text)
			return err
		}}
}

func buildHookDeleteCommand(c *cli.Context) *cobra.Command {
	var yes bool
	cmd := &cobra.Command{Use: "delete NAME", Short: "Delete a build hook and the clusters of its builds", Args: cli.Exactly("NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !yes && !cli.IsTerminal(c.Stdin) {
				return cli.Usagef("--yes is required without a terminal to confirm on")
			}
			cl, err := c.Connect()
			if err != nil {
				return err
			}
			if !yes {
				if err := c.Confirm(cmd.Context(), "Delete build hook "+args[0]+" and the clusters of its builds?", "build hook "+args[0]+" was not deleted"); err != nil {
					return err
				}
			}
			if err := cl.BuildHooks.Delete(cmd.Context(), args[0]); err != nil {
				return err
			}
			if c.JSON() {
				return c.PrintJSON(map[string]string{"deleted": args[0]})
			}
			_, err = fmt.Fprintf(c.Stdout, "Build hook %s deleted.\n", args[0])
			return err
		}}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "skip the confirmation prompt")
	return cmd
}

// readBuildRules reads a rules file; - is standard input.
func readBuildRules(c *cli.Context, file string) ([]build.Rule, error) {
	var b []byte
	var err error
	if file == "-" {
		b, err = io.ReadAll(io.LimitReader(c.Stdin, 1<<20))
	} else {
		b, err = cli.ReadLimited(file, 1<<20)
	}
	if err != nil {
		return nil, cli.Usagef("%v", err).Hint("Name a YAML file with rules, or - for stdin; `muster build hook show NAME` prints the current rules.")
	}
	return spec.ReadBuildRulesOf(file, b)
}

func buildRulesCommand(c *cli.Context) *cobra.Command {
	return cli.Family("rules", "Update and test the rules of a build hook", buildRulesApplyCommand(c), buildRulesTryCommand(c))
}

func buildRulesApplyCommand(c *cli.Context) *cobra.Command {
	var file string
	cmd := &cobra.Command{Use: "apply NAME", Short: "Replace the rules of a build hook", Args: cli.Exactly("NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			rules, err := readBuildRules(c, file)
			if err != nil {
				return err
			}
			cl, err := c.Connect()
			if err != nil {
				return err
			}
			h, err := cl.BuildHooks.SetRules(cmd.Context(), args[0], rules)
			if err != nil {
				return err
			}
			if c.JSON() {
				return c.PrintJSON(h)
			}
			_, err = fmt.Fprintf(c.Stdout, "Build hook %s now has %s.\n", h.Name, humanize.Count(len(h.Rules), "rule"))
			return err
		}}
	cmd.Flags().StringVarP(&file, "file", "f", "-", "rules `file`, or - for stdin")
	return cmd
}

func buildRulesTryCommand(c *cli.Context) *cobra.Command {
	var file string
	cmd := &cobra.Command{Use: "try NAME DELIVERY", Short: "Test rules against a recorded delivery, without acting on it", Args: cli.Exactly("NAME", "DELIVERY"),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := webhook.DeliveryNumber(args[1])
			if err != nil {
				return err
			}
			trial := build.Trial{Delivery: id}
			if file != "" {
				rules, err := readBuildRules(c, file)
				if err != nil {
					return err
				}
				trial.Rules = &rules
			}
			cl, err := c.Connect()
			if err != nil {
				return err
			}
			out, err := cl.BuildHooks.Try(cmd.Context(), args[0], trial)
			if err != nil {
				return err
			}
			if c.JSON() {
				return c.PrintJSON(out)
			}
			for _, l := range out.Rules {
				word := "does not match"
				if l.Matched {
					word = "matches"
				}
				fmt.Fprintln(c.Stdout, strings.TrimSpace(fmt.Sprintf("%s %s. %s", l.Rule, word, l.Message)))
			}
			fmt.Fprintf(c.Stdout, "Would do: %s\n", out.Action)
			if out.Key != "" {
				fmt.Fprintf(c.Stdout, "Key: %s\n", out.Key)
			}
			if len(out.Ends) > 0 {
				fmt.Fprintf(c.Stdout, "Ends: %s\n", strings.Join(out.Ends, ", "))
			}
			if out.Ask != nil {
				size := "default size"
				if out.Ask.Size > 0 {
					size = humanize.Count(out.Ask.Size, "node")
				}
				fmt.Fprintf(c.Stdout, "Template %s, %s, lease %s\n", out.Ask.Template, size, humanize.Duration(out.Ask.Lease))
			}
			if out.Callback != "" {
				fmt.Fprintf(c.Stdout, "Callback: %s\n", out.Callback)
			}
			if out.NoCallback != "" {
				fmt.Fprintln(c.Stdout, out.NoCallback)
			}
			if words := cmp.Or(out.Refuse, out.Message); words != "" {
				fmt.Fprintln(c.Stdout, words)
			}
			return nil
		}}
	cmd.Flags().StringVarP(&file, "file", "f", "", "rules `file` to test instead of the hook's rules, or - for stdin")
	return cmd
}

func buildDeliveriesCommand(c *cli.Context) *cobra.Command {
	var before int64
	var limit int
	cmd := &cobra.Command{Use: "deliveries NAME [NUMBER]", Short: "List deliveries to a build hook, or show one with its body", Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			cl, err := c.Connect()
			if err != nil {
				return err
			}
			if len(args) == 2 {
				id, err := webhook.DeliveryNumber(args[1])
				if err != nil {
					return err
				}
				d, err := cl.BuildHooks.Delivery(cmd.Context(), args[0], id)
				if err != nil {
					return err
				}
				if c.JSON() {
					return c.PrintJSON(d)
				}
				_, err = fmt.Fprintf(c.Stdout, "%s %s %s: %s. %s\n\n%s\n", d.At.Format(time.RFC3339), d.Event, d.Action, d.Outcome, d.Message, d.Body)
				return err
			}
			if limit < 1 || limit > build.MaxBuildPage {
				return cli.Usagef("--limit must be from 1 to %d, not %d", build.MaxBuildPage, limit)
			}
			list, next, err := cl.BuildHooks.Deliveries(cmd.Context(), args[0], before, limit)
			if err != nil {
				return err
			}
			if c.JSON() {
				return c.PrintJSON(map[string]any{"deliveries": list, "next": next})
			}
			if len(list) == 0 {
				_, err := fmt.Fprintln(c.Stdout, "No deliveries.")
				return err
			}
			now := time.Now()
			t := cli.NewTable("NUMBER>", "EVENT", "OUTCOME", "RULE", "BUILD", "AGE>", "DETAILS")
			for _, d := range list {
				t.Add(strconv.FormatInt(d.ID, 10), strings.TrimSpace(d.Event+" "+d.Action), string(d.Outcome), cmp.Or(d.Rule, "-"), cmp.Or(d.Build, "-"), humanize.Duration(now.Sub(d.At)), d.Message)
			}
			if err := t.Show(c); err != nil || next == 0 {
				return err
			}
			_, err = fmt.Fprintf(c.Stderr, "Older deliveries: --before %d\n", next)
			return err
		}}
	cmd.Flags().Int64Var(&before, "before", 0, "only deliveries before this `number`")
	cmd.Flags().IntVar(&limit, "limit", 50, "maximum `number` of deliveries")
	return cmd
}

func buildReplayCommand(c *cli.Context) *cobra.Command {
	return &cobra.Command{Use: "replay NAME NUMBER", Short: "Replay a delivery with the current rules", Args: cli.Exactly("NAME", "NUMBER"),
		Long: "Replay a delivery with the current rules. A build that already has a cluster doesn't get another one.",
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := webhook.DeliveryNumber(args[1])
			if err != nil {
				return err
			}
			cl, err := c.Connect()
			if err != nil {
				return err
			}
			d, err := cl.BuildHooks.Replay(cmd.Context(), args[0], id)
			if err != nil {
				return err
			}
			if c.JSON() {
				return c.PrintJSON(d)
			}
			_, err = fmt.Fprintf(c.Stdout, "Delivery %d: %s. %s\n", d.ID, d.Outcome, d.Message)
			return err
		}}
}
