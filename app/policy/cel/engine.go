package cel

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"
	_ "time/tzdata" // hosts without zones have tenants with them

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"muster/app"
	"muster/app/humanize"
	"muster/app/policy"
)

// Bounds of one evaluation. Policies that people write cost tens, and take microseconds.
const (
	maxCost    = 100_000
	maxTime    = 50 * time.Millisecond
	maxDepth   = 40
	maxLength  = 4000  // of an expression, in code points
	maxReason  = 2000  // of an expanded reason, in bytes
	maxEntries = 4096  // compiled expressions that are kept
	everyLoop  = 100   // turns of a loop between two looks at the clock
	maxPieces  = 40    // expressions in a reason
	maxListed  = 10000 // entries of a list in facts
)

// Engine implements app.PolicyEngine. It keeps what it has compiled, by the text of the expression, so every version of a
// policy is compiled once.
type Engine struct {
	env   *cel.Env
	mu    sync.Mutex
	known map[key]compiled
	zones sync.Map // by name; reading one takes longer than an evaluation
	words []string // that expressions may begin with
}

type key struct {
	text string
	want kind
}

type compiled struct {
	program cel.Program
	reads   []string // names that it reads, as far as layoutOnly has them
	err     error
}

// layoutOnly are the variables that are known only with a layout. The hardware is known before, where the request or its template names it.
var layoutOnly = []string{"cpu", "cost", "cost_per_hour", "hardware"}

var _ policy.Engine = (*Engine)(nil)

// New makes an engine.
func New() *Engine {
	options := []cel.EnvOption{
		cel.CrossTypeNumericComparisons(true), // cost > 5 is what people write
		cel.ParserRecursionLimit(maxDepth),
		cel.ParserExpressionSizeLimit(maxLength),
		cel.DefaultUTCTimeZone(true),
	}
	for _, v := range vocabulary {
		options = append(options, cel.Variable(v.name, v.is))
	}
	options = append(options, leastAndMost()...)
	env, err := cel.NewEnv(options...)
	if err != nil {
		panic("policy: " + err.Error()) // the vocabulary is ours, and tests make an engine
	}
	return &Engine{env: env, known: map[key]compiled{}, words: variableNames()}
}

func (e *Engine) Check(p policy.Policy) error {
	all, err := expressions(p)
	for _, x := range all {
		if _, err := e.compile(x.field, x.text, x.want); err != nil {
			return err
		}
	}
	return err
}

