package bot

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/cluster"
	"muster/app/label"
	"muster/app/policy"
	"muster/app/template"
)

// fieldOf finds a field of a modal by the first part of its name.
func fieldOf(t *testing.T, m Modal, name string) Field {
	t.Helper()
	for _, p := range m.Parts {
		if p.Field != nil && strings.HasPrefix(p.Field.Name, name) {
			return *p.Field
		}
	}
	t.Fatalf("there is no field %s in %+v", name, m)
	return Field{}
}

func (m Modal) text() string {
	var all []string
	for _, p := range m.Parts {
		all = append(append(all, p.Title), p.Lines...)
	}
	return strings.Join(all, "\n")
}

// asForm is the modal's form as a chat sends it.
func (m Modal) asForm(set map[string]string) Form {
	f := Form{ID: m.ID, Note: m.Note, Values: map[string][]string{}}
	for _, p := range m.Parts {
		if p.Field == nil {
			continue
		}
		f.Values[p.Field.Name] = p.Field.Values
		for name, v := range set {
			if p.Field.Name == name || strings.HasPrefix(p.Field.Name, name+"@") {
				f.Values[p.Field.Name] = []string{v}
				if v == "" {
					f.Values[p.Field.Name] = nil
				}
			}
		}
	}
	return f
}

// opened opens the modal and chooses the template web.
func opened(t *testing.T) (checkedBot, *stub, Modal) {
	t.Helper()
	b, s := talk(t)
	p := ada
	p.Channel = "C7"
	a := b.Say(t.Context(), p, "create")
	if a.Modal == nil || a.Modal.Submit != "Continue" || len(a.Modal.Parts) != 1 {
		t.Fatalf("create alone opens %+v", a.Modal)
	}
	f := fieldOf(t, *a.Modal, "template")
	if len(f.Choices) != 3 || !f.Live || f.Typeahead {
		t.Errorf("templates are chosen by %+v", f)
	}
	return b, s, b.Fill(t.Context(), ada, a.Modal.asForm(map[string]string{"template": "=web"}))
}

func TestCreateModal(t *testing.T) {
	b, s, m := opened(t)
	text := m.text()
	for _, want := range []string{"Web servers", "2 × small with web", "0.20/h", "1.60 over 8 h", "about 1 min 30 s", "Quota left: 2 of 5 clusters for the tenant."} {
		if !strings.Contains(text, want) {
			t.Errorf("the modal does not say %q:\n%s", want, text)
		}
	}
	size, lease, port, tls, color := fieldOf(t, m, "size@"), fieldOf(t, m, "lease@"), fieldOf(t, m, "p:port@"), fieldOf(t, m, "p:tls@"), fieldOf(t, m, "p:color@")
	if size.Kind != FieldNumber || *size.Min != 2 || *size.Max != 9 || size.Values[0] != "2" || size.Optional {
		t.Errorf("the size is %+v", size)
	}
	if lease.Values[0] != "=default" || len(lease.Choices) < 5 || strings.Contains(fmt.Sprint(lease.Choices), "no expiry") {
		t.Errorf("the lease is %+v", lease)
	}
	if port.Label != "Port" || port.Values[0] != "80" || *port.Max != 65535 || !strings.Contains(port.Hint, "Where it listens. A whole number from 1 to 65535") ||
		tls.Values[0] != "=true" || color.Choices[1].Name != "Blue <!channel>" || len(color.Values) != 0 {
		t.Errorf("the parameters are %+v, %+v, %+v", port, tls, color)
	}

	// What is typed stays, and what it comes to is shown.
	m = b.Fill(t.Context(), ada, m.asForm(map[string]string{"size": "5", "lease": "=4h0m0s", "name": "shop", "p:color": "=blue"}))
	if got := m.text(); !strings.Contains(got, "5 × small") || !strings.Contains(got, "2.00 over 4 h") {
		t.Errorf("after a change:\n%s", got)
	}
	if fieldOf(t, m, "size@").Values[0] != "5" || fieldOf(t, m, "name").Values[0] != "shop" || fieldOf(t, m, "p:color@").Values[0] != "=blue" {
		t.Errorf("what was typed is lost: %+v", m)
	}
	d := b.Submit(t.Context(), ada, m.asForm(nil))
	if d.Answer == nil || !strings.HasPrefix(d.Answer.Title, "shop: creating") || d.Channel != "C7" || len(d.Answer.Started) != 1 {
		t.Fatalf("it is answered %+v", d)
	}
	q := s.asked[0]
	if q.Name != "shop" || q.Template != "web" || q.Size != 5 || *q.Lease != 4*time.Hour || len(q.Parameters) != 1 || q.Parameters["color"] != "blue" || q.PlanHash == "" {
		t.Errorf("asked: %+v", q)
	}
}

