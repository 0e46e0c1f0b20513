package template

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"muster/app"
	"muster/app/humanize"
)

// Check says what is wrong with what a person is asked, as the catalog declares it. Field of the error is the path of the part.
func (p *Person) Check() *app.Error {
	wrong := func(field, hint, format string, args ...any) *app.Error {
		return &app.Error{Code: app.EInvalid, Field: field, Hint: hint, Message: fmt.Sprintf(format, args...)}
	}
	switch {
	case strings.TrimSpace(p.Ask) == "":
		return wrong("ask", "Write a question that can be answered with yes, or that says what to type.", "ask is empty")
	case len(p.Ask) > maxManualStepText || !utf8.ValidString(p.Ask):
		return wrong("ask", "", "the question must be at most %d bytes", maxManualStepText)
	case len(p.Help) > maxManualStepText || !utf8.ValidString(p.Help):
		return wrong("help", "", "the help must be at most %d bytes", maxManualStepText)
	case p.Timeout != 0 && (p.Timeout < minAnswerTime || p.Timeout > maxAnswerTime):
		return wrong("timeout", "", "timeout must be from 1m to 30d, not %s", humanize.DurationField(p.Timeout))
	case p.OnTimeout != "" && !slices.Contains(AnswerChoices, p.OnTimeout):
		return wrong("on_timeout", nearestOf(string(p.OnTimeout), AnswerChoices), "unknown value %.40q; use fail or continue", p.OnTimeout)
	case p.Not != "" && p.Not != PersonRequester:
		return wrong("not", "Leave it out, or use requester.", "can't exclude %.40q from answering", p.Not)
	case len(p.Who) > maxManualStepWho:
		return wrong("who", "", "%d groups; at most %d can answer", len(p.Who), maxManualStepWho)
	case len(p.Fields) > MaxManualStepFields:
		return wrong("fields", "", "%d fields; a question can have at most %d", len(p.Fields), MaxManualStepFields)
	}
	for i, w := range p.Who {
		if w == "" || len(w) > app.LongestGroup || slices.Contains(p.Who[:i], w) {
			return wrong(fmt.Sprintf("who.%d", i), "Use owner, admins, or the name of a group.", "%.40q is empty, too long or repeated", w)
		}
	}
	for key, text := range map[string]string{"ask": p.Ask, "help": p.Help} {
		if len(app.SecretNames(text)) > 0 {
			return wrong(key, "", "a question can't refer to a secret: people would see it")
		}
		if _, problem := SplitMacros(text); problem != nil {
			e := problem.at("")
			return wrong(key, e.Hint, "%s", humanize.LowerFirst(strings.TrimSuffix(e.Message, ".")))
		}
	}
	return p.checkFields(wrong)
}

func (p *Person) checkFields(wrong func(field, hint, format string, args ...any) *app.Error) *app.Error {
	params := make([]Parameter, len(p.Fields))
	for i, f := range p.Fields {
		path := fmt.Sprintf("fields.%d.", i)
		switch {
		case len(f.To) > 0:
			return wrong(path+"to", fmt.Sprintf("Refer to the field in the configuration, as %%answer.SERVICE.%s%%.", f.Name), "a question's field can't set a value itself")
		case strings.ContainsAny(f.Name, "."):
			return wrong(path+"name", "", "invalid field name %.70q", f.Name)
		case f.Secret && (f.Type != ParameterText || f.Default != nil):
			return wrong(path+"secret", "", "only text without a default can be secret")
		case p.GoesOn() && f.Required && f.Default == nil:
			return wrong("on_timeout", "Add a default to the field, or set on_timeout to fail.", "can't continue without field %q", f.Name)
		}
		params[i] = f.Parameter
	}
	if problems := CheckParameters(params); len(problems) > 0 {
		problem := problems[0]
		path := fmt.Sprintf("fields.%d", problem.Index)
		if problem.Key != "" {
			path += "." + problem.Key
		}
		return wrong(path, problem.Hint, "%s", problem.Message)
	}
	return nil
}

// Settle checks what was typed, and returns the values of all fields as texts, defaults among them. Given are values in the form in
// which people or JSON give them. The error is EInvalid with the Field "values.NAME" of the first that is wrong; nothing in it shows
// a secret value.
func (p *Person) Settle(given map[string]any) (map[string]app.AnswerValue, error) {
	values := map[string]app.AnswerValue{}
	for _, f := range p.Fields {
		v, err := f.value(given[f.Name])
		if err != nil {
			return nil, err
		}
		if v == nil {
			v, _ = f.Read(f.Default)
		}
		if v == nil || v == "" {
			if f.Required {
				return nil, &app.Error{Code: app.EInvalid, Reason: "parameter", Field: "values." + f.Name, Message: f.Title() + " is missing.", Hint: f.Hint()}
			}
			v = ""
		}
		values[f.Name] = app.AnswerValue{Text: valueText(f.Laid(v)), Secret: f.Secret}
	}
	for name := range given {
		if _, known := values[name]; !known {
			e := &app.Error{Code: app.EInvalid, Reason: "parameter", Field: "values." + quotedName(name), Message: fmt.Sprintf("This question has no field %.70q.", name)}
			var names []string
			for _, f := range p.Fields {
				names = append(names, f.Name)
			}
			if e.Hint = humanize.DidYouMean(name, names, "It has "+humanize.And(names)+"."); len(names) == 0 {
				e.Hint = "It has no fields: continue or refuse."
			}
			return nil, e
		}
	}
	return values, nil
}

// valueText writes a value as texts hold it.
func valueText(v any) string {
	if f, ok := v.(float64); ok {
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	return fmt.Sprint(v)
}

// value reads what was typed into the field. What is wrong with a secret is said without the secret.
func (f PersonField) value(given any) (any, error) {
	v, wrong := f.Read(given)
	if wrong == "" {
		return v, nil
	}
	if s, ok := given.(string); f.Secret && ok && s != "" && strings.Contains(wrong, Quoted(s)) {
		wrong = "the value doesn't match the required form"
	}
	return nil, &app.Error{Code: app.EInvalid, Reason: "parameter", Field: "values." + f.Name, Message: fmt.Sprintf("%s: %s.", f.Title(), wrong), Hint: f.Hint()}
}

// Expand returns a copy with macros expanded for the step's node; nil for a question about the whole cluster. Where something cannot
// be expanded yet, it stays as it is written: to be asked like that is better than not at all.
func (p Person) Expand(c MacroCluster, node *app.Node) Person {
	for _, text := range []*string{&p.Ask, &p.Help} {
		if out, err := ExpandString(*text, c, node); err == nil {
			*text = humanize.CutText(out, maxManualStepText)
		}
	}
	return p
}
