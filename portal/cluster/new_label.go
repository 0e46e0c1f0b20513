package cluster

import (
	"net/url"
	"slices"
	"strings"

	"muster/app"
	"muster/app/label"
	"muster/app/template"
	"muster/portal/page"
)

// labels sets the field of labels: what was typed, or else what the template says, with a line for each label that it requires.
func (n *Form) labels(in url.Values, typed, said bool) {
	if typed || said && in.Has("labels") {
		n.View.Labels = oneLineEnd(in.Get("labels"))
		return
	}
	n.View.Labels = labelsAsked(n.View.Template)
}

// labelsAsked are the lines that a template's form begins with.
func labelsAsked(t *template.Template) string {
	if t.Labels == nil {
		return ""
	}
	lines := label.Texts(t.Labels.Defaults)
	for key := range t.Labels.Required {
		if t.Labels.Defaults[key] == "" {
			lines = append(lines, key+"=")
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// readLabels reads the lines. A line without a value is one that wasn't filled in, which is the same as none.
func (n *Form) readLabels() {
	n.request.Description = n.View.Description
	if err := label.CheckDescription(n.View.Description); err != nil {
		n.complainOf("description", err)
	}
	lines := slices.DeleteFunc(strings.Split(n.View.Labels, "\n"), func(line string) bool {
		key, value, is := strings.Cut(line, "=")
		return is && strings.TrimSpace(value) == "" && n.View.Template.Labels != nil && n.requires(strings.TrimSpace(key))
	})
	set, err := label.Parse(lines)
	if err == nil {
		err = label.Check(set)
	}
	if err != nil {
		n.complainOf("labels", err)
	}
	n.request.Labels = set
}

func (n *Form) requires(key string) bool {
	_, is := n.View.Template.Labels.Required[key]
	return is
}

func (n *Form) complainOf(field string, err error) {
	e := app.AsError(err)
	n.complain(field, page.Complaint{Message: e.Message, Hint: e.Hint})
}
