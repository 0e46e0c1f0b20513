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

// hookList is the page of a tenant's build hooks, with the form for a new one and the builds that live.
type HookList struct {
	Now     time.Time
	Hooks   []build.BuildHook
	Systems []build.BuildSystem
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

// HookForm is what was typed of a new hook, and what is wrong with it.
type HookForm struct {
	Name, System, Owner string
	Field               string // where the complaint belongs
	Complaint           page.Complaint
}

// Error returns the complaint about a field.
func (f HookForm) Error(field string) page.Complaint {
	if f.Field == field {
		return f.Complaint
	}
	return page.Complaint{}
}

// hookShow is the page of one build hook.
type HookShow struct {
	Now        time.Time
	Hook       build.BuildHook
	System     build.BuildSystem
	URL        string // where deliveries go to, the whole of it
	Secret     string // that was made just now; "" else
	Deliveries []build.BuildTaken
	Builds     []build.Build
	Before     int64  // the list shows what came before this delivery; 0: the newest
	Saved      string // what was saved just now: hook, rules, statuses or no-statuses
	Rules      RulesForm
	Statuses   StatusForm
	// SecretTyped complains about a secret that was brought here.
	SecretTyped page.Complaint
}

// StatusForm is what was typed of commit statuses, and what is wrong with it. The token is never shown again.
type StatusForm struct {
	API       string
	Field     string // where the complaint belongs
	Complaint page.Complaint
}

// Error returns the complaint about a field; what is about no field is said beside the token.
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

// Older is where the next part of the deliveries begins; 0: there is none.
func (s HookShow) Older() int64 {
	if len(s.Deliveries) < webhook.HookPage {
		return 0
	}
	return s.Deliveries[len(s.Deliveries)-1].ID
}

// RulesForm is the editor of rules: the text as it was typed, what is wrong with it, and what a trial of it said.
type RulesForm struct {
	Text      string
	Complaint page.Complaint
	Delivery  int64 // that was tried
	Tried     *build.BuildTried
}

// Delivery is the page of one delivery.
type Delivery struct {
	Now      time.Time
	Hook     string
	Delivery build.BuildTaken
}

func buildHookMark(h build.BuildHook) (mark, word string) {
	switch {
	case h.Why != "":
		return string(app.StepFailed), "cannot act"
	case !h.Enabled:
		return "dropped", "off"
	case h.Refused != "" && h.RefusedAt.After(h.LastAt):
		return string(app.StepAsked), "refused the latest"
	case h.LastAt.IsZero():
		return string(app.StepWaiting), "not heard of yet"
	}
	return string(app.StepSucceeded), "heard"
}

func outcomeMark(o build.BuildOutcome) (mark, word string) {
	switch o {
	case build.BuildTakenBegun, build.BuildTakenExtended, build.BuildTakenEnded:
		return string(app.StepSucceeded), string(o)
	case build.BuildTakenRefused, build.BuildTakenUnreadable:
		return string(app.StepFailed), string(o)
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

// eventWords says what a delivery was about.
func eventWords(event, action string) string {
	return strings.TrimSpace(strings.ReplaceAll(event, "_", " ") + " " + action)
}

// AboutBuild says whose build it is, in a line.
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

func lookWords(l build.BuildLook) string {
	switch {
	case l.Words != "":
		return l.Words
	case l.Matched:
		return "It matches."
	}
	return "It does not match."
}

// triedWords says in the end of a sentence what a trial found.
func triedWords(t build.BuildTried) string {
	switch build.BuildAct(t.Do) {
	case build.BuildCreate:
		words := "ask for a cluster"
		if t.Ask != nil {
			words += " of " + t.Ask.Template
			if t.Ask.Size > 0 {
				words += " with " + humanize.CountOf(t.Ask.Size, "node", "nodes")
			}
		}
		return words + ", by rule " + t.Rule + "."
	case build.BuildDelete:
		return "give clusters back, by rule " + t.Rule + "."
	case build.BuildExtend:
		return "move a lease, by rule " + t.Rule + "."
	}
	if len(t.Ends) > 0 {
		return "end what the build has."
	}
	return "do nothing."
}

func firstWord(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// Fate says what the end of a build means for its cluster.
func Fate(s app.ClusterStatus) string {
	if s == app.ClusterDeleted {
		return "which has ended."
	}
	return "and given back when it ends."
}
