package template

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"muster/app"
	"muster/app/humanize"
)

// IdlePolicy says when a cluster is idle, and what happens when it has been for a while.
type IdlePolicy struct {
	// If are the conditions: a cluster is idle while all that are set hold on all of its nodes. What can't be measured doesn't hold.
	If IdleConditions `json:"if,omitzero"`
	// After is how long a cluster must be idle before its owner is warned.
	After time.Duration `json:"after,omitempty"`
	// Grace is the time from the warning to the action; 0 means half an hour.
	Grace time.Duration `json:"grace,omitempty"`
	Then  IdleAction    `json:"then,omitempty"` // "" means sleep
	// OwnerMay is what those who may change the cluster can do about it; "" means keep.
	OwnerMay IdleChoice `json:"owner_may,omitempty"`
	// MaxKeep is for how long a cluster can be kept at once; 0 means a day.
	MaxKeep time.Duration `json:"max_keep,omitempty"`
}

// IdleConditions are what can be measured on a node over SSH. Zero values are not asked for.
type IdleConditions struct {
	NoSSH         bool    `json:"no_ssh,omitempty"`            // no SSH connection but Muster's own
	LoadBelow     float64 `json:"load_below,omitempty"`        // load average of five minutes, per core
	NoConnections []int   `json:"no_connections_to,omitempty"` // no established TCP connection from elsewhere to any of these ports
	GPUBelow      int     `json:"gpu_below,omitempty"`         // percent of use, of every GPU
	Script        string  `json:"script,omitempty"`            // exit code 0: idle, 1: in use, others: unknown
}

// IdleAction says what happens to a cluster that is idle.
type IdleAction string

// The actions.
const (
	IdleSleep   IdleAction = "sleep"
	IdleDelete  IdleAction = "delete"
	IdleWarn    IdleAction = "warn"    // nothing but the warning
	IdleNothing IdleAction = "nothing" // it isn't measured, whatever the tenant's default says
)

// IdleActions are all of them.
var IdleActions = []IdleAction{IdleSleep, IdleDelete, IdleWarn, IdleNothing}

// IdleChoice says what the owner of a cluster may do about its idle policy. Admins may do all.
type IdleChoice string

// The choices.
const (
	IdleMayKeep    IdleChoice = "keep"     // keep it for a while
	IdleMayTurnOff IdleChoice = "turn_off" // that, and turn the policy off for the cluster
	IdleMayNothing IdleChoice = "nothing"
)

// IdleChoices are all of them.
var IdleChoices = []IdleChoice{IdleMayKeep, IdleMayTurnOff, IdleMayNothing}

// Bounds of idle policies, and what holds where one says nothing.
const (
	MinIdleAfter    = 2 * time.Second
	MaxIdleAfter    = 30 * 24 * time.Hour
	MaxIdleGrace    = 7 * 24 * time.Hour
	MostIdleKeep    = 30 * 24 * time.Hour
	IdleScriptTime  = 30 * time.Second
	maxIdlePorts    = 20
	maxIdleLoad     = 1000
	usualIdleGrace  = 30 * time.Minute
	usualIdleKeep   = 24 * time.Hour
	idleKeepStep    = 2 * time.Hour
	minIdleInterval = time.Second
	maxIdleInterval = time.Minute
)

// Measures reports whether clusters are looked at for this policy.
func (p *IdlePolicy) Measures() bool { return p != nil && p.Then != IdleNothing }

// Action is what happens.
func (p *IdlePolicy) Action() IdleAction {
	if p.Then == "" {
		return IdleSleep
	}
	return p.Then
}

// GraceOr30m is the time from the warning to the action.
func (p *IdlePolicy) GraceOr30m() time.Duration { return orElse(p.Grace, usualIdleGrace) }

// KeepAtMost is for how long a cluster can be kept at once.
func (p *IdlePolicy) KeepAtMost() time.Duration { return orElse(p.MaxKeep, usualIdleKeep) }

// KeepStep is what a button keeps it for.
func (p *IdlePolicy) KeepStep() time.Duration { return min(p.KeepAtMost(), idleKeepStep) }

// MayKeep reports whether owners may keep their clusters for a while.
func (p *IdlePolicy) MayKeep() bool { return p.OwnerMay != IdleMayNothing }