// TestCreateModalWithSizes: where a template takes single sizes, these are what can be chosen.
func TestCreateModalWithSizes(t *testing.T) {
	b, s, m := opened(t)
	m = b.Fill(t.Context(), ada, m.asForm(map[string]string{"template": "=odd"}))
	size := fieldOf(t, m, "size@")
	if size.Kind != FieldChoice || fmt.Sprint(size.Choices) != "[{3 nodes =3 } {5 nodes =5 } {7 nodes =7 }]" || size.Values[0] != "=3" || size.Min != nil {
		t.Errorf("the size is %+v", size)
	}
	m = b.Fill(t.Context(), ada, m.asForm(map[string]string{"size": "=5"}))
	if got := m.text(); fieldOf(t, m, "size@").Values[0] != "=5" || !strings.Contains(got, "5 × small") {
		t.Errorf("after 5 was chosen:\n%s", got)
	}
	// A number that can't be chosen, such as from a form of before, isn't chosen.
	if f := fieldOf(t, b.Fill(t.Context(), ada, m.asForm(map[string]string{"size": "4"})), "size@"); len(f.Values) != 0 {
		t.Errorf("4 nodes are shown as %+v", f)
	}
	if d := b.Submit(t.Context(), ada, m.asForm(nil)); d.Answer == nil || s.asked[0].Size != 5 {
		t.Errorf("it is answered %+v", d)
	}
}

// A template that requires a label opens the form, which asks for it.
func TestCreateModalAsksForRequiredLabels(t *testing.T) {
	b, s, m := opened(t)
	if f := fieldOf(t, m, "labels@"); !f.Optional || f.Kind != FieldLong {
		t.Errorf("labels are %+v", f)
	}
	s.catalog.Templates["odd"].Labels = &label.Rules{Defaults: label.Labels{"stage": "dev"}, Required: map[string]string{"cost-centre": "Ask your team lead."}}
	p := ada
	p.Channel = "C7"
	a := b.Say(t.Context(), p, "create shop odd 3")
	if a.Modal == nil {
		t.Fatalf("no form is opened: %+v", a)
	}
	f := fieldOf(t, *a.Modal, "labels@")
	if f.Optional || !strings.Contains(f.Hint, "Required: cost-centre.") {
		t.Errorf("labels are %+v", f)
	}
	d := b.Submit(t.Context(), ada, a.Modal.asForm(map[string]string{"labels": "team=web"}))
	if got := d.Errors[f.Name]; !strings.Contains(got, "requires the label cost-centre") || !strings.Contains(got, "Ask your team lead.") || len(s.asked) != 0 {
		t.Errorf("without it: %+v", d)
	}
	m = b.Fill(t.Context(), ada, a.Modal.asForm(map[string]string{"labels": "team=web\ncost-centre=4711"}))
	d = b.Submit(t.Context(), ada, m.asForm(nil))
	if d.Answer == nil || len(s.asked) != 1 || s.asked[0].Labels["cost-centre"] != "4711" || s.asked[0].Labels["team"] != "web" {
		t.Errorf("with it: %+v, %+v", d, s.asked)
	}
}

func TestCreateModalRequiresAPreview(t *testing.T) {
	b, s, m := opened(t)
	// A size that was typed and not told before.
	d := b.Submit(t.Context(), ada, m.asForm(map[string]string{"size": "4"}))
	if d.Modal == nil || !strings.Contains(d.Modal.text(), "Review the plan below") || !strings.Contains(d.Modal.text(), "4 × small") || len(s.asked) != 0 {
		t.Fatalf("it is answered %+v, asked %v", d, s.asked)
	}
	if d = b.Submit(t.Context(), ada, d.Modal.asForm(nil)); d.Answer == nil || s.asked[0].Size != 4 {
		t.Errorf("after a look: %+v", d)
	}
	// The catalog has changed in between.
	s.hash = "h2"
	if d = b.Submit(t.Context(), ada, m.asForm(nil)); d.Modal == nil || len(s.asked) != 1 {
		t.Errorf("another plan: %+v", d)
	}
	s.refuse = &app.Error{Code: app.EConflict, Reason: "plan_changed", Message: "It is another."}
	if d = b.Submit(t.Context(), ada, d.Modal.asForm(nil)); d.Modal == nil || !strings.Contains(d.Modal.text(), "Nothing was created") {
		t.Errorf("changed while it was asked for: %+v", d)
	}
}

