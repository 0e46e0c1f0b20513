package build

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"muster/app"
	"muster/app/cluster"
	"muster/app/humanize"
	"muster/app/label"
	"muster/app/layout"
	"muster/app/policy"
	"muster/app/template"
)

// RuleAction is what a rule does.
type RuleAction string

// The acts.
const (
	ActionCreate  RuleAction = "create"
	ActionDelete  RuleAction = "delete"
	ActionExtend  RuleAction = "extend"
	ActionNothing RuleAction = "nothing"
)

// ruleActions are all of them.
var ruleActions = []RuleAction{ActionCreate, ActionDelete, ActionExtend, ActionNothing}

// Forks says whether a rule takes what comes from forks.
type Forks string

// The choices; "" is ForksNever.
const (
	ForksNever   Forks = "never"
	ForksUnknown Forks = "unknown" // what does not tell, as GitHub's workflow_job
	ForksAll     Forks = "all"
)

// Rule says what is done with which events. Rules are looked at in order, and the first that matches counts. That a build ends its
// clusters needs no rule.
type Rule struct {
	Name string     `json:"name"`
	When string     `json:"when"`
	Do   RuleAction `json:"do"`
	// Key names what a cluster is for: one exists for each key. "" is the build, or the event's job.
	Key string `json:"key,omitempty"`
	// Of create. Texts may have parts such as ${event.branch}, which are CEL.
	Template   string         `json:"template,omitempty"`
	Size       int            `json:"size,omitempty"`
	Provider   string         `json:"provider,omitempty"`
	Cluster    string         `json:"cluster,omitempty"`
	Parameters map[string]any `json:"parameters,omitempty"`
	// Labels are those of the cluster. Their values may have parts such as ${event.branch}, and become what values can be.
	Labels map[string]string `json:"labels,omitempty"`
	// Lease is the backstop: the cluster goes then though no end is ever reported. Of extend it is by how much the lease moves.
	Lease       string `json:"lease,omitempty"`
	Concurrency int    `json:"concurrency,omitempty"`
	Queue       *int   `json:"queue,omitempty"`
	WaitFor     string `json:"wait_for,omitempty"`
	// Forks says whether it takes what comes from repositories that others write to.
	Forks Forks `json:"forks,omitempty"`
	// Callback is where the build is notified when it is ready, refused, failed or ended. "" is what the event says by itself.
	Callback string `json:"callback,omitempty"`
	Again    bool   `json:"again,omitempty"`
}

// Limits and defaults of rules.
const (
	maxBuildRules       = 50
	maxBuildParameters  = 100
	maxBuildConcurrency = 1000
	defaultConcurrency  = 10
	defaultBuildQueue   = 50
	defaultBuildLease   = 2 * time.Hour
	defaultBuildWait    = time.Hour
	maxBuildWait        = 24 * time.Hour
	minBuildLength      = time.Minute
	maxBuildLease       = 30 * 24 * time.Hour
)

// Spec is what a build is to have.
type Spec struct {
	Template    string         `json:"template"`
	Size        int            `json:"size,omitempty"`
	Provider    string         `json:"provider,omitempty"`
	Cluster     string         `json:"cluster,omitempty"`
	Parameters  map[string]any `json:"parameters,omitempty"`
	Labels      label.Labels   `json:"labels,omitempty"`
	Lease       time.Duration  `json:"lease"`
	WaitFor     time.Duration  `json:"wait_for"`
	Concurrency int            `json:"concurrency"`
}

func (k Spec) Request() cluster.CreateRequest {
	lease := k.Lease
	return cluster.CreateRequest{Request: layout.Request{Template: k.Template, Size: k.Size, Provider: k.Provider}, Name: k.Cluster,
		Parameters: k.Parameters, Lease: &lease,
		Labels: k.Labels}
}

