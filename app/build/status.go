package build

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"muster/app"
	"muster/app/cluster"
	"muster/app/webhook"
)

const maxStatusToken = 512

// readyStatus says of a ready build's cluster how large it is, what it costs and where it is.
func (a *Service) readyStatus(ctx context.Context, d app.DueBuild, b app.Build, c app.ClusterView) (*app.CommitStatus, error) {
	words := fmt.Sprintf("Cluster %s is ready: %s", c.Name, app.Several(len(c.Nodes), "node"))
	if c.CostPerHour > 0 {
		words += ", " + app.Cost(c.CostPerHour) + " an hour"
	}
	s := b.CommitStatus(d.Of, words+".")
	if s == nil {
		return nil, nil
	}
	def, err := a.Store.Definition(ctx, b.Tenant, b.Cluster)
	if err != nil {
		return nil, err
	}
	for i, l := range cluster.ExpandLinks(def.Links, c.Cluster, c.Nodes) {
		if u, err := url.Parse(l.URL); err != nil || u.Scheme != "https" && u.Scheme != "http" {
			continue
		}
		if s.Link == "" {
			s.Link = l.URL
		}
		if i < 3 {
			s.Words += " " + l.Label + ": " + l.URL
		}
	}
	return s, nil
}

// checkStatus says what is wrong with how a hook is to write commit statuses.
func (a *Service) checkStatus(r BuildHookRequest, was app.BuildHook, s BuildSystem, c *app.BuildHookChange) error {
	wrong := func(field, message, hint string) error {
		return &app.Error{Code: app.EInvalid, Field: field, Message: message, Hint: hint}
	}
	if (r.StatusToken != nil && *r.StatusToken != "" || r.StatusAPI != nil && *r.StatusAPI != "") && s.StatusAPI == "" {
		return wrong("status_token", fmt.Sprintf("Muster can't write commit statuses for %s.", s.Title), "GitHub and GitLab have them.")
	}
	if r.StatusToken != nil {
		t := strings.TrimSpace(*r.StatusToken)
		if len(t) > maxStatusToken || strings.ContainsFunc(t, webhook.Unprintable) {
			return wrong("status_token", fmt.Sprintf("The token is longer than %d bytes or has spaces in it.", maxStatusToken), "Paste the token alone.")
		}
		c.StatusToken = &t
	}
	if r.StatusAPI != nil {
		text := strings.TrimRight(strings.TrimSpace(*r.StatusAPI), "/")
		if text != "" {
			u, err := a.Hooks.CheckHookURL(text)
			if err != nil {
				e := *app.AsError(err)
				e.Field, e.Hint = "status_api", "Such as "+s.StatusOwn+"."
				return &e
			}
			if u.User != nil || u.RawQuery != "" || u.Fragment != "" {
				return wrong("status_api", "Enter the API's URL without a user name, a query or a fragment.", "Such as "+s.StatusOwn+".")
			}
		}
		// A token that is kept goes nowhere but where it was meant for.
		if text != was.StatusAPI && was.Statuses && r.StatusToken == nil {
			return wrong("status_api", "The API's URL changes, and the token was entered for the old one.", "Enter the token again, too.")
		}
		c.StatusAPI = &text
	}
	return nil
}

// checkBuildTemplates refuses rules that name a template which the tenant doesn't have. What a rule works out from the event isn't known yet.
func (a *Service) checkBuildTemplates(ctx context.Context, tenant string, rules []app.BuildRule) error {
	c, err := a.Catalogs.CatalogOf(ctx, tenant)
	if err != nil {
		return err
	}
	for i, r := range rules {
		if r.Do != app.BuildCreate || strings.Contains(r.Template, "${") || c.Templates[r.Template] != nil {
			continue
		}
		known := make([]string, 0, len(c.Templates))
		for name := range c.Templates {
			known = append(known, name)
		}
		hint := "There are no templates yet."
		if len(known) > 0 {
			hint = app.Suggest(r.Template, known)
			if all := app.Suggest("", known); len(known) <= 20 && hint != all {
				hint += " " + all
			}
		}
		return inRule(i, r, &app.Error{Code: app.EInvalid, Field: "template", Message: fmt.Sprintf("there is no template %q", app.Clip(r.Template)), Hint: hint})
	}
	return nil
}

// weakSecret warns of a secret that can be guessed.
func weakSecret(secret string) []string {
	if secret == "" || len(secret) >= weakBuildSecret {
		return nil
	}
	return []string{fmt.Sprintf("The secret has only %d characters and can be guessed. Use at least %d random characters.", len([]rune(secret)), weakBuildSecret)}
}
