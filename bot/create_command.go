package bot

import (
	"context"
	"slices"
	"strconv"
	"time"

	"muster/app"
	"muster/app/cluster"
	apptemplate "muster/app/template"
)

// parseCreate reads [NAME] TEMPLATE [NODES] [[for] LENGTH].
func parseCreate(words []string) (q cluster.CreateRequest, ok bool, err error) {
	if n := len(words); n > 1 && !slices.Contains(words, "for") && isLength(words[n-1]) {
		words = append(slices.Clone(words[:n-1]), "for", words[n-1])
	}
	if i := slices.Index(words, "for"); i >= 0 {
		if i != len(words)-2 {
			return q, false, nil
		}
		var lease time.Duration
		if lease, err = apptemplate.ParseLength(words[i+1]); err == nil && lease <= 0 {
			err = &app.Error{Code: app.EInvalid, Field: "lease", Message: "The lease must be longer than 0.", Hint: "Enter a duration such as 90m, 4h or 2d."}
		}
		if err != nil {
			return q, false, err
		}
		q.Lease, words = &lease, words[:i]
	}
	if n := len(words); n > 1 {
		size, e := strconv.Atoi(words[n-1])
		if e == nil && size < 1 {
			return q, false, &app.Error{Code: app.EInvalid, Field: "size", Message: "A cluster needs at least one node."}
		}
		if e == nil {
			q.Size, words = size, words[:n-1]
		}
	}
	switch len(words) {
	case 1:
		q.Template = words[0]
	case 2:
		q.Name, q.Template = words[0], words[1]
	default:
		return q, false, nil
	}
	return q, true, nil
}

// isLength reports whether a word is a duration such as 8h or 1d12h, not a name or a number of nodes.
func isLength(word string) bool {
	_, err := apptemplate.ParseLength(word)
	return err == nil && word[0] >= '0' && word[0] <= '9'
}

// fitted fills in the template's minimum size if a typed request has none and no parameter sets it. Asks reports that the template has
// required parameters.
func (cr *creates) fitted(ctx context.Context, r request, q cluster.CreateRequest) (_ cluster.CreateRequest, asks bool, err error) {
	c, err := cr.catalogs.Catalog(ctx, r.actor)
	if err != nil {
		return q, false, err
	}
	t := c.Templates[q.Template]
	if t == nil {
		return q, false, nil // the request's answer explains it
	}
	if f := (&createForm{template: t}); q.Size == 0 && !f.sets("size") {
		q.Size = max(1, t.Constraints.Size.Min)
	}
	return q, len(t.Complaints(nil)) > 0 || t.Labels.Missing(t.Labels.Fill(nil)) != nil, nil
}

// typed is a form filled in with what was typed in one line.
func typed(q cluster.CreateRequest) Form {
	f := Form{Values: map[string][]string{"name": {q.Name}}}
	c := createForm{template: &apptemplate.Template{About: apptemplate.About{Name: q.Template}}}
	if q.Size > 0 {
		f.Values[c.field("size")] = []string{strconv.Itoa(q.Size)}
	}
	if q.Lease != nil {
		f.Values[c.field("lease")] = []string{"=" + q.Lease.String()}
	}
	return f
}

// create creates a cluster from one line; without arguments, or if the template needs more, it opens the form.
func (cr *creates) create(ctx context.Context, r request) (Answer, error) {
	form := func(f Form, template string) (Answer, error) {
		m, err := cr.modal(ctx, r, f, note{Channel: r.person.Channel, Template: template})
		return Answer{Title: "New cluster", Lines: []string{"Slack couldn't open the form. Type the command again, or create the cluster in one line: " +
			r.person.Command + " create [NAME] TEMPLATE [NODES] [8h]"}, Buttons: []Button{action{Do: doCreate, Template: template, Beside: true}.button("Open form", false)},
			Links: []Link{{"Open in portal", r.Page(app.Subject{Kind: app.SubjectNewCluster})}}, Modal: &m}, err
	}
	if len(r.words) == 0 {
		return form(Form{}, "")
	}
	q, ok, err := parseCreate(r.words)
	if err != nil {
		return Answer{}, err
	}
	if !ok {
		return Answer{}, r.usage()
	}
	q, asks, err := cr.fitted(ctx, r, q)
	if err != nil {
		return Answer{}, err
	}
	if asks {
		return form(typed(q), q.Template)
	}
	answer, err := cr.creates.Ask(ctx, r.actor, q)
	if err != nil {
		return Answer{}, err
	}
	return r.created(answer), nil
}

// created is the answer to a create.
func (r reader) created(answer cluster.Answer) Answer {
	if answer.Cluster == nil {
		a := r.asked(answer.Request)
		a.Lines = append(a.Lines, answer.Warnings...)
		return a
	}
	a := r.begun(*answer.Cluster, 0)
	a.Lines = append(append(a.Lines, answer.Request.Decision.Sentences()...), answer.Warnings...)
	return a
}