// MayTurnOff reports whether owners may turn the policy off for their clusters.
func (p *IdlePolicy) MayTurnOff() bool { return p.OwnerMay == IdleMayTurnOff }

// Every is how often a cluster without health checks is measured.
func (p *IdlePolicy) Every() time.Duration {
	return max(min(p.After/4, maxIdleInterval), minIdleInterval)
}

// none reports whether no condition is set.
func (c IdleConditions) none() bool {
	return !c.NoSSH && c.LoadBelow == 0 && len(c.NoConnections) == 0 && c.GPUBelow == 0 && c.Script == ""
}

// Words lists the conditions for people: "no SSH connections", "load below 0.1 per core".
func (c IdleConditions) Words() (list []string) {
	if c.NoSSH {
		list = append(list, "no SSH connections")
	}
	if c.LoadBelow > 0 {
		list = append(list, fmt.Sprintf("load below %g per core", c.LoadBelow))
	}
	if len(c.NoConnections) > 0 {
		var ports []string
		for _, p := range c.NoConnections {
			ports = append(ports, fmt.Sprint(p))
		}
		list = append(list, "no connections to port "+humanize.Or(ports))
	}
	if c.GPUBelow > 0 {
		list = append(list, fmt.Sprintf("GPU use below %d%%", c.GPUBelow))
	}
	if c.Script != "" {
		list = append(list, "the template's script says so")
	}
	return list
}

// Check tells what is wrong with a policy: EInvalid, with Field such as "if.load_below"; nil where nothing is.
func (p *IdlePolicy) Check() error {
	wrong := func(field, hint, format string, args ...any) error {
		return &app.Error{Code: app.EInvalid, Field: field, Message: fmt.Sprintf(format, args...), Hint: hint}
	}
	within := func(field string, d, least, most time.Duration) error {
		if d < least || d > most {
			return wrong(field, "", "must be from %s to %s, not %s", humanize.DurationField(least), humanize.DurationField(most), humanize.DurationField(d))
		}
		return nil
	}
	switch {
	case p.Then != "" && !slices.Contains(IdleActions, p.Then):
		return wrong("then", "use sleep, delete, warn or nothing", "unknown action %.40q", p.Then)
	case p.OwnerMay != "" && !slices.Contains(IdleChoices, p.OwnerMay):
		return wrong("owner_may", "use keep, turn_off or nothing", "unknown choice %.40q", p.OwnerMay)
	case p.Then == IdleNothing:
		return nil
	case p.If.none():
		return wrong("if", "for example, no_ssh: true", "at least one condition is required")
	case p.After == 0:
		return wrong("after", "for example, 2h", "is required")
	}
	for _, err := range []error{
		within("after", p.After, MinIdleAfter, MaxIdleAfter),
		within("grace", cmp.Or(p.Grace, usualIdleGrace), time.Second, MaxIdleGrace),
		within("max_keep", cmp.Or(p.MaxKeep, usualIdleKeep), time.Minute, MostIdleKeep), p.If.check(wrong),
	} {
		if err != nil {
			return err
		}
	}
	return nil
}

func (c IdleConditions) check(wrong func(field, hint, format string, args ...any) error) error {
	switch {
	case !(c.LoadBelow >= 0 && c.LoadBelow <= maxIdleLoad): // not a number, too
		return wrong("if.load_below", "", "must be more than 0, and at most %d", maxIdleLoad)
	case c.GPUBelow < 0 || c.GPUBelow > 100:
		return wrong("if.gpu_below", "", "must be from 1%% to 100%%")
	case len(c.NoConnections) > maxIdlePorts:
		return wrong("if.no_connections_to", "", "at most %d ports are allowed", maxIdlePorts)
	case len(c.Script) > maxHealthCommand || strings.ContainsRune(c.Script, 0):
		return wrong("if.script", "", "must be at most %d bytes, with no NUL bytes", maxHealthCommand)
	}
	for _, port := range c.NoConnections {
		if port < 1 || port > 65535 {
			return wrong("if.no_connections_to", "", "%d isn't a port from 1 to 65535", port)
		}
	}
	return nil
}
