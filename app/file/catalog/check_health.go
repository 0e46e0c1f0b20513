package catalog

import (
	"errors"
	"strings"

	"muster/app"
	"muster/app/file/catalog/form"
	"muster/app/humanize"
	"muster/app/template"
)

// health checks how a service is looked at.
func (c *checker) health(e *form.Entry, s *template.Service) {
	for i, k := range s.Reads {
		if k == "" {
			c.report(e, rule(e), []any{"reads", i}, "", "%s is empty", e.Spell([]any{"reads", i}))
		}
	}
	if s.Health == nil || e.Broken {
		return
	}
	var a *app.Error
	if err := s.Health.Check(); errors.As(err, &a) {
		path := []any{"health"}
		if a.Field != "" {
			for _, key := range strings.Split(a.Field, ".") {
				path = append(path, key)
			}
		}
		c.report(e, rule(e), path, a.Hint, "%s: %s", e.Spell(path), a.Message)
	}
}

// healthPolicy checks how often a template's clusters are looked at.
func (c *checker) healthPolicy(e *form.Entry, p *template.HealthPolicy) {
	if p == nil {
		return
	}
	if every := p.Interval; every != 0 && (every < template.MinHealthInterval || every > template.MaxHealthInterval) {
		path := []any{"health", "interval"}
		c.report(e, rule(e), path, "", "%s must be from 5s to 1d, not %s", e.Spell(path), humanize.DurationField(every))
	}
	if p.After > template.MaxHealthAfter {
		path := []any{"health", "after"}
		c.report(e, rule(e), path, "", "%s must be at most %d, not %d", e.Spell(path), template.MaxHealthAfter, p.After)
	}
}
