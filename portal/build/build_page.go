package build

import (
	"strconv"
	"strings"
	"time"

	"muster/app"
	"muster/app/build"
	"muster/app/humanize"
	"muster/portal/page"
	"muster/portal/webhook"
)

// HookList is the list of a tenant's build hooks, with current builds and the form for a new hook.
type HookList struct {
	Now     time.Time
	Hooks   []build.BuildHook
	Systems []build.System
	Builds  []build.Build
	Form    HookForm
}

func (l HookList) title(system string) string {
	for _, s := range l.Systems {
		if s.Name == system {
			return s.Title
		}
	}
	return system
}

// HookForm is the form for a new hook, with its error.
type HookForm struct {
	Name, System, Owner string
	Field               string // of the complaint
	Complaint           page.Complaint
}

// Error returns a field's complaint.
func (f HookForm) Error(field string) page.Complaint {
	if f.Field == field {
		return f.Complaint
	}
	return page.Complaint{}
}

// HookShow is a build hook's page.
type HookShow struct {
	Now        time.Time
	Hook       build.BuildHook
	System     build.System
	URL        string // full URL for deliveries
	Secret     string // just generated; otherwise ""
	Deliveries []build.DeliveryRecord
	Builds     []build.Build
	Before     int64  // list deliveries before this one; 0: the newest
	Saved      string // what was just saved: hook, rules, statuses or no-statuses
	Rules      RulesForm
	Statuses   StatusForm
	// SecretTyped is the error of an entered secret.
	SecretTyped page.Complaint
}

// StatusForm is the form for commit statuses, with its error. The token is never shown again.
type StatusForm struct {
	API       string
	Field     string // of the complaint
	Complaint page.Complaint
}

// Error returns a field's complaint; one without a field is shown at the token.
func (f StatusForm) Error(field string) page.Complaint {
	if f.Field == field || field == "status_token" && f.Field != "status_api" {
		return f.Complaint
	}
	return page.Complaint{}
}

func (s HookShow) tokenPlaceholder() string {
	if s.Hook.Statuses {
		return "••••••••"
	}
	return ""
}

// Older is where the next page of deliveries starts; 0: none.
func (s HookShow) Older() int64 {
	if len(s.Deliveries) < webhook.HookPage {
		return 0
	}
	return s.Deliveries[len(s.Deliveries)-1].ID
}

// RulesForm is the rule editor: its text, error and trial.
type RulesForm struct {
	Text      string
	Complaint page.Complaint
	Delivery  int64 // of the trial
	Tried     *build.RuleTrialResult
}

// Delivery is a delivery's page.
type Delivery struct {
	Now      time.Time
	Hook     string
	Delivery build.DeliveryRecord
}

func buildHookMark(h build.BuildHook) (mark, word string) {
	switch {
	case h.Problem != "":
		return string(app.StepFailed), "failing"
	case !h.Enabled:
		return "dropped", "disabled"
	case h.Refused != "" && h.RefusedAt.After(h.LastDeliveryAt):
		return string(app.StepAsked), "last delivery rejected"
	case h.LastDeliveryAt.IsZero():
		return string(app.StepWaiting), "no deliveries yet"
	}
	return string(app.StepSucceeded), "active"
}

func outcomeMark(o build.Outcome) (mark, word string) {
	switch o {
	case build.OutcomeStarted:
		return string(app.StepSucceeded), "build started"
	case build.OutcomeExtended, build.OutcomeEnded:
		return string(app.StepSucceeded), string(o)
	case build.OutcomeRefused, build.OutcomeUnreadable:
		return string(app.StepFailed), string(o)
	case build.OutcomeDuplicate:
		return "dropped", "already known"
	case build.OutcomeIgnored:
		return "dropped", "ignored"
	}
	return "dropped", string(o)
}

func buildMark(b build.Build) (mark, word string) {
	switch b.State {
	case app.BuildReady:
		return string(app.StepSucceeded), "ready"
	case app.BuildCreating, app.BuildEnding:
		return string(app.StepRunning), string(b.State)
	case app.BuildWaiting, app.BuildAsking:
		return string(app.StepWaiting), string(b.State)
	case app.BuildRefused, app.BuildFailed:
		return string(app.StepFailed), string(b.State)
	}
	return "dropped", string(b.State)
}

// eventWords names a delivery's event.
func eventWords(event, action string) string {
	return strings.TrimSpace(strings.ReplaceAll(event, "_", " ") + " " + action)
}

// AboutBuild describes a build in one line.
func AboutBuild(e app.BuildEvent) string {
	var words []string
	for _, w := range []string{e.Repository, e.Branch, e.Tag, e.Job} {
		if w != "" {
			words = append(words, w)
		}
	}
	if e.PullRequest > 0 {
		words = append(words, "#"+strconv.FormatInt(e.PullRequest, 10))
	}
	if e.Actor != "" {
		words = append(words, "by "+e.Actor)
	}
	return strings.Join(words, " · ")
}

func buildHookPath(name string) string { return "/admin/builds/" + name }

func buildDeliveryPath(hook string, id int64) string {
	return buildHookPath(hook) + "/deliveries/" + strconv.FormatInt(id, 10)
}

func lookWords(l build.RuleMatch) string {
	switch {
	case l.Message != "":
		return l.Message
	case l.Matched:
		return "matches"
	}
	return "doesn't match"
}

// triedWords is the result of a trial, to follow "would".
func triedWords(t build.RuleTrialResult) string {
	switch build.RuleAction(t.Action) {
	case build.ActionCreate:
		words := "create a cluster"
		if t.Ask != nil {
			words += " from " + t.Ask.Template
			if t.Ask.Size > 0 {
				words += " with " + humanize.Count(t.Ask.Size, "node")
			}
		}
		return words + " (rule " + t.Rule + ")"
	case build.ActionDelete:
		return "delete clusters (rule " + t.Rule + ")"
	case build.ActionExtend:
		return "extend a lease (rule " + t.Rule + ")"
	}
	if len(t.Ends) > 0 {
		return "end the build and delete its clusters"
	}
	return "do nothing"
}

func firstWord(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// Fate says what happens to a build's cluster.
func Fate(s app.ClusterStatus) string {
	if s == app.ClusterDeleted {
		return "– the build has ended."
	}
	return "– deleted when the build ends."
}
