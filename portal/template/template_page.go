package template

import (
	"fmt"
	"net/url"
	"strconv"
	"time"

	"muster/app/catalog"
	"muster/app/cluster"
	"muster/app/template"
)

// Show is all about one template. View is nil where the catalog has it no more; Diff where there is nothing to compare.
type Show struct {
	Now      time.Time
	Name     string
	View     *catalog.TemplateView
	Versions []catalog.TemplateVersion
	Diff     *catalog.TemplateDiff
}

func templatePath(name string) string { return "/templates/" + url.PathEscape(name) }

// templateMark is the sign of a state.
func templateMark(s template.TemplateState) string {
	switch s {
	case template.TemplateDraft:
		return "waiting"
	case template.TemplateDeprecated:
		return "dropped"
	}
	return "active"
}

// comparePath compares a version with the one before it.
func comparePath(name string, number int) string {
	return templatePath(name) + "?to=" + strconv.Itoa(number) + "#changes"
}

func orDash(s string) string {
	if s == "" {
		return "–"
	}
	return s
}

// standard is the value that a parameter has where no one says one.
func standard(p template.Parameter) string {
	switch {
	case p.Default != nil:
		return fmt.Sprint(p.Default)
	case p.Required:
		return "must be said"
	}
	return "–"
}

// VersionWords say from which version of which template a cluster was made.
func VersionWords(v cluster.ClusterView) string {
	m := v.MadeFrom
	switch {
	case m == nil:
		return v.Template
	case m.Gone:
		return v.Template + ", which the catalog has no more"
	case m.Newer && m.Number > 0 && m.Latest > 0:
		return v.Template + ", version " + strconv.Itoa(m.Number) + "; there is version " + strconv.Itoa(m.Latest)
	case m.Newer:
		return v.Template + ", of which there is a newer version"
	case m.Number > 0:
		return v.Template + ", version " + strconv.Itoa(m.Number)
	}
	return v.Template
}
