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

// mostTyped is how much of a file a value may be.
const mostTyped = 8 << 10

// QuestionsCommand lists what people are asked.
func QuestionsCommand(c *cli.Context) *cobra.Command {
	var all bool
	var cluster string
	cmd := &cobra.Command{Use: "questions", Short: "List the steps at which an operation waits for your answer",
		Long:    "List the steps at which an operation waits for your answer. `muster cluster answer` lets it go on, or refuses.",
		Example: "  muster questions\n  muster questions --all --cluster shop", Args: cli.AtMost(0)}
	cmd.Flags().BoolVar(&all, "all", false, "also those that wait for others")
	cmd.Flags().StringVar(&cluster, "cluster", "", "only those of this `cluster`")
	return c.Asks(cmd, func(ctx context.Context, cl *cli.Client, _ []string) error {
		list, err := cl.Questions.List(ctx, cluster, !all)
		if err != nil {
			return err
		}
		if c.JSON() {
			return c.PrintJSON(map[string][]execution.Question{"questions": list})
		}
		if len(list) == 0 {
			_, err := fmt.Fprintln(c.Stdout, "Nothing waits for "+map[bool]string{true: "anybody.", false: "you."}[all])
			return err
		}
		t := cli.NewTable("CLUSTER", "STEP", "ASKED>", "LEFT>", "WAITS FOR", "QUESTION")
		for _, q := range list {
			t.Add(q.ClusterName, questionStep(q), humanize.Duration(time.Since(q.AskedAt))+" ago", humanize.Duration(time.Until(q.Until)), q.Waits, cli.OneLine(q.Person.Ask))
		}
		return t.Show(c)
	})
}

// questionStep names a step, and says for how many more the answer counts.
func questionStep(q execution.Question) string {
	if q.Same > 0 {
		return fmt.Sprintf("%s +%d", q.Step, q.Same)
	}
	return q.Step
}

// clusterAnswerCommand answers what a cluster's operation asks.
func clusterAnswerCommand(c *cli.Context) *cobra.Command {
	var set, files []string
	var refuse string
	cmd := &cobra.Command{
		Use:   "answer ID|NAME [STEP]",
		Short: "Answer what an operation of a cluster asks: let it go on, or refuse",
		Long: "Answer what an operation of a cluster asks: let it go on, with values where it asks for some, or refuse with a reason. Where\n" +
			"several steps ask, say which. What is secret is given by --set-file: a command line can be read by others on this host.",
		Example: "  muster cluster answer shop\n  muster cluster answer shop n1.web.configure --set seats=5 --set-file key=key.txt\n" +
			"  muster cluster answer shop --refuse \"the record points elsewhere\"",
		Args: between(1, 2, "ID|NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("refuse") && strings.TrimSpace(refuse) == "" {
				return cli.Usagef("--refuse needs a reason").Hint("Whoever goes on from there will want to know.")
			}
			cl, v, err := ConnectTo(cmd.Context(), c, args[0], false)
			if err != nil {
				return err
			}
			list, err := cl.Questions.List(cmd.Context(), v.ID, false)
			if err != nil {
				return err
			}
			step := ""
			if len(args) > 1 {
				step = args[1]
			}
			q, err := chooseQuestion(v, list, step)
			if err != nil {
				return err
			}
			values, err := typed(c, q, set, files)
			if err != nil {
				return err
			}
			done, err := cl.Questions.Answer(cmd.Context(), v.ID,
				execution.StepAnswer{Operation: q.Operation, Index: q.Index, Attempt: q.Attempt, Refuse: refuse, Values: values})
			if err != nil {
				return err
			}
			word := "goes on"
			if refuse != "" {
				word = "has failed, since you refused; `muster cluster resume` asks again"
			}
			return c.Say(done, "%s %s.", questionStep(q), word)
		},
	}
	cmd.Flags().StringArrayVar(&set, "set", nil, "a value, as `NAME=VALUE`; may be given several times")
	cmd.Flags().StringArrayVar(&files, "set-file", nil, "a value from a file, as `NAME=FILE`, - being the standard input; a line end at its end is left out")
	cmd.Flags().StringVar(&refuse, "refuse", "", "let the step fail, for this `reason`")
	cmd.MarkFlagsMutuallyExclusive("refuse", "set")
	cmd.MarkFlagsMutuallyExclusive("refuse", "set-file")
	return cmd
}

// chooseQuestion returns the question that is meant.
func chooseQuestion(v appcluster.ClusterView, list []execution.Question, step string) (execution.Question, error) {
	var steps []string
	for _, q := range list {
		if steps = append(steps, q.Step); q.Step == step {
			return q, nil
		}
	}
	switch {
	case len(list) == 0:
		return execution.Question{}, &app.Error{Code: app.EConflict, Reason: "not_asked", Message: fmt.Sprintf("nothing is asked about cluster %q", v.Name),
			Hint: "`muster questions` lists what waits for you."}
	case step != "":
		e := &app.Error{Code: app.ENotFound, Message: fmt.Sprintf("nobody is asked at %q", step), Hint: "Asked is at " + strings.Join(some(steps), ", ") + "."}
		return execution.Question{}, e
	case len(list) > 1:
		return execution.Question{}, cli.Usagef("%s ask; say which", humanize.Count(len(list), "step")).Hint("They are %s.", strings.Join(some(steps), ", "))
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

// typed reads the values that were given. Secret ones may not stand on the command line.
func typed(c *cli.Context, q execution.Question, set, files []string) (map[string]any, error) {
	values := map[string]any{}
	secret := map[string]bool{}
	for _, f := range q.Person.Fields {
		secret[f.Name] = f.Secret
	}
	for i, one := range append(append([]string{}, set...), files...) {
		name, value, ok := strings.Cut(one, "=")
		switch _, twice := values[name]; {
		case !ok || name == "":
			return nil, cli.Usagef("%q is not NAME=VALUE", name)
		case twice:
			return nil, cli.Usagef("%s is given twice", name)
		case i < len(set) && secret[name]:
			return nil, cli.Usagef("%s is secret, and a command line can be read by others on this host", name).
				Hint("Give --set-file %s=FILE, or %s=- to read it from the standard input.", name, name)
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
			return "", cli.Usagef("the value cannot be read: %v", err)
		}
		defer f.Close()
		in = f
	}
	b, err := io.ReadAll(io.LimitReader(in, mostTyped+1))
	if err != nil {
		return "", err
	}
	if len(b) > mostTyped {
		return "", cli.Usagef("%s has more than %d bytes", name, mostTyped)
	}
	return strings.TrimSuffix(strings.TrimSuffix(string(b), "\n"), "\r"), nil
}
