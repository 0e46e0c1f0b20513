package jobs

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"muster/app"
	"muster/app/execution"
	"muster/jobs/budget"
	"muster/jobs/internal/loop"
	"muster/jobs/remote"
)

// verdict is what happens to a failed attempt.
type verdict int

// The verdicts.
const (
	never     verdict = iota // asking again, unchanged, cannot help
	again                    // after a back-off, or as long as the other side asks for
	elsewhere                // again, and where another place offers the same, there
	ask                      // a person has to decide or to put something right first; then it can be resumed
)

// rule is the policy for a code and, where one is named, a reason.
type rule struct {
	code    app.Code
	reason  string
	verdict verdict
	tries   int           // again, elsewhere: the try that is the last one
	first   time.Duration // the back-off after the first try; it doubles with each
	free    bool          // nothing was tried: the attempt counts only against patience
	advice  string        // for the person who asked, where the error itself has no hint
}

// Reasons that this file tells apart. Others share the rule of their code.
const (
	reasonStopped   = "worker_stopped" // the worker was shut down, not the step
	reasonTimeLimit = "time_limit"     // the action took longer than its service allows
	reasonUnhealthy = "unhealthy"      // a service did not become healthy in its time
	reasonImageRoom = "image_no_room"  // a container engine's disk is full: pulling or building again would fill it again
)

// policy alone decides what happens to a failed attempt. A reason goes before the rule of its code. A service's time
// limit (its action's timeout in the catalog) and those of machine actions say when an attempt has failed.
var policy = []rule{
	// The world outside: what passes.
	{code: app.ETransient, verdict: again, tries: 5, first: time.Second},
	{code: app.ETransient, reason: reasonStopped, verdict: again, free: true},
	{code: app.ETransient, reason: reasonReplaced, verdict: again, tries: 2 * maxMachines, first: time.Second}, // how many machines there may be, the step counts
	{code: app.ETransient, reason: execution.ReasonKept, verdict: again, tries: 2 * maxMachines, first: time.Second},
	{code: app.ETransient, reason: remote.ReasonOccupied, verdict: again, first: time.Second, free: true},
	{code: app.ETimeout, verdict: again, tries: 5, first: time.Second},
	{code: app.ETimeout, reason: reasonTimeLimit, verdict: again, tries: 3, first: 2 * time.Second,
		advice: "Check its log. If it only needs more time, raise the action's timeout in the catalog, then resume."},
	{code: app.ERateLimit, verdict: again, tries: 10, first: 5 * time.Second,
		advice: "Something else may be using the same account. Resume when it's less busy."},
	{code: app.ERateLimit, reason: budget.Reason, verdict: again, first: time.Second, free: true},
	{code: app.ECapacity, verdict: elsewhere, tries: 5, first: 10 * time.Second,
		advice: "The provider has no capacity for this machine type. Resume later, or add fallback_hardware to the template."},
	{code: app.EScript, verdict: again, tries: 3, first: 2 * time.Second, // Coopr tried everything three times
		advice: "Check its log. Fix the cause on the node and resume, or change the configuration to finish the remaining steps."},
	{code: app.EScript, reason: reasonUnhealthy, verdict: ask, // it has been waited for as long as the service says
		advice: "The service runs but isn't healthy. Fix the cause on the node and resume, or change the configuration to finish the remaining steps."},
	{code: app.EScript, reason: reasonCommand, verdict: ask, advice: "Check its output. Run it again on the nodes where it failed."},
	{code: app.EInternal, verdict: again, tries: 3, first: time.Second},
	{code: app.EConflict, verdict: again, tries: 5, first: time.Second}, // someone else is at work on the same thing
	{code: app.EConflict, reason: reasonImageRoom, verdict: ask, advice: "Free up space on the host's disk, then resume."},

	// The world outside: what a person has to fix.
	{code: app.ECredentials, verdict: ask, advice: "Correct the credentials, then resume."},
	{code: app.EQuota, verdict: ask, advice: "Raise the account's limit or delete machines that count toward it, then resume."},
	{code: app.EHostKey, verdict: ask,
		advice: "Check that this is the right machine. If it is, resume; if not, repair the cluster to replace it."},

	// What was asked: the same again gets the same answer.
	{code: app.EInvalid, verdict: never, advice: "Fix the problem named above and resume, or delete the cluster."},
	{code: app.ENotFound, verdict: never, advice: "It no longer exists. If it's a machine, repair the cluster to replace it."},
	{code: app.ENoLayout, verdict: never},
	{code: app.ETooLarge, verdict: never},

	// Who asked, and whose step it is.
	{code: app.EUnauthorized, verdict: ask, advice: "Create a new token for the worker, then resume."},
	{code: app.EForbidden, verdict: ask, advice: "Grant the missing permission, then resume."},
	{code: app.ECancelled, verdict: never},
	{code: app.EStale, verdict: never}, // it is another attempt's by now
}

