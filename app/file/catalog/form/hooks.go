package form

import (
	"slices"
	"time"

	"muster/app"
	"muster/app/template"
)

type hookDoc struct {
	Name       string   `yaml:"name" need:"" doc:"Hook name: lowercase letters, digits, '-' and '_'."`
	When       string   `yaml:"when" need:"" doc:"before, after, or failure."`
	Operations []string `yaml:"operations" doc:"Operation kinds, such as create or resize. Default: all."`
	SendTo     string   `yaml:"send_to" doc:"Name of the tenant's webhook to call. An admin creates it with: muster webhook save NAME --when template."`
	Timeout    duration `yaml:"timeout" doc:"Time to wait for the webhook's response, or for one run of a script. Default: 5m."`
	OnTimeout  string   `yaml:"on_timeout" doc:"Action if a webhook called before an operation doesn't respond in time: veto or continue. Default: veto."`
	Run        string   `yaml:"run" doc:"Script to run on nodes instead of calling a webhook, with sh -eu or the interpreter of its #! line."`
	Services   []string `yaml:"services" doc:"Run the script only on nodes with one of these services. Default: all nodes."`
}

func hooks(docs []hookDoc) (out []template.OperationHook) {
	for _, d := range docs {
		h := template.OperationHook{Name: d.Name, When: template.HookPhase(d.When), SendTo: d.SendTo, Timeout: time.Duration(d.Timeout),
			OnTimeout: template.HookChoice(d.OnTimeout), Script: d.Run, Services: sorted(d.Services)}
		for _, k := range sorted(d.Operations) {
			h.Operations = append(h.Operations, app.OperationKind(k))
		}
		out = append(out, h)
	}
	return out
}

// sorted returns names in order, each once.
func sorted(names []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(names)))
}
