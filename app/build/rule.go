package build

import (
	"context"
	"fmt"

	"muster/app"
	"muster/app/policy"
)

// BuildJudgement is what a rule says about an event: what it would ask for, with all CEL evaluated.
type BuildJudgement struct {
	Applies bool
	Key     string
	Ask     app.BuildAsk
	// Callback is where the build is to be told how it stands, as the rule says it. CallbackWhy is why that cannot be told.
	Callback    string
	CallbackWhy string
}

// BuildRuleEngine understands the CEL in rules. It is pure; its methods may be called from many goroutines, and are bounded in time and
// cost.
type BuildRuleEngine interface {
	// EventWords are what expressions can ask about.
	EventWords() []policy.PolicyWord
	// CheckRule tells what is wrong with the CEL of a rule: EInvalid with the field, and line and column in the message.
	CheckRule(r app.BuildRule) error
	// JudgeRule says whether a rule matches, and what it would ask for. An error means that nobody can tell.
	JudgeRule(ctx context.Context, r app.BuildRule, e app.BuildEvent) (BuildJudgement, error)
	// KeyOf evaluates the key of a rule alone.
	KeyOf(ctx context.Context, r app.BuildRule, e app.BuildEvent) (string, error)
}

// CheckBuildRules says what is wrong with rules, before they are saved: EInvalid with rule and field.
func (a *Service) CheckBuildRules(ctx context.Context, actor app.Actor, rules []app.BuildRule) error {
	if err := actor.Authorize("CheckBuildRules"); err != nil {
		return err
	}
	if err := a.checkBuildRules(rules); err != nil {
		return err
	}
	return a.checkBuildTemplates(ctx, actor.Tenant, rules)
}

func (a *Service) checkBuildRules(rules []app.BuildRule) error {
	if len(rules) > app.MaxBuildRules {
		return &app.Error{Code: app.ETooLarge, Field: "rules", Message: fmt.Sprintf("There are more than %d rules.", app.MaxBuildRules), Hint: "Make another hook."}
	}
	if a.BuildRules == nil && len(rules) > 0 {
		return &app.Error{Code: app.EInternal, Message: "this server has no engine for rules"}
	}
	seen := map[string]bool{}
	for i, r := range rules {
		if err := r.Check(); err != nil {
			return inRule(i, r, err)
		}
		if seen[r.Name] {
			return inRule(i, r, &app.Error{Code: app.EInvalid, Field: "name", Message: "another rule has the same name", Hint: "What a build came from is told by it."})
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

func inRule(i int, r app.BuildRule, err error) error {
	e := *app.AsError(err)
	e.Field = fmt.Sprintf("rules[%d].%s", i, e.Field)
	e.Message = fmt.Sprintf("Rule %d (%s): %s", i+1, app.FirstOf(app.Clip(r.Name), "without a name"), e.Message)
	return &e
}
