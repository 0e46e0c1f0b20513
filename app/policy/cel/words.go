package cel

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"muster/app"
	"muster/app/humanize"
	"muster/app/policy"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
)

// vocabulary is what policies can ask about, in the order of the documentation.
var vocabulary = []struct {
	name string
	is   *cel.Type
	text string
}{
	{"tenant", cel.StringType, "the tenant"},
	{"user", cel.StringType, "the requester"},
	{"role", cel.StringType, "the requester's role: superadmin, admin, approver, user, robot"},
	{"groups", cel.ListType(cel.StringType), "the requester's groups"},
	{"via", cel.StringType, "where the request came from: portal, api, slack, hook"},
	{"kind", cel.StringType, "the operation: create; or, for an existing cluster, resize, add_services, remove_services, reconfigure, start, stop, restart, upgrade, repair"},
	{"name", cel.StringType, "the requested cluster name, may be empty"},
	{"template", cel.StringType, "the template"},
	{"services", cel.ListType(cel.StringType), "all services of the cluster"},
	{"nodes", cel.IntType, "the number of nodes"},
	{"cpu", cel.DoubleType, "the virtual cores of all nodes, as far as known"},
	{"cost_per_hour", cel.DoubleType, "the cost per hour of all nodes"},
	{"cost", cel.DoubleType, "the cost over the lease; infinite for a lease without expiry"},
	{"lease", cel.DurationType, `the lease, 0 for no expiry; compare with duration("8h")`},
	{"forever", cel.BoolType, "whether the lease never expires"},
	{"provider", cel.StringType, "the provider"},
	{"hardware", cel.ListType(cel.StringType), "the hardware types of the nodes"},
	{"labels", cel.MapType(cel.StringType, cel.StringType), `the labels of the cluster: labels["team"] == "web"; test first whether there is one: "team" in labels`},
	{"now", cel.TimestampType, "the time of the request"},
	{"time_zone", cel.StringType, "the tenant's time zone"},
	{"weekday", cel.StringType, "the day of the week in the tenant's time zone: monday, tuesday, …"},
	{"hour", cel.IntType, "the hour of the day in the tenant's time zone, 0 to 23"},
}

func (e *Engine) Variables() (all []policy.Variable) {
	for _, v := range vocabulary {
		all = append(all, policy.Variable{Name: v.name, Type: typeWords(v.is), Text: v.text})
	}
	return all
}

// kind is what an expression has to give.
type kind byte

const (
	truth    kind = iota // true or false
	span                 // a duration
	anything             // a value that can be said in words
	truthy               // true or false, as far as known before evaluation
	phrase               // likewise a text
	number               // a whole number
	names                // a text, or a list of texts
	pairs                // texts by their names
)

// kindOf is what the expressions of a policy's set have to give.
var kindOf = map[policy.Field]kind{policy.FieldSize: number, policy.FieldHardware: names, policy.FieldProvider: names, policy.FieldLease: span,
	policy.FieldLabels: pairs}

func (k kind) takes(t *cel.Type) bool {
	switch k {
	case truth:
		return t.IsExactType(cel.BoolType)
	case span:
		return t.IsExactType(cel.DurationType)
	case truthy:
		return t.IsExactType(cel.BoolType) || t.IsExactType(cel.DynType)
	case phrase:
		return t.IsExactType(cel.StringType) || t.IsExactType(cel.DynType)
	case number:
		return t.IsExactType(cel.IntType)
	case pairs:
		return t.IsExactType(cel.MapType(cel.StringType, cel.StringType))
	case names:
		return t.IsExactType(cel.StringType) || t.IsExactType(cel.ListType(cel.StringType))
	}
	return true
}

func (k kind) words() string {
	switch k {
	case truth, truthy:
		return "true or false"
	case span:
		return "a duration"
	case phrase:
		return "text"
	case number:
		return "a whole number"
	case pairs:
		return "texts by name"
	case names:
		return "text or a list of texts"
	}
	return "a value"
}

