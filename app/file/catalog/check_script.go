package catalog

import (
	"bytes"
	"fmt"

	"go.yaml.in/yaml/v3"
	"muster/app/file/catalog/form"
	"muster/app/template"
)

// shellAutomator is the automator whose actions are scripts.
const shellAutomator = "shell"

// Script is what an entry has run by a shell: the script of an action or of an operation hook, or the command of a health check.
type Script struct {
	Text  string
	entry *form.Entry
	path  []any
}

// scriptsOf returns the scripts of entries.
func scriptsOf(list []*form.Entry) (all []Script) {
	for _, e := range list {
		if e.Broken {
			continue
		}
		add := func(text string, path ...any) {
			if text != "" {
				all = append(all, Script{Text: text, entry: e, path: path})
			}
		}
		switch v := e.Value.(type) {
		case *template.Service:
			for _, a := range template.ServiceActions {
				if action := v.Actions[a]; action != nil && action.Automator == shellAutomator {
					add(action.Fields["script"], "actions", string(a), "fields", "script")
				}
			}
			if v.Health != nil {
				add(template.CoverMacros(v.Health.Command), "health", "command")
			}
		case *template.Template:
			for i, h := range v.Hooks {
				add(h.Script, "hooks", i, "run")
			}
			for i, a := range v.Actions {
				add(a.Run, "actions", i, "run")
			}
			if v.Idle != nil {
				add(v.Idle.If.Script, "idle", "if", "script")
			}
			if v.Scaling != nil {
				for i, m := range v.Scaling.Metrics {
					add(m.Script, "scaling", "metrics", i, "script")
				}
			}
		}
	}
	return all
}

// scripts checks that shells can read what they are given.
func (c *checker) scripts(list []*form.Entry) {
	if c.options.CheckScript == nil {
		return
	}
	for _, s := range scriptsOf(list) {
		if fault := c.options.CheckScript(s.Text); fault != nil {
			c.out.Add(s.Problem(*fault, rule(s.entry)))
		}
	}
}

// Problem says what is wrong with a script where it is written in its file, as far as it is there line by line. Severity is that of what is no
// warning.
func (s Script) Problem(f template.ScriptFault, severity form.Severity) form.Problem {
	if f.Warning {
		severity = form.SeverityWarning
	}
	place, column := s.place(f.Line, f.Column)
	return form.Problem{
		Origin: place, Column: column, Severity: severity, Hint: f.Hint, Field: fieldPath(s.path), Kind: string(s.entry.Kind), Name: s.entry.Name,
		Message: fmt.Sprintf("%s: %s: script line %d, column %d: %s", s.entry.Key, s.entry.Spell(s.path), f.Line, f.Column, f.Message),
	}
}

// place finds a place of the script in the file.
func (s Script) place(line, column int) (template.Origin, int) {
	at := s.entry.At(s.path...)
	origin := template.Origin{File: s.entry.File, Line: at.Line}
	if at.Kind != yaml.ScalarNode || at.Style&yaml.LiteralStyle == 0 || at.Line == 0 {
		return origin, at.Column
	}
	lines := bytes.Split(s.entry.Text, []byte("\n"))
	if at.Line >= len(lines) {
		return origin, at.Column
	}
	origin.Line += min(line, len(lines)-at.Line)
	for _, l := range lines[at.Line:] {
		if rest := bytes.TrimLeft(l, " "); len(bytes.TrimSpace(rest)) > 0 {
			return origin, len(l) - len(rest) + column
		}
	}
	return origin, column
}
