package app

import "slices"

// Action is what a step does to a node.
type Action string

// Machine actions need no service. Service actions are carried out by the service's automator.
const (
	ActionCreate    Action = "create"    // ask the provider for the machine
	ActionConfirm   Action = "confirm"   // wait until it answers and has proved who it is
	ActionBootstrap Action = "bootstrap" // prepare it for the automators that its services use
	ActionDelete    Action = "delete"    // give it back
	ActionSleep     Action = "sleep"     // stop it and keep what is on it
	ActionWake      Action = "wake"      // start it again, and wait until it has an address
	ActionAttach    Action = "attach"    // bring the volumes of its node, create those that are missing, and mount them
	ActionDetach    Action = "detach"    // unmount the volumes of its node and take them off
	// ActionBake makes an image of the machine, from which others start with what was installed on it.
	ActionBake Action = "bake"
	// ActionIsolate closes a machine that is kept for inspection to all but SSH, as far as its provider makes firewalls.
	ActionIsolate Action = "isolate"

	ActionInstall    Action = "install"
	ActionConfigure  Action = "configure"
	ActionInitialize Action = "initialize"
	ActionStart      Action = "start"
	ActionStop       Action = "stop"
	ActionRemove     Action = "remove"
	// ActionReload has a running service read its configuration again.
	ActionReload Action = "reload"
	// ActionCheck waits until the service is healthy, by its own health check. No service defines it.
	ActionCheck Action = "check"
	// ActionCompare has the service's tool say what it would change. No service defines it.
	ActionCompare Action = "compare"
	// ActionRun runs a command, or an action of the template; see Plan.Run. No service defines it.
	ActionRun Action = "run"
	// ActionHook runs the script of an operation hook; see Plan.Hooks.
	ActionHook Action = "hook"
	// ActionNames writes the names and addresses of all nodes on one of them. No service defines it.
	ActionNames Action = "names"
	// ActionAsk lets a person look before the plan continues. It is on no node and of no service; see Plan.ManualSteps.
	ActionAsk Action = "ask"
)

// OnMachine tells machine actions from service actions.
func (a Action) OnMachine() bool {
	return slices.Contains(MachineActions, a)
}

// MachineActions are those that are about a machine, and no service on it.
var MachineActions = []Action{ActionCreate, ActionConfirm, ActionBootstrap, ActionDelete, ActionSleep, ActionWake, ActionAttach, ActionDetach, ActionIsolate, ActionBake}

// AsksProvider reports whether a step speaks to the provider.
func (a Action) AsksProvider() bool { return a.OnMachine() && a != ActionBootstrap }
