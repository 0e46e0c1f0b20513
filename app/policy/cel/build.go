package cel

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types/ref"
	"muster/app"
	"muster/app/build"
	"muster/app/label"
	"muster/app/policy"
)

// eventWords are the fields of an event, in the order of the documentation. All of them are always there.
var eventWords = []policy.Variable{
	{Name: "event.system", Type: "text", Text: "the build system: github, gitlab, …"},
	{Name: "event.event", Type: "text", Text: "the system's own name of the event: workflow_job, pipeline, …"},
	{Name: "event.action", Type: "text", Text: "the system's own action: queued, completed, opened, …"},
	{Name: "event.phase", Type: "text", Text: "queued, running, ended, or other if the event isn't part of a build"},
	{Name: "event.build", Type: "text", Text: "the build, with repository and attempt; empty if the event has no build"},
	{Name: "event.job", Type: "text", Text: "the job in the build; empty for the whole build"},
	{Name: "event.job_id", Type: "text", Text: "the job number"},
	{Name: "event.result", Type: "text", Text: "the result of an ended build or job, as the system names it"},
	{Name: "event.repository", Type: "text", Text: "the repository"},
	{Name: "event.branch", Type: "text", Text: "the branch, without refs/heads/"},
	{Name: "event.tag", Type: "text", Text: "the tag"},
	{Name: "event.commit", Type: "text", Text: "the commit"},
	{Name: "event.pull_request", Type: "whole number", Text: "the pull or merge request, 0 for none"},
	{Name: "event.fork", Type: "true or false", Text: "whether the code comes from a fork"},
	{Name: "event.fork_unknown", Type: "true or false", Text: "whether the event doesn't say if it is a fork"},
	{Name: "event.actor", Type: "text", Text: "who triggered the event"},
	{Name: "event.url", Type: "text", Text: "a link for people"},
	{Name: "event.labels", Type: "list", Text: "what the build requires: labels, tags, agent rules"},
	{Name: "event.payload", Type: "map", Text: "the complete event; use has(event.payload.x) for optional fields"},
}

type Builds struct{ engine *Engine }

var _ build.RuleEngine = (*Builds)(nil)

// NewBuilds makes an engine for the rules of build hooks.
func NewBuilds() *Builds {
	env, err := cel.NewEnv(cel.CrossTypeNumericComparisons(true), cel.ParserRecursionLimit(maxDepth), cel.ParserExpressionSizeLimit(maxLength),
		cel.DefaultUTCTimeZone(true), cel.Variable("event", cel.MapType(cel.StringType, cel.DynType)))
	if err != nil {
		panic("policy: " + err.Error()) // tests make an engine
	}
	e := &Engine{env: env, known: map[key]compiled{}}
	for _, w := range eventWords {
		e.words = append(e.words, w.Name)
	}
	return &Builds{e}
}

func (b *Builds) EventWords() []policy.Variable { return slices.Clone(eventWords) }

func (b *Builds) CheckRule(r build.Rule) error {
	if err := b.check("when", r.When, truthy); err != nil {
		return err
	}
	if r.Key != "" {
		if err := b.check("key", r.Key, phrase); err != nil {
			return err
		}
	}
	for _, text := range [][2]string{{"template", r.Template}, {"cluster", r.Cluster}, {"callback", r.Callback}} {
		if err := b.checkWords(text[0], text[1]); err != nil {
			return err
		}
	}
	for key, words := range r.Labels {
		if err := b.checkWords("labels."+key, words); err != nil {
			return err
		}
	}
	return walk("parameters", anyMap(r.Parameters), 0, func(field, words string) error { return b.checkWords(field, words) })
}

func anyMap(m map[string]any) any {
	if m == nil {
		return nil
	}
	return m
}

// maxNested is how deep values of parameters may be.
const maxNested = 10

// walk visits the texts in a value.
func walk(field string, v any, depth int, visit func(field, words string) error) error {
	if depth > maxNested {
		return &app.Error{Code: app.EInvalid, Field: field, Message: field + " is nested too deeply."}
	}
	switch v := v.(type) {
	case string:
		return visit(field, v)
	case []any:
		for i, e := range v {
			if err := walk(fmt.Sprintf("%s[%d]", field, i), e, depth+1, visit); err != nil {
				return err
			}
		}
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) { // so that the same one is complained about
			if err := walk(field+"."+k, v[k], depth+1, visit); err != nil {
				return err
			}
		}
	}
	return nil
}

