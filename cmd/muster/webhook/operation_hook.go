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

// operationHookFlags are the flags of `muster webhook save` for operation hooks.
type operationHookFlags struct {
	when, onTimeout, runFile string
	operations, services     []string
	timeout                  time.Duration
}

func (f *operationHookFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.when, "when", "", "make it an operation hook that runs at this `point`: request (asked about each request before it's accepted), before, after, failure, or template (if a template names it)")
	flags.StringSliceVar(&f.operations, "operation", nil, "operation hooks: `kind` of operation, such as create, or all; may be repeated")
	flags.DurationVar(&f.timeout, "timeout", 0, "operation hooks: time limit for a response or for one run of the script; 0 is the default (5m for responses, 3s for requests)")
	flags.StringVar(&f.onTimeout, "on-timeout", "", "hooks for requests and before an operation: `choice` of veto or continue if there's no response in time")
	flags.StringVar(&f.runFile, "run-file", "", "operation hooks: `file` with a script to run on nodes instead of calling a URL, or - for stdin")
	flags.StringSliceVar(&f.services, "service", nil, "operation hooks with a script: run it on nodes with this `service`, or all; may be repeated")
}

// fill applies the flags that are set.
func (f *operationHookFlags) fill(c *cli.Context, cmd *cobra.Command, r *webhook.EndpointRequest) (err error) {
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

// readScript reads a script unchanged.
func readScript(c *cli.Context, file string) (string, error) {
	var b []byte
	var err error
	const most = template.MaxHookScript + 1 // the server rejects longer ones
	if file == "-" {
		b, err = io.ReadAll(io.LimitReader(c.Stdin, most))
	} else {
		b, err = cli.ReadLimited(file, most)
	}
	if err != nil {
		return "", &app.Error{Code: app.EInvalid, Field: "run-file", Message: "can't read --run-file: " + err.Error()}
	}
	if strings.TrimSpace(string(b)) == "" {
		return "", cli.Usagef("--run-file is empty")
	}
	return string(b), nil
}

// operationHookText says when an operation hook runs: "before creation, resize".
func operationHookText(h webhook.Endpoint) string {
	if h.When == template.HookTemplate {
		return "by templates"
	}
	if h.When == template.HookRequest && len(h.Operations) == 0 {
		return "asked about requests"
	}
	if len(h.Operations) == 0 && h.When == template.HookFailure {
		return "when any operation fails"
	}
	if len(h.Operations) == 0 {
		return string(h.When) + " any operation"
	}
	var kinds []string
	for _, k := range h.Operations {
		kinds = append(kinds, k.Text())
	}
	if h.When == template.HookRequest {
		return "asked about requests: " + strings.Join(kinds, ", ")
	}
	if h.When == template.HookFailure {
		return "when an operation fails: " + strings.Join(kinds, ", ")
	}
	return string(h.When) + " " + strings.Join(kinds, ", ")
}