func (k kind) example() string {
	switch k {
	case truth:
		return "Compare something, as in nodes > 10, or use true for always."
	case span:
		return `For example: duration("8h").`
	case truthy:
		return `Compare something, as in event.branch == "main", or use true for always.`
	case phrase:
		return `For example: event.build, or string(event.pull_request).`
	case number:
		return "For example: min(nodes, 5)."
	case pairs:
		return `For example: {"cost-centre": "4711"}.`
	case names:
		return `For example: "small", or ["small", "medium"] for a list of what is allowed.`
	}
	return "For example: ${nodes}."
}

func typeWords(t *cel.Type) string {
	switch {
	case t.IsExactType(cel.BoolType):
		return "true or false"
	case t.IsExactType(cel.StringType):
		return "text"
	case t.IsExactType(cel.IntType), t.IsExactType(cel.UintType):
		return "a whole number"
	case t.IsExactType(cel.DoubleType):
		return "a number"
	case t.IsExactType(cel.DurationType):
		return "a duration"
	case t.IsExactType(cel.TimestampType):
		return "a time"
	case t.Kind() == cel.ListKind:
		return "a list"
	case t.Kind() == cel.MapKind:
		return "a map"
	}
	return t.String()
}

// fault is what is wrong with an expression. Line and column count from 1.
type fault struct {
	line, column  int
	message, hint string
}

// Error returns the message without its place.
func (f *fault) Error() string { return f.message }

// explain puts the first complaint of the compiler in our words.
func explain(issues *cel.Issues, known []string) *fault {
	f := &fault{line: 1, column: 1, message: "invalid expression", hint: "See docs/policies.md for the syntax."}
	if all := issues.Errors(); len(all) > 0 {
		e := all[0]
		f.message = firstLine(e.Message)
		if e.Location != nil && e.Location.Line() > 0 {
			f.line, f.column = e.Location.Line(), e.Location.Column()+1
		}
	}
	switch {
	case strings.HasPrefix(f.message, "undeclared reference to '"):
		word, _, _ := strings.Cut(strings.TrimPrefix(f.message, "undeclared reference to '"), "'")
		f.message = fmt.Sprintf("unknown name %q", word)
		f.hint = "Use one of: " + strings.Join(known, ", ") + "."
		if near := nearest(word, known); near != "" {
			f.hint = fmt.Sprintf("Did you mean %s? %s", near, f.hint)
		}
	case strings.HasPrefix(f.message, "found no matching overload for '"):
		f.message = overload(f.message)
		f.hint = "Compare values of the same type: nodes > 10, template == \"web\", lease > duration(\"8h\"), \"ops\" in groups."
	case strings.HasPrefix(f.message, "Syntax error"):
		f.message = strings.Replace(f.message, "Syntax error:", "syntax error:", 1)
		f.hint = "For example: nodes > 10 && provider == \"digitalocean\"."
	case strings.Contains(f.message, "recursion limit"), strings.Contains(f.message, "size exceeds"):
		f.hint = "Split it into two policies."
	}
	return f
}

// overload says which kinds of values do not go together.
func overload(message string) string {
	what, rest, ok := strings.Cut(strings.TrimPrefix(message, "found no matching overload for '"), "' applied to '")
	if !ok {
		return message
	}
	types, _, _ := strings.Cut(rest, "'")
	what = strings.Trim(strings.ReplaceAll(what, "_", " "), " ")
	types = strings.Trim(types, "()")
	for _, r := range []struct{ from, to string }{{"google.protobuf.Duration", "duration"}, {"google.protobuf.Timestamp", "time"}, {"string", "text"}, {"int", "whole number"}, {"double", "number"}} {
		types = strings.ReplaceAll(types, r.from, r.to)
	}
	return fmt.Sprintf("%s can't be used with (%s)", what, types)
}

func variableNames() []string {
	var all []string
	for _, v := range vocabulary {
		all = append(all, v.name)
	}
	return all
}

// nearest returns the word that was probably meant, "" where none is near.
func nearest(word string, known []string) string {
	best, least := "", max(2, len(word)/3)+1
	for _, n := range known {
		if d := distance(word[:min(len(word), 40)], n); d < least || strings.HasPrefix(n, word) && len(word) > 1 && d < least+4 {
			best, least = n, d
		}
	}
	return best
}