func (r Rule) lengthOf(text string, otherwise time.Duration) time.Duration {
	if d, err := template.ParseLength(text); err == nil && text != "" {
		return d
	}
	return otherwise
}

// LeaseTime is how long a cluster of the rule lives at most, or by how much a lease is moved.
func (r Rule) LeaseTime() time.Duration { return r.lengthOf(r.Lease, defaultBuildLease) }

// WaitTime is how long a build waits to be ready.
func (r Rule) WaitTime() time.Duration { return r.lengthOf(r.WaitFor, defaultBuildWait) }

// AtOnce is how many clusters of the rule there are at once.
func (r Rule) AtOnce() int {
	if r.Concurrency == 0 {
		return defaultConcurrency
	}
	return r.Concurrency
}

// QueueLength is how many builds may wait for their turn.
func (r Rule) QueueLength() int {
	if r.Queue == nil {
		return defaultBuildQueue
	}
	return *r.Queue
}

func (r Rule) Check() error {
	wrong := func(field, message, hint string) error {
		return &app.Error{Code: app.EInvalid, Field: field, Message: message, Hint: hint}
	}
	span := func(field, text string, least, most time.Duration) error {
		if text == "" {
			return nil
		}
		d, err := template.ParseLength(text)
		if err != nil || d < least || d > most {
			return wrong(field, fmt.Sprintf("%q isn't a duration from %s to %s", humanize.Clip(text), humanize.Duration(least), humanize.Duration(most)), "Use a form such as 90m or 2h.")
		}
		return nil
	}
	switch {
	case !template.HookName(r.Name):
		return wrong("name", "the name must be lowercase letters, digits, '-' and '_'", "For example integration.")
	case strings.TrimSpace(r.When) == "":
		return wrong("when", "when is required", `For example event.phase == "queued", or true for always.`)
	case !slices.Contains(ruleActions, r.Do):
		return wrong("do", fmt.Sprintf("unknown action %q", humanize.Clip(string(r.Do))), "One of: "+template.Joined(ruleActions)+".")
	case r.Do == ActionCreate && r.Template == "":
		return wrong("template", "template is required", "Name a template.")
	case r.Forks != "" && r.Forks != ForksNever && r.Forks != ForksUnknown && r.Forks != ForksAll:
		return wrong("forks", fmt.Sprintf("unknown value %q for forks", humanize.Clip(string(r.Forks))), "Use never, unknown or all.")
	case r.Do == ActionExtend && r.Lease == "":
		return wrong("lease", "lease is required: how much to extend leases by", "For example lease: 1h.")
	case r.Do != ActionCreate && (r.Template != "" || r.Size != 0 || r.Cluster != "" || len(r.Parameters) > 0 || len(r.Labels) > 0 || r.Provider != "" ||
		r.Forks != "" || r.Again ||
		r.Concurrency != 0 || r.Queue != nil || r.WaitFor != "" || r.Callback != ""):
		return wrong("do", fmt.Sprintf("%q can't be used with settings for rules that create", r.Do), "Only key and lease apply.")
	case r.Size < 0 || r.Size > 100000:
		return wrong("size", "size must be from 1 to 100000", "Leave it out, or use 0, for the template's default.")
	case r.Concurrency < 0 || r.Concurrency > maxBuildConcurrency:
		return wrong("concurrency", fmt.Sprintf("must be from 1 to %d", maxBuildConcurrency), "")
	case r.Queue != nil && (*r.Queue < 0 || *r.Queue > maxBuildConcurrency):
		return wrong("queue", fmt.Sprintf("must be from 0 to %d", maxBuildConcurrency), "With 0, no build waits.")
	case len(r.Parameters) > maxBuildParameters:
		return wrong("parameters", fmt.Sprintf("at most %d are allowed", maxBuildParameters), "")
	case len(r.When) > 2000 || len(r.Key) > 2000 || len(r.Cluster) > 500 || len(r.Template) > 500:
		return wrong("when", "a text is too long", "Split the rule in two.")
	}
	if err := r.checkLabels(); err != nil {
		return err
	}
	if err := span("lease", r.Lease, minBuildLength, maxBuildLease); err != nil {
		return err
	}
	return span("wait_for", r.WaitFor, minBuildLength, maxBuildWait)
}

