package planner

import (
	"time"

	"muster/app"
)

// estimates say how long one attempt of an action usually takes. They do not depend on a service's time limit, which
// says when to give up and not what to expect. They are first guesses, to be replaced by what was measured.
var estimates = map[app.Action]time.Duration{
	app.ActionCreate:     30 * time.Second,
	app.ActionConfirm:    20 * time.Second,
	app.ActionBootstrap:  10 * time.Second,
	app.ActionInstall:    30 * time.Second,
	app.ActionConfigure:  5 * time.Second,
	app.ActionInitialize: 10 * time.Second,
	app.ActionStart:      5 * time.Second,
	app.ActionReload:     5 * time.Second,
	app.ActionCheck:      5 * time.Second,
	app.ActionStop:       5 * time.Second,
	app.ActionRemove:     10 * time.Second,
	app.ActionDelete:     20 * time.Second,
	app.ActionHook:       10 * time.Second,
	app.ActionSleep:      10 * time.Second,
	app.ActionWake:       20 * time.Second,
}

// estimate gives how long a step usually takes; joins take no time, and neither does what waits for a person, which is told
// apart.
func estimate(s app.PlanStep) time.Duration {
	if s.Join || s.Asks != "" {
		return 0
	}
	return estimates[s.Action]
}
