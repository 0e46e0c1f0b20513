package demodata

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var brace = regexp.MustCompile(`\{[^}:]+(:([^}]*))?\}`)

// answered reports whether the portal has a route for what a form sends.
func (h *Instance) answered(method, path string) bool {
	for _, r := range h.Portal.Routes() {
		pattern := brace.ReplaceAllStringFunc(r.Pattern, func(m string) string {
			if s := brace.FindStringSubmatch(m)[2]; s != "" {
				return "(" + s + ")"
			}
			return "[^/]+"
		})
		if r.Method == method && regexp.MustCompile("^"+pattern+"$").MatchString(path) {
			return true
		}
	}
	return false
}

var said = regexp.MustCompile(`(?s)role="alert"|class="(problem|problem-error|notice)"|class="complaint"[^>]*>\s*<strong>`)

// rubbish is what no one would type.
func rubbish(f Field) string {
	switch f.Type {
	case "number":
		return "-3x"
	case "select", "radio", "checkbox":
		return "nonsense"
	case "date", "datetime-local":
		return "yesterday"
	}
	return `"><b>&\ rubbish`
}

func typed(f Field) bool {
	return f.Name != "" && !slices.Contains([]string{"password", "file", "checkbox", "radio"}, f.Type)
}

// scripted are forms that only a script of the page can fill in and send.
var scripted = []string{"/account/second-factor/key"}

// secret tells that what was typed is not shown again.
func secret(action string, f Field) bool { return action == "/admin/secrets" && f.Name == "value" }

func sameAction(a, b Form) bool {
	p, _, _ := strings.Cut(a.Action, "?")
	q, _, _ := strings.Cut(b.Action, "?")
	return p == q && a.Method == b.Method && slices.Equal(a.Words, b.Words)
}

// keeps reports whether a field of a name has a value; a form with rows has several of the name.
func keeps(f Form, name, value string) bool {
	for _, field := range f.Fields {
		if field.Name == name && strings.TrimSpace(field.Value) == strings.TrimSpace(value) {
			return true
		}
	}
	return false
}

// Every form of every page can be sent as it is, names its fields, and takes rubbish with a word about it.
func TestEveryFormIsWhole(t *testing.T) {
	h, site := served(t)
	pages, err := h.Pages(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	v, err := site.SignIn(t.Context(), Operator)
	if err != nil {
		t.Fatal(err)
	}
	seen, sent, refused := map[string]bool{}, 0, 0
	for _, p := range pages {
		f, err := v.Get(t.Context(), p.Address)
		if err != nil {
			t.Fatal(err)
		}
		if f.Status == http.StatusSeeOther {
			if v, err = site.SignIn(t.Context(), Operator); err != nil { // where a form has signed it out
				t.Fatal(err)
			}
			if f, err = v.Get(t.Context(), p.Address); err != nil {
				t.Fatal(err)
			}
		}
		if f.Status >= 500 && !p.OnMachine() {
			t.Errorf("%s answers %d", p.Address, f.Status)
		}
		forms, err := Forms(p.Address, f.Body)
		if err != nil {
			t.Error(err)
		}
		for _, form := range forms {
			path, _, _ := strings.Cut(form.Action, "?")
			if key := p.Pattern + " " + form.Method + " " + path + " " + strings.Join(form.Words, ","); seen[key] || path == "/signout" {
				continue
			} else {
				seen[key] = true
			}
			where := "on " + p.Address + " the form to " + form.Action
			if !h.answered(form.Method, path) {
				t.Errorf("%s: nothing answers %s %s", where, form.Method, path)
				continue
			}
			if form.Submit == 0 && !slices.Contains(scripted, path) {
				t.Errorf("%s has no button", where)
			}
			filled := false
			for _, field := range form.Fields {
				if !field.Labelled {
					t.Errorf("%s does not say what %q (%s) is", where, field.Name, field.Type)
				}
				filled = filled || typed(field)
			}
			if !filled {
				continue // a button alone; the stories press those
			}
			if len(form.Words) > 0 {
				if form, err = form.Press(form.Words[0]); err != nil { // as the enter key does
					t.Fatal(err)
				}
			}
			empty, wrong := form, form
			for _, field := range form.Fields {
				if typed(field) {
					empty, wrong = empty.Set(field.Name, ""), wrong.Set(field.Name, rubbish(field))
				}
			}
			for what, one := range map[string]Form{"nothing": empty, "rubbish": wrong} {
				status, to, body, err := v.Send(t.Context(), one)
				if err != nil {
					t.Fatal(err)
				}
				sent++
				switch {
				case status >= 500 && !p.OnMachine():
					t.Errorf("%s takes %s with %d: %.300s", where, what, status, body)
				case status == http.StatusSeeOther && strings.HasPrefix(to, "/signin"):
					if v, err = site.SignIn(t.Context(), Operator); err != nil {
						t.Fatal(err)
					}
				case status >= 400:
					refused++
					if !said.Match(body) {
						t.Errorf("%s refuses %s with %d and does not say why", where, what, status)
					}
					again, err := Forms(form.Action, body)
					if err != nil {
						t.Error(err)
					}
					for _, a := range again {
						if !sameAction(a, form) {
							continue
						}
						for _, field := range a.Fields {
							if want := one.Values.Get(field.Name); typed(field) && !secret(path, field) && field.Type != "select" && field.Type != "hidden" && want != "" &&
								!keeps(a, field.Name, want) && len(one.Values[field.Name]) == 1 {
								t.Errorf("%s loses what was typed into %q: it is %q", where, field.Name, field.Value)
							}
						}
						break
					}
				}
			}
		}
	}
	t.Logf("%d forms, sent %d times, refused %d times", len(seen), sent, refused)
	if len(seen) < 30 || refused < 10 {
		t.Errorf("only %d forms were found, and %d refusals", len(seen), refused)
	}
}