func (e *Engine) Judge(ctx context.Context, p policy.Policy, f policy.Input) (j policy.Judgement, err error) {
	defer func() {
		// The library is not ours: a mistake in it must refuse a request, not end the server.
		if r := recover(); r != nil {
			j, err = policy.Judgement{}, app.Errorf(app.EInvalid, "evaluation failed: %v", r)
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, maxTime)
	defer cancel()
	if f.Unsolved {
		if j.Later, err = e.readsLayout(p, f); j.Later || err != nil {
			return j, err
		}
	}
	facts := e.activation(f)
	applies, err := e.eval(ctx, "when", p.When, truth, facts)
	if err != nil {
		return j, err
	}
	if j.Applies, _ = applies.(bool); !j.Applies {
		return j, nil
	}
	if p.Effect == policy.EffectRewrite {
		if err := e.rewrite(ctx, p, facts, &j); err != nil {
			return policy.Judgement{}, err
		}
	}
	if j.Reason, err = e.expand(ctx, p.Reason, facts); err != nil {
		return policy.Judgement{}, err
	}
	return j, nil
}

// rewrite evaluates what a policy changes.
func (e *Engine) rewrite(ctx context.Context, p policy.Policy, facts map[string]any, j *policy.Judgement) error {
	if p.LeaseCap != "" {
		value, err := e.eval(ctx, "lease_cap", p.LeaseCap, span, facts)
		if err != nil {
			return err
		}
		if j.Lease, _ = value.(time.Duration); j.Lease <= 0 {
			return app.Errorf(app.EInvalid, "the lease limit must be positive, not %s", humanize.DurationField(j.Lease))
		}
	}
	for _, f := range p.Set.Fields() {
		if *f.Text == "" {
			continue
		}
		value, err := e.eval(ctx, "set."+string(f.Field), *f.Text, kindOf[f.Field], facts)
		if err != nil {
			return err
		}
		switch v := value.(type) {
		case int64:
			if v < 1 || v > math.MaxInt32 {
				return app.Errorf(app.EInvalid, "set.size must be positive, not %d", v)
			}
			j.Set.Size = int(v)
		case time.Duration:
			if v <= 0 {
				return app.Errorf(app.EInvalid, "set.lease must be positive, not %s", humanize.DurationField(v))
			}
			j.Set.Lease = v
		case map[string]string:
			j.Set.Labels = v
		case []string:
			if len(v) == 0 {
				return app.Errorf(app.EInvalid, "set.%s is an empty list", f.Field)
			}
			if f.Field == policy.FieldHardware {
				j.Set.Hardware = v
			} else {
				j.Set.Provider = v
			}
		}
	}
	return j.Set.Check()
}

// readsLayout reports whether a policy reads what is known only with a layout.
func (e *Engine) readsLayout(p policy.Policy, f policy.Input) (bool, error) {
	all, err := expressions(p)
	if err != nil {
		return false, err
	}
	for _, x := range all {
		c, err := e.compiled(x.field, x.text, x.want)
		if err != nil {
			return false, err
		}
		if slices.ContainsFunc(c.reads, func(name string) bool { return name != "hardware" || len(f.Hardware) == 0 }) {
			return true, nil
		}
	}
	return false, nil
}

// expression is one of a policy, with its field and what it has to return.
type expression struct {
	field, text string
	want        kind
}

// expressions are all of a policy that are evaluated.
func expressions(p policy.Policy) ([]expression, error) {
	all := []expression{{"when", p.When, truth}}
	if p.LeaseCap != "" {
		all = append(all, expression{"lease_cap", p.LeaseCap, span})
	}
	for _, s := range p.Set.Fields() {
		if *s.Text != "" {
			all = append(all, expression{"set." + string(s.Field), *s.Text, kindOf[s.Field]})
		}
	}
	pieces, err := split(p.Reason)
	for _, piece := range pieces {
		if piece.code {
			all = append(all, expression{"reason", piece.text, anything})
		}
	}
	return all, err
}

// expand puts values for the expressions in a text.
func (e *Engine) expand(ctx context.Context, text string, facts map[string]any) (string, error) {
	pieces, err := split(text)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, piece := range pieces {
		if !piece.code {
			b.WriteString(piece.text)
			continue
		}
		value, err := e.eval(ctx, "reason", piece.text, anything, facts)
		if err != nil {
			return "", err
		}
		b.WriteString(words(value))
		if b.Len() > maxReason {
			return "", app.Errorf(app.EInvalid, "the reason must be at most %d bytes", maxReason)
		}
	}
	return strings.ToValidUTF8(b.String(), "?"), nil
}

func (e *Engine) eval(ctx context.Context, field, text string, want kind, facts map[string]any) (any, error) {
	program, err := e.compile(field, text, want)
	if err != nil {
		return nil, err
	}
	out, _, err := program.ContextEval(ctx, facts)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, app.Errorf(app.ETimeout, "%s took longer than %s", field, humanize.Duration(maxTime))
	case err != nil && strings.Contains(err.Error(), "cost limit"):
		return nil, app.Errorf(app.EInvalid, "%s is too complex to evaluate", field)
	case err != nil:
		return nil, app.Errorf(app.EInvalid, "%s: %.300s", field, err.Error())
	}
	switch v := out.(type) {
	case types.Bool:
		return bool(v), nil
	case types.Duration:
		return v.Duration, nil
	case types.Timestamp:
		return v.Time, nil
	case types.Int:
		if want == number {
			return int64(v), nil
		}
	}
	if want == names {
		return namesIn(field, out)
	}
	if want == pairs {
		return pairsIn(field, out)
	}
	if s, ok := out.(types.String); ok && want == phrase {
		return string(s), nil
	}
	if want != anything {
		return nil, app.Errorf(app.EInvalid, "%s must be %s, not %s", field, want.words(), out.Type().TypeName())
	}
	return out, nil
}

// compile returns the program of an expression.
func (e *Engine) compile(field, text string, want kind) (cel.Program, error) {
	c, err := e.compiled(field, text, want)
	return c.program, err
}