// check compiles an expression, and looks whether events have what it asks for.
func (b *Builds) check(field, code string, want kind) error {
	if _, err := b.engine.compile(field, code, want); err != nil {
		return err
	}
	tree, issues := b.engine.env.Compile(code)
	if issues.Err() != nil {
		return nil //nolint:nilerr // compile has said it
	}
	var wrong error
	native := tree.NativeRep()
	ast.PostOrderVisit(native.Expr(), ast.NewExprVisitor(func(x ast.Expr) {
		if wrong != nil || x.Kind() != ast.SelectKind {
			return
		}
		s := x.AsSelect()
		if s.Operand().Kind() != ast.IdentKind || s.Operand().AsIdent() != "event" {
			return
		}
		word := "event." + s.FieldName()
		if slices.Contains(b.engine.words, word) {
			return
		}
		at := native.SourceInfo().GetStartLocation(x.ID())
		e := &app.Error{Code: app.EInvalid, Reason: "cel", Field: field,
			Message: fmt.Sprintf("%s, line %d, column %d: unknown event field %q", field, max(at.Line(), 1), max(at.Column(), 0)+1, s.FieldName()),
			Hint:    "Use one of: " + strings.Join(b.engine.words, ", ") + "."}
		if near := nearest(word, b.engine.words); near != "" {
			e.Hint = fmt.Sprintf("Did you mean %s? %s", near, e.Hint)
		}
		wrong = e
	}))
	return wrong
}

func (b *Builds) checkWords(field, words string) error {
	pieces, err := splitIn(field, words)
	if err != nil {
		return err
	}
	for _, p := range pieces {
		if p.code {
			if err := b.check(field, p.text, anything); err != nil {
				return err
			}
		}
	}
	return nil
}

// splitIn is split with the name of another field.
func splitIn(field, words string) ([]piece, error) {
	pieces, err := split(words)
	if err != nil {
		return nil, &app.Error{Code: app.EInvalid, Reason: "cel", Field: field, Message: field + ": a ${ isn't closed, or there are too many.",
			Hint: "For example: ci-${event.branch}."}
	}
	return pieces, nil
}

