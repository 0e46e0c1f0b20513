package app

import "muster/app/humanize"

// KindWords say a kind of operation as a noun, as what one does, and as what is being done.
var KindWords = map[OperationKind]struct{ noun, verb, doing string }{
	OperationCreate:         {"create", "create", "creating"},
	OperationDelete:         {"delete", "delete", "deleting"},
	OperationRollBack:       {"rollback", "roll back", "rolling back"},
	OperationAcceptPartial:  {"partial acceptance", "accept partial result", "accepting partial result"},
	OperationResize:         {"resize", "resize", "resizing"},
	OperationAddServices:    {"addition of services", "add services", "adding services"},
	OperationRemoveServices: {"removal of services", "remove services", "removing services"},
	OperationReconfigure:    {"reconfiguration", "reconfigure", "reconfiguring"},
	OperationStart:          {"start", "start services", "starting services"},
	OperationStop:           {"stop", "stop services", "stopping services"},
	OperationRestart:        {"restart", "restart services", "restarting services"},
	OperationUpgrade:        {"upgrade", "upgrade", "upgrading"},
	OperationRepair:         {"repair", "repair", "repairing"},
	OperationCompare:        {"comparison", "compare with current state", "comparing"},
	OperationSleep:          {"sleep", "put to sleep", "going to sleep"},
	OperationWake:           {"waking", "wake", "waking"},
}

// Text is the kind as used in a sentence: "the rollback has failed".
func (k OperationKind) Text() string {
	if w, ok := KindWords[k]; ok {
		return w.noun
	}
	return humanize.Spaced(string(k))
}

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
