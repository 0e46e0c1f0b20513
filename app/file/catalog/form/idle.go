package form

import (
	"time"

	"muster/app/template"
)

type idleDoc struct {
	If       idleConditionsDoc `yaml:"if" doc:"Conditions. A cluster is idle while all that are set hold on all its nodes. What can't be measured doesn't hold."`
	After    duration          `yaml:"after" doc:"How long the cluster must be idle before its owner is warned, 2s to 30d."`
	Grace    duration          `yaml:"grace" doc:"Time from the warning to the action, at most 7d. Default: 30m."`
	Then     string            `yaml:"then" doc:"sleep, delete, warn (only the warning), or nothing (turns off the tenant's default). Default: sleep."`
	OwnerMay string            `yaml:"owner_may" doc:"What the owner can do: keep (postpone the action), turn_off (that, and turn the policy off for the cluster), or nothing. Default: keep."`
	MaxKeep  duration          `yaml:"max_keep" doc:"How long a cluster can be kept at once, at most 30d. Default: 24h."`
}

type idleConditionsDoc struct {
	NoSSH         bool    `yaml:"no_ssh" doc:"No SSH connections to the node, besides Muster's own."`
	LoadBelow     float64 `yaml:"load_below" least:"0" doc:"The five-minute load average per core is below this number, such as 0.1."`
	NoConnections []int   `yaml:"no_connections_to" doc:"No established TCP connections from elsewhere to these ports."`
	GPUBelow      share   `yaml:"gpu_below" doc:"Every GPU is used less than this, such as 5%, as nvidia-smi shows. Nodes without GPUs meet it; if a GPU can't be measured, the cluster isn't idle."`
	Script        string  `yaml:"script" doc:"Script run with sh on every node as root. Exit code 0 means idle, 1 in use; anything else, or 30s without an answer, counts as in use. What it prints is shown as the reason. MUSTER_SERVICES holds the node's services."`
}

func (i *idleDoc) policy() *template.IdlePolicy {
	if i == nil {
		return nil
	}
	return &template.IdlePolicy{
		If: template.IdleConditions{NoSSH: i.If.NoSSH, LoadBelow: i.If.LoadBelow, NoConnections: i.If.NoConnections, GPUBelow: int(i.If.GPUBelow),
			Script: i.If.Script},
		After: time.Duration(i.After), Grace: time.Duration(i.Grace), Then: template.IdleAction(i.Then), OwnerMay: template.IdleChoice(i.OwnerMay),
		MaxKeep: time.Duration(i.MaxKeep),
	}
}

func idleDocOf(p *template.IdlePolicy) *idleDoc {
	if p == nil {
		return nil
	}
	return &idleDoc{
		If: idleConditionsDoc{NoSSH: p.If.NoSSH, LoadBelow: p.If.LoadBelow, NoConnections: p.If.NoConnections, GPUBelow: share(p.If.GPUBelow),
			Script: p.If.Script},
		After: duration(p.After), Grace: duration(p.Grace), Then: string(p.Then), OwnerMay: string(p.OwnerMay), MaxKeep: duration(p.MaxKeep),
	}
}