// patience is how long a step is tried at all, counted from its first try since the operation was last resumed: "again"
// doesn't last forever, whatever its reason. A longer time limit of a service still has its first try.
const patience = 6 * time.Hour

// retryOf is retry for a claimed step, and adds a hint where the policy knows one and no one else did.
func retryOf(e *app.Error, as *execution.Assignment) app.Retry {
	p := ruleOf(e, as.Action)
	r := p.decide(e, as.Tries, as.Age)
	switch {
	case r.Again && as.Action == app.ActionDelete && !r.Free:
		e.Message, e.Err = keepsTrying(e, as), nil
	case r.Again || e.Hint != "":
	case as.Age >= patience && (p.verdict == again || p.verdict == elsewhere):
		e.Hint = "Muster retried for 6 h. Resume to keep trying."
	default:
		e.Hint = p.advice
	}
	return r
}

// ruleOf returns the rule of an error that a step has met. A deletion is retried for as long as time can help, since what it leaves costs money.
func ruleOf(e *app.Error, a app.Action) rule {
	p := ruleFor(e)
	switch {
	case a == app.ActionRun && e.Reason == reasonTimeLimit: // a person's command isn't repeated by itself
		p.verdict, p.advice = ask, "Check its output. Run it again with a longer timeout."
	case a == app.ActionRun && (p.verdict == again || p.verdict == elsewhere) && !slices.Contains(beforeCommands, e.Reason):
		p.verdict, p.advice = ask, "It's unknown how the command ended. Check the node, then run it again if needed."
	case a != app.ActionDelete:
	case p.verdict == again, p.verdict == elsewhere:
		p.verdict, p.tries, p.first = again, math.MaxInt, max(p.first, time.Second)
	case e.Code == app.EInvalid, e.Code == app.ENotFound:
		p.advice = deleteAdvice
	}
	return p
}

// beforeCommands are reasons for which a command was not started, or is still waited for by the next attempt.
var beforeCommands = []string{"no_answer", "no_connection", "no_session", reasonStopped, reasonReplaced, remote.ReasonOccupied, budget.Reason}

// deleteAdvice is for deletions that a provider refuses: the request is right, whatever it says.
const deleteAdvice = "Check the provider's console and delete the machine there if it still exists, then resume. The deletion is complete when the provider no longer lists the machine."

// keepsTrying words why a deletion has failed that is tried again, and until when it will be.
func keepsTrying(e *app.Error, as *execution.Assignment) string {
	text := strings.TrimRight(e.ForPeople(), ". ")
	if e.Reason == app.ReasonCloudBroken && !strings.Contains(e.Message, app.CloudBroken) {
		cause := "can't connect" // what the network says is for the log
		if e.Err == nil {
			cause = strings.TrimRight(e.Message, ". ")
		}
		text = fmt.Sprintf("%s %s: %s", as.Provider.Name, app.CloudBroken, cause)
	} else if e.Reason == app.ReasonCloudBroken {
		text = strings.TrimRight(e.Message, ". ")
	}
	return fmt.Sprintf("%s; retrying until %s.", text, time.Now().Add(patience-as.Age).UTC().Format("15:04 UTC"))
}

func (p rule) decide(e *app.Error, tries int, age time.Duration) app.Retry {
	switch {
	case p.verdict != again && p.verdict != elsewhere, age >= patience, !p.free && tries >= p.tries:
		return app.Retry{}
	}
	r := app.Retry{Again: true, Elsewhere: p.verdict == elsewhere, Free: p.free}
	if p.first > 0 || e.RetryAfter > 0 {
		if p.free {
			tries = 1 // it was not tried, so there is nothing to learn from how often
		}
		r.After = max(min(e.RetryAfter, loop.LongestAsked), loop.BackOff(p.first, tries))
	}
	return r
}

// Tries returns how often a step is tried whose attempts fail with a code, for people who see which attempt failed; 0
// where it is not tried again.
func Tries(c app.Code) int { return ruleFor(&app.Error{Code: c}).tries }

// ruleFor returns the rule of an error's reason, or else that of its code; a code that is not listed is never tried again.
func ruleFor(e *app.Error) rule {
	found := rule{code: e.Code}
	for _, p := range policy {
		switch {
		case p.code != e.Code:
		case p.reason != "" && p.reason == e.Reason:
			return p
		case p.reason == "":
			found = p
		}
	}
	return found
}
