package webhook

import (
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"muster/app"
	"muster/app/template"
	"muster/app/webhook"
	"muster/cmd/muster/cli"
)

// lifecycleFlags are the flags of `muster hook save` for hooks that have their turn before or after operations.
type lifecycleFlags struct {
	when, onTimeout, runFile string
	operations, services     []string
	timeout                  time.Duration
}

func (f *lifecycleFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.when, "when", "", "make it a hook of operations: before, after, failure, or template for one that templates name")
	flags.StringSliceVar(&f.operations, "operation", nil, "of a hook of operations: a `kind` of operation that it is about, such as create, or all; may be repeated")
	flags.DurationVar(&f.timeout, "timeout", 0, "how long an operation waits for its answer (5m where this is not said), or one run of its script may take; 0 is what is usual")
	flags.StringVar(&f.onTimeout, "on-timeout", "", "of a hook before operations: what happens where it does not answer in time, veto or go_on")
	flags.StringVar(&f.runFile, "run-file", "", "`file` that holds a script to run on nodes, instead of calling a URL; - is standard input")
	flags.StringSliceVar(&f.services, "service", nil, "of a script: run it on the nodes with this `service`, or all; may be repeated")
}

// fill takes over what was given.
func (f *lifecycleFlags) fill(c *cli.Context, cmd *cobra.Command, r *webhook.HookRequest) (err error) {
	r.When, r.OnTimeout = template.HookPhase(f.when), template.HookChoice(f.onTimeout)
	given := cmd.Flags().Changed
	if given("operation") {
		kinds := []app.OperationKind{}
		for _, k := range f.operations {
			if k != "all" {
				kinds = append(kinds, app.OperationKind(strings.ReplaceAll(k, "-", "_")))
			}
		}
		r.Operations = &kinds
	}
	if given("service") {
		services := []string{}
		for _, s := range f.services {
			if s != "all" {
				services = append(services, s)
			}
		}
		r.Services = &services
	}
	if given("timeout") {
		r.Timeout = &f.timeout
	}
	if f.runFile != "" {
		r.Script, err = readScript(c, f.runFile)
	}
	return err
}

// readScript reads a script as it is.
func readScript(c *cli.Context, file string) (string, error) {
	var b []byte
	var err error
	const most = template.MaxHookScript + 1 // what is longer is refused by the server
	if file == "-" {
		b, err = io.ReadAll(io.LimitReader(c.Stdin, most))
	} else {
		b, err = cli.ReadLimited(file, most)
	}
	if err != nil {
		return "", &app.Error{Code: app.EInvalid, Field: "run-file", Message: "--run-file cannot be read: " + err.Error()}
	}
	if strings.TrimSpace(string(b)) == "" {
		return "", cli.Usagef("--run-file is empty")
	}
	return string(b), nil
}

// lifecycleWords says of a hook of operations when it has its turn: "before create, resize".
func lifecycleWords(h webhook.Hook) string {
	if h.When == template.HookTemplate {
		return "by templates"
	}
	if len(h.Operations) == 0 {
		return string(h.When) + " all operations"
	}
	var kinds []string
	for _, k := range h.Operations {
		kinds = append(kinds, k.Words())
	}
	return string(h.When) + " " + strings.Join(kinds, ",")
}
