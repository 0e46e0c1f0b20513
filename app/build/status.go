package build

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"regexp"
	"strings"

	"muster/app"
	"muster/app/cluster"
	"muster/app/humanize"
	"muster/app/webhook"
)

// Only what can be no other path of the API; the rest of the address is the hook's.
var (
	commitRepository = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]*(/[A-Za-z0-9_.-]*[A-Za-z0-9_-][A-Za-z0-9_.-]*)+$`)
	commitID         = regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`)
)

// CommitStatus is what a build's commit shows in a state; nil where the hook writes none, or the event named no commit that can have one.
func (b Build) CommitStatus(h BuildHook, words string) *app.CommitStatus {
	e := b.Event
	if !h.Statuses || len(e.Repository) > 255 || !commitRepository.MatchString(e.Repository) || !commitID.MatchString(e.Commit) {
		return nil
	}
	s := &app.CommitStatus{System: h.System, Repository: e.Repository, Commit: e.Commit, Context: "muster/" + b.Rule, Description: cmp.Or(words, b.Message)}
	if e.Job != "" {
		s.Context += "/" + e.Job
	}
	switch b.State {
	case app.BuildWaiting:
		s.State, s.Description = app.CommitPending, "Waiting for a cluster."
	case app.BuildReady:
		s.State = app.CommitSuccess
	case app.BuildRefused, app.BuildFailed:
		s.State, s.Description = app.CommitFailure, cmp.Or(s.Description, "This build has no cluster.")
	case app.BuildOver:
		if !b.ReadyAt.IsZero() {
			return nil // that it was ready remains true
		}
		s.State, s.Description = app.CommitCancelled, "The build ended before its cluster was ready."
	default:
		return nil
	}
	return s
}

// Shown is a build as people and build systems see it: once its end was reported it isn't waiting or ready any more, though its cluster is still
// to be deleted.
func (b Build) Shown() Build {
	if !b.EndAt.IsZero() && b.State.Live() {
		if b.State = app.BuildEnding; b.Cluster == "" {
			b.State = app.BuildOver
		}
	}
	return b
}

const maxStatusToken = 512

// readyStatus says of a ready build's cluster how large it is, what it costs and where it is.
func (a *Reconciler) readyStatus(ctx context.Context, d DueBuild, b Build, c cluster.View) (*app.CommitStatus, error) {
	words := fmt.Sprintf("Cluster %s is ready: %s", c.Name, humanize.Count(len(c.Nodes), "node"))
	if c.CostPerHour > 0 {
		words += ", " + humanize.PerHour(c.CostPerHour, c.Currency)
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
			s.Description += " " + l.Label + ": " + l.URL
		}
	}
	return s, nil
}

// checkStatus says what is wrong with how a hook is to write commit statuses.
func (a *Hooks) checkStatus(r BuildHookRequest, was BuildHook, s System, c *BuildHookChange) error {
	wrong := func(field, message, hint string) error {
		return &app.Error{Code: app.EInvalid, Field: field, Message: message, Hint: hint}
	}
	if (r.StatusToken != nil && *r.StatusToken != "" || r.StatusAPI != nil && *r.StatusAPI != "") && s.StatusAPI == "" {
		return wrong("status_token", fmt.Sprintf("Muster can't write commit statuses for %s.", s.Title), "Only GitHub and GitLab hooks can.")
	}
	if r.StatusToken != nil {
		t := strings.TrimSpace(*r.StatusToken)
		if len(t) > maxStatusToken || strings.ContainsFunc(t, webhook.Unprintable) {
			return wrong("status_token", fmt.Sprintf("The token is longer than %d bytes or contains spaces.", maxStatusToken), "Paste only the token.")
		}
		c.StatusToken = &t
	}
	if r.StatusAPI != nil {
		text := strings.TrimRight(strings.TrimSpace(*r.StatusAPI), "/")
		if text != "" {
			u, err := a.Webhooks.CheckHookURL(text)
			if err != nil {
				e := *app.AsError(err)
				e.Field, e.Hint = "status_api", "For example "+s.StatusOwn+"."
				return &e
			}
			if u.User != nil || u.RawQuery != "" || u.Fragment != "" {
				return wrong("status_api", "Enter the API's URL without a user name, a query or a fragment.", "For example "+s.StatusOwn+".")
			}
		}
		// A token that is kept goes nowhere but where it was meant for.
		if text != was.StatusAPI && was.Statuses && r.StatusToken == nil {
			return wrong("status_api", "The API's URL changed, but the token was entered for the old one.", "Enter the token again as well.")
		}
		c.StatusAPI = &text
	}
	return nil
}

// checkBuildTemplates refuses rules that name a template which the tenant doesn't have. What a rule works out from the event isn't known yet.
func (a *Hooks) checkBuildTemplates(ctx context.Context, tenant string, rules []Rule) error {
	c, err := a.Catalogs.CatalogOf(ctx, tenant)
	if err != nil {
		return err
	}
	for i, r := range rules {
		if r.Do != ActionCreate || strings.Contains(r.Template, "${") || c.Templates[r.Template] != nil {
			continue
		}
		known := make([]string, 0, len(c.Templates))
		for name := range c.Templates {
			known = append(known, name)
		}
		hint := "Create a template first."
		if len(known) > 0 {
			hint = humanize.Suggest(r.Template, known)
			if all := humanize.Suggest("", known); len(known) <= 20 && hint != all {
				hint += " " + all
			}
		}
		return inRule(i, r, &app.Error{Code: app.EInvalid, Field: "template", Message: fmt.Sprintf("template %q doesn't exist", humanize.Clip(r.Template)), Hint: hint})
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