func TestCreateModalShowsErrorsAtFields(t *testing.T) {
	b, s, m := opened(t)
	for _, c := range []struct{ field, typed, want string }{
		{"size", "none", "Enter a whole number"},
		{"size", "", "Enter the number of nodes."},
		{"size", "9", "That would be too many. Ask for at most 8 nodes."},
		{"lease", "=1 fortnight", "Invalid duration."},
		{"p:port", "70000", "is more than 65535"},
		{"p:heap", "4G", "is more than 2G"},
		{"p:title", "far too long a title", "longer than 10 characters"},
		{"p:color", "=green", "isn't one of the choices"},
	} {
		form := m.asForm(map[string]string{c.field: c.typed, "name": "kept"})
		d := b.Submit(t.Context(), ada, form)
		name := fieldOf(t, m, c.field+"@").Name
		if len(d.Errors) != 1 || !strings.Contains(d.Errors[name], c.want) {
			t.Errorf("%s %q: %+v", c.field, c.typed, d)
			continue
		}
		// Where it is too late for that, the modal says it itself, with all that was typed.
		if d.Late == nil || !strings.Contains(d.Late.text(), c.want) || fieldOf(t, *d.Late, "name").Values[0] != "kept" {
			t.Errorf("%s %q, late: %+v", c.field, c.typed, d.Late)
		}
		if live := b.Fill(t.Context(), ada, form); !strings.Contains(live.text(), c.want) {
			t.Errorf("%s %q is not told while it is typed", c.field, c.typed)
		}
	}
	s.refuse = &app.Error{Code: app.EConflict, Field: "name", Message: "There is a cluster shop already."}
	if d := b.Submit(t.Context(), ada, m.asForm(map[string]string{"name": "shop"})); len(d.Errors) != 1 || !strings.Contains(d.Errors["name"], "already") {
		t.Errorf("a taken name: %+v", d)
	}
	s.refuse = &app.Error{Code: app.EForbidden, Reason: "policy", Message: "Not on Sundays."}
	if d := b.Submit(t.Context(), ada, m.asForm(nil)); d.Modal == nil || !strings.Contains(d.Modal.text(), "⚠ Not on Sundays.") {
		t.Errorf("a policy: %+v", d)
	}
	s.refuse = fmt.Errorf("the disk is full at /secret")
	if d := b.Submit(t.Context(), ada, m.asForm(nil)); d.Modal == nil || strings.Contains(d.Modal.text(), "secret") {
		t.Errorf("what is ours to know: %+v", d)
	}
	for _, f := range []Form{{}, {ID: "other"}, {ID: modalCreate, Note: "{"}, {ID: modalCreate, Note: `{"t":"gone"}`}, {ID: modalCreate, Values: map[string][]string{"template": {"=gone"}}}} {
		if d := b.Submit(t.Context(), ada, f); d.Answer != nil || d.Modal == nil && d.Errors == nil {
			t.Errorf("the form %+v is answered %+v", f, d)
		}
	}
	s.unknown = true
	if d := b.Submit(t.Context(), ada, m.asForm(nil)); d.Modal == nil || d.Answer != nil {
		t.Errorf("a stranger: %+v", d)
	}
	if len(s.asked) != 3 { // those that the stub refused
		t.Errorf("%d were asked for", len(s.asked))
	}
}

func TestFieldsResetWhenTheTemplateChanges(t *testing.T) {
	b, _, m := opened(t)
	form := m.asForm(map[string]string{"size": "7", "name": "shop"})
	form.Values["template"] = []string{"=db"}
	m = b.Fill(t.Context(), ada, form)
	if f := fieldOf(t, m, "size@"); f.Values[0] != "1" || f.Name != "size@=db" || fieldOf(t, m, "name").Values[0] != "shop" {
		t.Errorf("the size is %+v", f)
	}
}

