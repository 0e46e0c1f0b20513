package form

import (
	"slices"
	"time"

	"muster/app"
	"muster/app/template"
)

type hookDoc struct {
	Name       string   `yaml:"name" need:"" doc:"The hook's name: small letters, digits, '-' and '_'."`
	When       string   `yaml:"when" need:"" doc:"before, after, or failure."`
	Operations []string `yaml:"operations" doc:"The kinds of operation that it is about, such as create or resize; all where absent."`
	SendTo     string   `yaml:"send_to" doc:"The hook of the tenant that is called, by name. An admin makes it with: muster hook save NAME --when template."`
	Timeout    duration `yaml:"timeout" doc:"How long an operation waits for the answer, 5m where absent or 0; of a script, how long one run may take."`
	OnTimeout  string   `yaml:"on_timeout" doc:"What happens where a hook before an operation does not answer in time: veto, or go_on. veto where absent."`
	Run        string   `yaml:"run" doc:"A script that is run on nodes instead of calling anybody, with sh -eu or what its first line asks for."`
	Services   []string `yaml:"services" doc:"The script is run on the nodes that have one of these services; on all nodes where absent."`
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
