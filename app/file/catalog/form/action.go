package form

import (
	"time"

	"muster/app/template"
)

type savedActionDoc struct {
	Name        string         `yaml:"name" need:"" doc:"Action name: lowercase letters, digits, '-' and '_'."`
	Label       string         `yaml:"label" doc:"What people call it. Default: the name."`
	Description string         `yaml:"description" doc:"What it does, in a sentence."`
	Parameters  []parameterDoc `yaml:"parameters" doc:"Values that people set. The script has them in CONFIG_PARAMETER_NAME variables."`
	On          []string       `yaml:"on" doc:"Nodes, as service=NAME, hardware=NAME, image=NAME, zone=NAME or node=NAME. Default: all."`
	Run         string         `yaml:"run" need:"" doc:"Script to run on the nodes, with sh -eu or the interpreter of its #! line."`
	Who         string         `yaml:"who" doc:"Who can run it: user, owner or admin. Default: user, everyone who can use the cluster."`
	Approval    bool           `yaml:"approval" doc:"An approver has to approve each run."`
	Timeout     duration       `yaml:"timeout" doc:"Time limit on each node, 1s to 24h. Default: 30m."`
	Batch       int            `yaml:"batch" doc:"Number of nodes at a time. Default: all."`
}

func savedActions(docs []savedActionDoc) (out []template.SavedAction) {
	for _, d := range docs {
		out = append(out, template.SavedAction{Name: d.Name, Label: d.Label, Description: d.Description, Parameters: parameters(d.Parameters), On: d.On,
			Run: d.Run, Who: template.ActionUser(d.Who), Approval: d.Approval, Timeout: time.Duration(d.Timeout), Batch: d.Batch})
	}
	return out
}

func savedActionDocs(all []template.SavedAction) (out []savedActionDoc) {
	for _, a := range all {
		d := savedActionDoc{Name: a.Name, Label: a.Label, Description: a.Description, On: a.On, Run: a.Run, Who: string(a.Who), Approval: a.Approval,
			Timeout: duration(a.Timeout), Batch: a.Batch}
		for _, p := range a.Parameters {
			d.Parameters = append(d.Parameters, parameterDocOf(p))
		}
		out = append(out, d)
	}
	return out
}