// compiled returns an expression compiled.
func (e *Engine) compiled(field, text string, want kind) (compiled, error) {
	k := key{text, want}
	e.mu.Lock()
	c, ok := e.known[k]
	e.mu.Unlock()
	if !ok {
		c.program, c.reads, c.err = e.build(text, want)
		e.mu.Lock()
		if len(e.known) >= maxEntries {
			clear(e.known)
		}
		e.known[k] = c
		e.mu.Unlock()
	}
	var wrong *fault
	if errors.As(c.err, &wrong) {
		return compiled{}, &app.Error{Code: app.EInvalid, Reason: "cel", Field: field, Message: fmt.Sprintf("%s, line %d, column %d: %s", field, wrong.line,
			wrong.column, wrong.message),
			Hint: wrong.hint}
	}
	return c, c.err
}

func (e *Engine) build(text string, want kind) (p cel.Program, reads []string, err error) {
	defer func() {
		if r := recover(); r != nil {
			p, reads, err = nil, nil, &fault{line: 1, column: 1, message: "invalid expression", hint: "Simplify the expression."}
		}
	}()
	if len(text) > maxLength {
		return nil, nil, &fault{line: 1, column: 1, message: "the expression is too long", hint: "Split it into two policies."}
	}
	tree, issues := e.env.Compile(text)
	if issues.Err() != nil {
		return nil, nil, explain(issues, e.words)
	}
	if !want.takes(tree.OutputType()) {
		return nil, nil, &fault{line: 1, column: 1, message: fmt.Sprintf("the result must be %s, not %s", want.words(), typeWords(tree.OutputType())),
			hint: want.example()}
	}
	p, err = e.env.Program(tree, cel.CostLimit(maxCost), cel.InterruptCheckFrequency(everyLoop), cel.EvalOptions(cel.OptOptimize))
	if err != nil {
		return nil, nil, &fault{line: 1, column: 1, message: firstLine(err.Error()), hint: "Rewrite the expression."}
	}
	for _, ref := range tree.NativeRep().ReferenceMap() {
		if slices.Contains(layoutOnly, ref.Name) && !slices.Contains(reads, ref.Name) {
			reads = append(reads, ref.Name)
		}
	}
	return p, reads, nil
}

// activation returns facts their names in CEL.
func (e *Engine) activation(f policy.Input) map[string]any {
	zone := e.zone(f.TimeZone)
	name, local := zone.String(), f.Now.In(zone)
	cost := f.CostPerHour * f.Lease.Hours()
	if f.Lease == 0 && f.CostPerHour > 0 {
		cost = math.Inf(1) // what has no end costs more than any limit
	}
	return map[string]any{
		"tenant": f.Tenant, "user": f.User, "role": string(f.Role), "groups": few(f.Groups), "via": string(f.Via), "kind": string(f.Kind),
		"name": f.Name, "template": f.Template, "services": few(f.Services), "nodes": int64(f.Nodes), "cpu": f.CPU,
		"cost_per_hour": f.CostPerHour, "cost": cost, "lease": f.Lease, "forever": f.Lease == 0, "provider": f.Provider,
		"hardware": few(f.Hardware), "labels": named(f.Labels), "now": f.Now.UTC(), "time_zone": name,
		"weekday": strings.ToLower(local.Weekday().String()), "hour": int64(local.Hour()),
	}
}

// zone returns a time zone, UTC where there is none of the name.
func (e *Engine) zone(name string) *time.Location {
	if z, ok := e.zones.Load(name); ok {
		return z.(*time.Location)
	}
	z, err := time.LoadLocation(name)
	if err != nil {
		return time.UTC
	}
	e.zones.Store(name, z)
	return z
}

// named is never nil, which CEL would take for no map.
func named(labels map[string]string) map[string]string {
	if labels == nil {
		return map[string]string{}
	}
	return labels
}

func few(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list[:min(len(list), maxListed)]
}

// pairsIn are the texts of a map, of no more entries than a cluster has labels.
func pairsIn(field string, v ref.Val) (map[string]string, error) {
	all, ok := v.(traits.Mapper)
	if n, _ := v.(traits.Sizer); !ok || n == nil || n.Size().(types.Int) > 1000 {
		return nil, app.Errorf(app.EInvalid, "%s must be %s, and not too many", field, pairs.words())
	}
	out := map[string]string{}
	for i := all.Iterator(); i.HasNext() == types.True; {
		k, isText := i.Next().(types.String)
		value, has := all.Get(k).(types.String)
		if !isText || !has {
			return nil, app.Errorf(app.EInvalid, "%s must be %s", field, pairs.words())
		}
		out[string(k)] = string(value)
	}
	return out, nil
}
