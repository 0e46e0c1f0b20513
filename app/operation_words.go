package app

import "muster/app/humanize"

// KindWords say a kind of operation as a noun, with "the" or without, as what one does, and as what is being done.
var KindWords = map[OperationKind]struct{ the, noun, verb, doing string }{
	OperationCreate:         {"", "creation", "create", "creating"},
	OperationDelete:         {"", "deletion", "delete", "deleting"},
	OperationRollBack:       {"the ", "rollback", "roll back", "rolling back"},
	OperationAcceptPartial:  {"", "accepting the partial result", "accept partial result", "accepting partial result"},
	OperationResize:         {"the ", "resize", "resize", "resizing"},
	OperationAddServices:    {"", "adding services", "add services", "adding services"},
	OperationRemoveServices: {"", "removing services", "remove services", "removing services"},
	OperationReconfigure:    {"", "reconfiguration", "reconfigure", "reconfiguring"},
	OperationStart:          {"", "starting services", "start services", "starting services"},
	OperationStop:           {"", "stopping services", "stop services", "stopping services"},
	OperationRestart:        {"", "restarting services", "restart services", "restarting services"},
	OperationUpgrade:        {"the ", "upgrade", "upgrade", "upgrading"},
	OperationRepair:         {"the ", "repair", "repair", "repairing"},
	OperationCompare:        {"the ", "comparison", "compare with current state", "comparing"},
	OperationRun:            {"the ", "command", "run a command", "running a command"},
	OperationSleep:          {"", "going to sleep", "put to sleep", "going to sleep"},
	OperationWake:           {"", "waking up", "wake", "waking up"},
}

// Text is the kind as a label: "rollback succeeded", "creation 12".
func (k OperationKind) Text() string {
	if w, ok := KindWords[k]; ok {
		return w.noun
	}
	return humanize.Spaced(string(k))
}

// The is the kind as used in a sentence, with its article if it has one: "the rollback has failed", "creation has failed". Capitalized with
// humanize.Upper, it begins a sentence.
func (k OperationKind) The() string { return KindWords[k].the + k.Text() }

// Verb is what one does with such an operation: "a plan to add services".
func (k OperationKind) Verb() string {
	if w, ok := KindWords[k]; ok {
		return w.verb
	}
	return humanize.Spaced(string(k))
}

// Doing is what is being done to a cluster while such an operation is running: "adding services".
func (k OperationKind) Doing() string {
	if w, ok := KindWords[k]; ok {
		return w.doing
	}
	return humanize.Spaced(string(k))
}