// checkLabels checks the number of labels and their keys. Their values are known when an event comes.
func (r Rule) checkLabels() error {
	if len(r.Labels) > label.MaxLabels {
		return &app.Error{Code: app.EInvalid, Field: "labels", Message: fmt.Sprintf("at most %d labels are allowed", label.MaxLabels)}
	}
	for _, key := range slices.Sorted(maps.Keys(r.Labels)) {
		if err := label.CheckKey(key); err != nil {
			return err
		}
		if len(r.Labels[key]) > 500 {
			return &app.Error{Code: app.EInvalid, Field: "labels", Message: fmt.Sprintf("label %q is too long", key), Hint: "Shorten it to 500 bytes."}
		}
	}
	return nil
}

// Judgement is what a rule says about an event: what it would ask for, with all CEL evaluated.
type Judgement struct {
	Applies bool
	Key     string
	Ask     Spec
	// Callback is where the build's state is sent, as the rule says it. CallbackWhy is why that is unknown.
	Callback    string
	CallbackWhy string
}

// RuleEngine understands the CEL in rules. It is pure; its methods may be called from many goroutines, and are bounded in time and
// cost.
type RuleEngine interface {
	// EventWords are what expressions can ask about.
	EventWords() []policy.Variable
	// CheckRule tells what is wrong with the CEL of a rule: EInvalid with the field, and line and column in the message.
	CheckRule(r Rule) error
	// JudgeRule says whether a rule matches, and what it would ask for. An error means that no one can tell.
	JudgeRule(ctx context.Context, r Rule, e app.BuildEvent) (Judgement, error)
	// KeyOf evaluates the key of a rule alone.
	KeyOf(ctx context.Context, r Rule, e app.BuildEvent) (string, error)
}

// CheckBuildRules says what is wrong with rules, before they are saved: EInvalid with rule and field.
func (a *Hooks) CheckBuildRules(ctx context.Context, actor app.Actor, rules []Rule) error {
	if err := actor.Authorize("CheckBuildRules"); err != nil {
		return err
	}
	if err := a.checkBuildRules(rules); err != nil {
		return err
	}
	return a.checkBuildTemplates(ctx, actor.Tenant, rules)
}

func (a *Hooks) checkBuildRules(rules []Rule) error {
	if len(rules) > maxBuildRules {
		return &app.Error{Code: app.ETooLarge, Field: "rules", Message: fmt.Sprintf("A hook can have at most %d rules.", maxBuildRules), Hint: "Create another hook."}
	}
	if a.BuildRules == nil && len(rules) > 0 {
		return &app.Error{Code: app.EInternal, Message: "this server has no rule engine"}
	}
	seen := map[string]bool{}
	for i, r := range rules {
		if err := r.Check(); err != nil {
			return inRule(i, r, err)
		}
		if seen[r.Name] {
			return inRule(i, r, &app.Error{Code: app.EInvalid, Field: "name", Message: "another rule has the same name", Hint: "The name identifies which rule a build came from."})
		}
		seen[r.Name] = true
		if err := a.BuildRules.CheckRule(r); err != nil {
			return inRule(i, r, err)
		}
		if err := a.checkCallback(r); err != nil {
			return inRule(i, r, err)
		}
	}
	return nil
}

func inRule(i int, r Rule, err error) error {
	e := *app.AsError(err)
	e.Field = fmt.Sprintf("rules[%d].%s", i, e.Field)
	e.Message = fmt.Sprintf("Rule %d (%s): %s", i+1, cmp.Or(humanize.Clip(r.Name), "unnamed"), e.Message)
	return &e
}
