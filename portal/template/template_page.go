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

// Show is a template's page. View is nil if the template was removed; Diff if there's nothing to compare.
type Show struct {
	Now      time.Time
	Name     string
	View     *catalog.TemplateView
	Versions []catalog.TemplateVersion
	Diff     *catalog.TemplateDiff
}

func templatePath(name string) string { return "/templates/" + url.PathEscape(name) }

// templateMark is a state's mark.
func templateMark(s template.State) string {
	switch s {
	case template.StateDraft:
		return "waiting"
	case template.StateDeprecated:
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

// standard is a parameter's default for display.
func standard(p template.Parameter) string {
	switch {
	case p.Default != nil:
		return fmt.Sprint(p.Default)
	case p.Required:
		return "required"
	}
	return "–"
}

// VersionWords names the template and version that a cluster was created from.
func VersionWords(v cluster.View) string {
	m := v.TemplateVersion
	switch {
	case m == nil:
		return v.Template
	case m.Deleted:
		return v.Template + " (removed from the catalog)"
	case m.Newer && m.Number > 0 && m.Latest > 0:
		return v.Template + ", version " + strconv.Itoa(m.Number) + " (latest: " + strconv.Itoa(m.Latest) + ")"
	case m.Newer:
		return v.Template + " (newer version available)"
	case m.Number > 0:
		return v.Template + ", version " + strconv.Itoa(m.Number)
	}
	return v.Template
}