func TestManyChoicesAreSearched(t *testing.T) {
	b, s := talk(t)
	var options []template.ParameterOption
	for i := range 150 {
		name := fmt.Sprintf("t%03d", i)
		s.catalog.Templates[name] = &template.Template{About: template.About{Name: name}, Constraints: template.Constraints{Size: template.SizeRange{Min: 1, Max: 3}}}
		options = append(options, template.ParameterOption{Value: fmt.Sprint(i, strings.Repeat("x", 200))})
	}
	s.catalog.Templates["web"].Parameters = []template.Parameter{{Name: "pick", Type: template.ParameterChoice, Options: options}}
	m := *b.Say(t.Context(), ada, "create").Modal
	f := fieldOf(t, m, "template")
	if !f.Typeahead || len(f.Choices) != 0 {
		t.Errorf("152 templates are chosen by %+v", f)
	}
	form := m.asForm(nil)
	form.Changed = "template"
	if list := b.Choices(t.Context(), ada, form, "T14"); len(list) != 10 || list[0].Value != "=t140" {
		t.Errorf("after T14: %v", list)
	}
	if list := b.Choices(t.Context(), ada, form, ""); len(list) != 100 {
		t.Errorf("%d choices", len(list))
	}
	m = b.Fill(t.Context(), ada, m.asForm(map[string]string{"template": "=web"}))
	pick := fieldOf(t, m, "p:pick@")
	form = m.asForm(nil)
	form.Changed = pick.Name
	list := b.Choices(t.Context(), ada, form, "149")
	if !pick.Typeahead || len(list) != 1 || len(list[0].Value) > 150 {
		t.Fatalf("%+v: %v", pick, list)
	}
	m = b.Fill(t.Context(), ada, m.asForm(map[string]string{"p:pick": list[0].Value}))
	if f := fieldOf(t, m, "p:pick@"); len(f.Choices) != 1 || f.Values[0] != list[0].Value {
		t.Errorf("what was chosen is %+v", f)
	}
	b.Submit(t.Context(), ada, m.asForm(nil))
	if len(s.asked) != 1 || s.asked[0].Parameters["pick"] != options[149].Value {
		t.Errorf("asked: %.300v", s.asked)
	}
	s.unknown = true
	if list := b.Choices(t.Context(), ada, form, ""); list != nil {
		t.Errorf("a stranger may choose from %v", list)
	}
}

// TestModalsExplainInvalidInput: whatever is sent for a field of any of our modals, no answer names functions and types of Go.
func TestModalsExplainInvalidInput(t *testing.T) {
	goish := regexp.MustCompile(`strconv|Go struct|Go value|unmarshal|!!|(?:^|[^\w.-])(?:json|yaml|time): |parsing "|<nil>|%!|body\.`)
	b, _, create := opened(t)
	asks, _ := asking(t)
	question := asks.Press(t.Context(), ada, asks.Say(t.Context(), ada, "answer").Buttons[0].Value).Modal
	reviews, rs := talk(t)
	rs.actor = app.Actor{Tenant: "default", User: "bob", Role: app.RoleUser, Groups: []string{"ops"}}
	rs.request = &cluster.Request{ID: 9, Kind: app.OperationCreate, Requester: "ada", Status: cluster.RequestWaiting, Terms: cluster.Terms{PlanHash: "h"},
		Approvals: []policy.RequiredApproval{{Policy: "big", Approval: policy.Approval{Count: 2, Group: "ops"}}}}
	offer := reviews.Press(t.Context(), ada, action{Do: doReviewOffer, Request: 9, Beside: true}.button("Approve with conditions…", false).Value).Modal
	if offer == nil {
		t.Fatal("no form for conditions opens")
	}
	for _, m := range []struct {
		bot   checkedBot
		modal Modal
	}{{b, create}, {asks, *question}, {reviews, *offer}} {
		fields := 0
		for _, p := range m.modal.Parts {
			if p.Field == nil {
				continue
			}
			fields++
			for _, nonsense := range []string{"wrong", "99999999999999999999", "-1.5e400", "8 fortnights", "=", "\x00"} {
				form := m.modal.asForm(map[string]string{p.Field.Name: nonsense})
				said := fmt.Sprintf("%+v", m.bot.Fill(t.Context(), ada, form).text())
				d := m.bot.Submit(t.Context(), ada, form)
				for _, text := range d.Errors {
					said += "\n" + text
				}
				for _, modal := range []*Modal{d.Modal, d.Late} {
					if modal != nil {
						said += "\n" + modal.text()
					}
				}
				if d.Answer != nil {
					said += "\n" + d.Answer.text()
				}
				if found := goish.FindString(said); found != "" {
					t.Errorf("%s, %s = %q is answered with %q:\n%s", m.modal.Title, p.Field.Name, nonsense, found, said)
				}
			}
		}
		if fields < 3 {
			t.Errorf("%s has only %d fields", m.modal.Title, fields)
		}
	}
}