func (b *Builds) JudgeRule(ctx context.Context, r build.Rule, e app.BuildEvent) (j build.Judgement, err error) {
	defer func() {
		if p := recover(); p != nil { // the library is not ours
			j, err = build.Judgement{}, app.Errorf(app.EInvalid, "evaluation failed: %v", p)
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, maxTime)
	defer cancel()
	facts := eventFacts(e)
	applies, err := b.engine.eval(ctx, "when", r.When, truthy, facts)
	if err != nil {
		return j, err
	}
	if j.Applies, _ = applies.(bool); !j.Applies || r.Do == build.ActionNothing {
		return j, nil
	}
	if j.Key, err = b.key(ctx, r, e, facts); err != nil {
		return build.Judgement{}, err
	}
	if r.Do != build.ActionCreate {
		return j, nil
	}
	j.Ask = build.Spec{Size: r.Size, Provider: r.Provider, Lease: r.LeaseTime(), WaitFor: r.WaitTime(), Concurrency: r.AtOnce()}
	if j.Ask.Template, err = b.words(ctx, "template", r.Template, facts); err != nil {
		return build.Judgement{}, err
	}
	if j.Ask.Cluster, err = b.words(ctx, "cluster", r.Cluster, facts); err != nil {
		return build.Judgement{}, err
	}
	j.Ask.Cluster = clusterName(j.Ask.Cluster)
	if j.Callback, err = b.words(ctx, "callback", r.Callback, facts); err != nil {
		j.Callback, j.CallbackWhy = "", app.AsError(err).ForPeople() // whom to tell decides nothing
	} else if len(j.Callback) >= maxReason { // it was cut
		j.Callback, j.CallbackWhy = "", fmt.Sprintf("callback must be at most %d bytes", maxReason-1)
	}
	if j.Ask.Labels, err = b.labels(ctx, r, facts); err != nil {
		return build.Judgement{}, err
	}
	if len(r.Parameters) == 0 {
		return j, nil
	}
	value, err := b.expandAll(ctx, "parameters", r.Parameters, facts, 0)
	if err != nil {
		return build.Judgement{}, err
	}
	j.Ask.Parameters, _ = value.(map[string]any)
	return j, nil
}

// labels are those of a rule for an event. What an event says becomes what a value can be; a label of nothing is left out.
func (b *Builds) labels(ctx context.Context, r build.Rule, facts map[string]any) (label.Labels, error) {
	var out label.Labels
	for key, words := range r.Labels {
		text, err := b.words(ctx, "labels."+key, words, facts)
		if err != nil {
			return nil, err
		}
		if text = label.Value(text); text == "" {
			continue
		}
		if out == nil {
			out = label.Labels{}
		}
		out[key] = text
	}
	return out, nil
}

func (b *Builds) KeyOf(ctx context.Context, r build.Rule, e app.BuildEvent) (k string, err error) {
	defer func() {
		if p := recover(); p != nil {
			k, err = "", app.Errorf(app.EInvalid, "evaluation failed: %v", p)
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, maxTime)
	defer cancel()
	return b.key(ctx, r, e, eventFacts(e))
}

func (b *Builds) key(ctx context.Context, r build.Rule, e app.BuildEvent, facts map[string]any) (string, error) {
	if r.Key == "" {
		return e.DefaultKey(), nil
	}
	v, err := b.engine.eval(ctx, "key", r.Key, phrase, facts)
	if err != nil {
		return "", err
	}
	k, _ := v.(string)
	return strings.ToValidUTF8(strings.ReplaceAll(k, "\x00", ""), "?"), nil
}

func (b *Builds) words(ctx context.Context, field, text string, facts map[string]any) (string, error) {
	v, err := b.expandOne(ctx, field, text, facts)
	if err != nil {
		return "", err
	}
	if s, ok := v.(string); ok {
		return s, nil
	}
	return fmt.Sprint(v), nil
}

// expandOne puts values for the expressions in a text. A text that is one expression alone keeps the kind of its value.
func (b *Builds) expandOne(ctx context.Context, field, text string, facts map[string]any) (any, error) {
	pieces, err := splitIn(field, text)
	if err != nil {
		return nil, err
	}
	var out strings.Builder
	for _, p := range pieces {
		if !p.code {
			out.WriteString(p.text)
			continue
		}
		v, err := b.engine.eval(ctx, field, p.text, anything, facts)
		if err != nil {
			return nil, err
		}
		if len(pieces) == 1 {
			return plain(v), nil
		}
		out.WriteString(words(v))
		if out.Len() > maxReason {
			return nil, app.Errorf(app.EInvalid, "%s must be at most %d bytes", field, maxReason)
		}
	}
	return strings.ToValidUTF8(out.String(), "?"), nil
}

// plain returns a value that a parameter can have.
func plain(v any) any {
	if r, ok := v.(ref.Val); ok {
		switch x := r.Value().(type) {
		case bool, int64, float64:
			return x
		case uint64:
			return int64(min(x, 1<<62))
		case string:
			return strings.ToValidUTF8(x[:min(len(x), maxReason)], "?")
		}
	}
	switch x := v.(type) {
	case bool:
		return x
	case time.Duration, time.Time:
		return words(x)
	}
	text := words(v)
	return strings.ToValidUTF8(text[:min(len(text), maxReason)], "?")
}

func (b *Builds) expandAll(ctx context.Context, field string, v any, facts map[string]any, depth int) (any, error) {
	if depth > maxNested {
		return nil, app.Errorf(app.EInvalid, "%s is nested too deeply", field)
	}
	switch v := v.(type) {
	case string:
		return b.expandOne(ctx, field, v, facts)
	case []any:
		out := make([]any, len(v))
		for i := range v {
			var err error
			if out[i], err = b.expandAll(ctx, fmt.Sprintf("%s[%d]", field, i), v[i], facts, depth+1); err != nil {
				return nil, err
			}
		}
		return out, nil
	case map[string]any:
		out := map[string]any{}
		for _, k := range slices.Sorted(maps.Keys(v)) {
			var err error
			if out[k], err = b.expandAll(ctx, field+"."+k, v[k], facts, depth+1); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	return v, nil
}

// clusterName makes of a text what a cluster can be called: branches have slashes and capitals.
func clusterName(s string) string {
	var out []byte
	for _, c := range []byte(strings.ToLower(s)) {
		if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' {
			out = append(out, c)
		} else if len(out) > 0 && out[len(out)-1] != '-' {
			out = append(out, '-')
		}
	}
	if len(out) > 0 && out[0] <= '9' {
		out = append([]byte("b-"), out...)
	}
	out = out[:min(len(out), 40)]
	return strings.Trim(string(out), "-")
}

// eventFacts names an event's fields in CEL.
func eventFacts(e app.BuildEvent) map[string]any {
	payload := e.Payload
	if payload == nil {
		payload = map[string]any{}
	}
	return map[string]any{"event": map[string]any{
		"system": e.System, "event": e.Event, "action": e.Action, "phase": string(e.Phase), "build": e.Build, "job": e.Job, "job_id": e.JobID, "fork_unknown": e.ForkUnknown, "result": e.Result,
		"repository": e.Repository, "branch": e.Branch, "tag": e.Tag, "commit": e.Commit, "pull_request": e.PullRequest, "fork": e.Fork, "actor": e.Actor,
		"url": e.URL, "labels": few(e.Labels), "payload": payload,
	}}
}