// distance counts the letters to change, add or leave out.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		last := row[0]
		row[0] = i + 1
		for j := range len(b) {
			d := last
			if a[i] != b[j] {
				d++
			}
			last = row[j+1]
			row[j+1] = min(d, last+1, row[j]+1)
		}
	}
	return row[len(b)]
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return s
}

// piece is a part of a reason: text, or code between ${ and }.
type piece struct {
	text string
	code bool
}

// split takes a reason apart. A } ends code where it closes no other brace and is in no text.
func split(text string) ([]piece, error) {
	var out []piece
	codes := 0
	for text != "" {
		before, rest, found := strings.Cut(text, "${")
		if before != "" {
			out = append(out, piece{text: before})
		}
		if !found {
			break
		}
		end := closing(rest)
		if codes++; end < 0 || codes > maxPieces {
			return nil, &app.Error{Code: app.EInvalid, Reason: "cel", Field: "reason", Message: "reason: a ${ isn't closed, or there are too many.",
				Hint: "For example: At most 10 nodes; you requested ${nodes}."}
		}
		out = append(out, piece{text: rest[:end], code: true})
		text = rest[end+1:]
	}
	return out, nil
}

func closing(code string) int {
	depth, quote := 0, byte(0)
	for i := 0; i < len(code); i++ {
		switch c := code[i]; {
		case quote != 0 && c == '\\':
			i++
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '{':
			depth++
		case c == '}' && depth == 0:
			return i
		case c == '}':
			depth--
		}
	}
	return -1
}

// words says a value to people, or its beginning where that takes more than maxReason bytes: values that are made by expressions may hold
// the same long text many thousand times.
func words(v any) string {
	var b strings.Builder
	speak(&b, v, 0)
	return b.String()
}

// speak adds the words of a value, as far as there is room for them.
func speak(b *strings.Builder, v any, depth int) {
	if b.Len() > maxReason {
		return
	}
	if depth > maxNested {
		b.WriteString("…")
		return
	}
	add := func(s string) { b.WriteString(s[:min(len(s), maxReason+1)]) }
	switch v := v.(type) {
	case bool:
		add(strconv.FormatBool(v))
	case time.Duration:
		add(leaseWords(v))
	case time.Time:
		add(v.UTC().Format("2006-01-02 15:04 UTC"))
	case types.Bool:
		add(strconv.FormatBool(bool(v)))
	case types.Duration:
		add(leaseWords(v.Duration))
	case types.Timestamp:
		speak(b, v.Time, depth)
	case types.Bytes:
		add(strings.ToValidUTF8(string(v[:min(len(v), maxReason)]), "?"))
	case traits.Mapper:
		speakMap(b, v, depth)
	case traits.Lister:
		sep := ""
		for it := v.Iterator(); it.HasNext() == types.True && b.Len() <= maxReason; sep = ", " {
			add(sep)
			speak(b, it.Next(), depth+1)
		}
	case ref.Val:
		switch x := v.Value().(type) {
		case float64:
			if math.IsInf(x, 0) {
				add("infinite")
				return
			}
			add(strconv.FormatFloat(math.Round(x*10000)/10000, 'f', -1, 64))
		case string:
			add(x)
		default:
			add(fmt.Sprint(x))
		}
	default:
		add(fmt.Sprint(v))
	}
}

// speakMap adds the entries of a map in the order of their names, for a map itself has none.
func speakMap(b *strings.Builder, m traits.Mapper, depth int) {
	type entry struct {
		name string
		key  ref.Val
	}
	var all []entry
	for it := m.Iterator(); it.HasNext() == types.True && len(all) <= maxListed; {
		k := it.Next()
		var name strings.Builder
		speak(&name, k, depth+1)
		all = append(all, entry{name.String(), k})
	}
	slices.SortFunc(all, func(x, y entry) int { return strings.Compare(x.name, y.name) })
	b.WriteByte('{')
	for i, e := range all {
		if b.Len() > maxReason {
			return
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(e.name)
		b.WriteString(": ")
		speak(b, m.Get(e.key), depth+1)
	}
	b.WriteByte('}')
}

func leaseWords(d time.Duration) string {
	if d == 0 {
		return "no expiry"
	}
	return humanize.Duration(d)
}
