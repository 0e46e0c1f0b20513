package cluster

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"muster/app"
	appcluster "muster/app/cluster"
	"muster/app/execution"
	"muster/app/humanize"
	"muster/cmd/muster/cli"

	"github.com/spf13/cobra"
)

// maxTyped is the largest value read from a file.
const maxTyped = 8 << 10

// ManualStepsCommand lists manual steps.
func ManualStepsCommand(c *cli.Context) *cobra.Command {
	var all bool
	var cluster string
	cmd := &cobra.Command{Use: "manual-steps", Short: "List manual steps waiting for you",
		Long:    "List manual steps waiting for you. Complete or refuse one with `muster cluster answer`.",
		Example: "  muster manual-steps\n  muster manual-steps --all --cluster shop", Args: cli.AtMost(0)}
	cmd.Flags().BoolVar(&all, "all", false, "include manual steps waiting for others")
	cmd.Flags().StringVar(&cluster, "cluster", "", "filter by `cluster`")
	return c.Asks(cmd, func(ctx context.Context, cl *cli.Client, _ []string) error {
		list, err := cl.ManualSteps.List(ctx, cluster, !all)
		if err != nil {
			return err
		}
		if c.JSON() {
			return c.PrintJSON(map[string][]execution.ManualStep{"manual_steps": list})
		}
		if len(list) == 0 {
			_, err := fmt.Fprintln(c.Stdout, "No manual steps are waiting"+map[bool]string{true: ".", false: " for you."}[all])
			return err
		}
		t := cli.NewTable("CLUSTER", "STEP", "ASKED>", "LEFT>", "WAITING FOR", "QUESTION")
		for _, q := range list {
			t.Add(q.ClusterName, manualStepStep(q), humanize.Ago(time.Now(), q.RequestedAt), humanize.Duration(time.Until(q.Until)), q.Waits, cli.OneLine(q.Person.Ask))
		}
		return t.Show(c)
	})
}

// manualStepStep names a step, and how many more the answer applies to.
func manualStepStep(q execution.ManualStep) string {
	if q.MoreNodes > 0 {
		return fmt.Sprintf("%s +%d", q.Step, q.MoreNodes)
	}
	return q.Step
}

// clusterAnswerCommand answers a manual step.
func clusterAnswerCommand(c *cli.Context) *cobra.Command {
	var set, files []string
	var refuse string
	cmd := &cobra.Command{
		Use:   "answer ID|NAME [STEP]",
		Short: "Complete or refuse a manual step",
		Long: "Complete a manual step of a cluster's operation, with the values it asks for, or refuse it with a reason. If several steps are\n" +
			"waiting, name one. Pass secrets with --set-file: other users on this host can read a command line.",
		Example: "  muster cluster answer shop\n  muster cluster answer shop n1.web.configure --set seats=5 --set-file key=key.txt\n" +
			"  muster cluster answer shop --refuse \"the record points elsewhere\"",
		Args: between(1, 2, "ID|NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("refuse") && strings.TrimSpace(refuse) == "" {
				return cli.Usagef("--refuse requires a reason").Hint("Say why, for the people who fix it.")
			}
			cl, v, err := ConnectTo(cmd.Context(), c, args[0], false)
			if err != nil {
				return err
			}
			list, err := cl.ManualSteps.List(cmd.Context(), v.ID, false)
			if err != nil {
				return err
			}
			step := ""
			if len(args) > 1 {
				step = args[1]
			}
			q, err := chooseManualStep(v, list, step)
			if err != nil {
				return err
			}
			values, err := typed(c, q, set, files)
			if err != nil {
				return err
			}
			done, err := cl.ManualSteps.Answer(cmd.Context(), v.ID,
				execution.StepAnswer{Operation: q.Operation, Index: q.Index, Attempt: q.Attempt, Refuse: refuse, Values: values})
			if err != nil {
				return err
			}
			word := "continues"
			if refuse != "" {
				word = "failed because you refused; `muster cluster resume` asks again"
			}
			return c.Say(done, "%s %s.", manualStepStep(q), word)
		},
	}
	cmd.Flags().StringArrayVar(&set, "set", nil, "value as `NAME=VALUE`; may be repeated")
	cmd.Flags().StringArrayVar(&files, "set-file", nil, "value from a file, as `NAME=FILE`, or NAME=- for stdin; a final line break is dropped; may be repeated")
	cmd.Flags().StringVar(&refuse, "refuse", "", "`reason` for refusing; the step fails")
	cmd.MarkFlagsMutuallyExclusive("refuse", "set")
	cmd.MarkFlagsMutuallyExclusive("refuse", "set-file")
	return cmd
}

// chooseManualStep returns the named manual step.
func chooseManualStep(v appcluster.View, list []execution.ManualStep, step string) (execution.ManualStep, error) {
	var steps []string
	for _, q := range list {
		if steps = append(steps, q.Step); q.Step == step {
			return q, nil
		}
	}
	switch {
	case len(list) == 0:
		return execution.ManualStep{}, &app.Error{Code: app.EConflict, Reason: "not_asked", Message: fmt.Sprintf("cluster %s has no manual step waiting", v.Name),
			Hint: "List manual steps: muster manual-steps"}
	case step != "":
		e := &app.Error{Code: app.ENotFound, Message: fmt.Sprintf("step %q isn't waiting for an answer", step), Hint: "Waiting: " + strings.Join(some(steps), ", ") + "."}
		return execution.ManualStep{}, e
	case len(list) > 1:
		return execution.ManualStep{}, cli.Usagef("%s are waiting; name one", humanize.Count(len(list), "step")).Hint("Waiting: %s.", strings.Join(some(steps), ", "))
	}
	return list[0], nil
}

// some returns the first few names.
func some(names []string) []string {
	if len(names) > 5 {
		return append(names[:5:5], "…")
	}
	return names
}

// typed reads the values of flags. Secrets aren't allowed on the command line.
func typed(c *cli.Context, q execution.ManualStep, set, files []string) (map[string]any, error) {
	values := map[string]any{}
	secret := map[string]bool{}
	for _, f := range q.Person.Fields {
		secret[f.Name] = f.Secret
	}
	for i, one := range append(append([]string{}, set...), files...) {
		name, value, ok := strings.Cut(one, "=")
		switch _, twice := values[name]; {
		case !ok || name == "":
			return nil, cli.Usagef("%q isn't NAME=VALUE", name)
		case twice:
			return nil, cli.Usagef("%s is set twice", name)
		case i < len(set) && secret[name]:
			return nil, cli.Usagef("%s is secret, and other users on this host can read a command line", name).
				Hint("Use --set-file %s=FILE, or %s=- for stdin.", name, name)
		case i >= len(set):
			text, err := fileValue(c, value)
			if err != nil {
				return nil, err
			}
			value = text
		}
		values[name] = value
	}
	return values, nil
}

func fileValue(c *cli.Context, name string) (string, error) {
	in := c.Stdin
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return "", cli.Usagef("can't read the value: %v", err)
		}
		defer f.Close()
		in = f
	}
	b, err := io.ReadAll(io.LimitReader(in, maxTyped+1))
	if err != nil {
		return "", err
	}
	if len(b) > maxTyped {
		return "", cli.Usagef("%s is larger than %d bytes", name, maxTyped)
	}
	return strings.TrimSuffix(strings.TrimSuffix(string(b), "\n"), "\r"), nil
}
