package webhook

import (
	"cmp"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"muster/app"
	"muster/app/webhook"
)

// statusAPI is how a build system takes commit statuses.
type statusAPI struct {
	api    string // the public one
	states map[app.CommitState]string
	words  int // characters of a description
	name   int // characters of a status's name; the APIs take 255 bytes
	// request returns path and body.
	request func(s app.CommitStatus, state, target string) (path string, body map[string]string)
	header  func(token string) map[string]string
}

var statusAPIs = map[string]statusAPI{
	// docs.github.com/en/rest/commits/statuses
	"github": {
		api: "https://api.github.com", words: 140, name: 80,
		states: map[app.CommitState]string{app.CommitPending: "pending", app.CommitSuccess: "success", app.CommitFailure: "failure", app.CommitCancelled: "error"},
		request: func(s app.CommitStatus, state, target string) (string, map[string]string) {
			return "/repos/" + s.Repository + "/statuses/" + s.Commit, map[string]string{"state": state, "context": s.Context, "description": s.Description, "target_url": target}
		},
		header: func(token string) map[string]string {
			return map[string]string{"Authorization": "Bearer " + token, "Accept": "application/vnd.github+json", "X-GitHub-Api-Version": "2022-11-28"}
		},
	},
	// docs.gitlab.com/api/commits/#set-commit-pipeline-status
	"gitlab": {
		api: "https://gitlab.com/api/v4", words: 250, name: 80,
		states: map[app.CommitState]string{app.CommitPending: "pending", app.CommitSuccess: "success", app.CommitFailure: "failed", app.CommitCancelled: "canceled"},
		request: func(s app.CommitStatus, state, target string) (string, map[string]string) {
			return "/projects/" + url.PathEscape(s.Repository) + "/statuses/" + s.Commit, map[string]string{"state": state, "name": s.Context, "description": s.Description, "target_url": target}
		},
		header: func(token string) map[string]string { return map[string]string{"PRIVATE-TOKEN": token} },
	},
}

// statusMessage returns what is sent to write a commit status. The host is the hook's, never the event's.
func statusMessage(d webhook.DueDelivery, p Portal) (Message, *app.Error) {
	s := *d.BuildNews.Status
	api, known := statusAPIs[s.System]
	state := api.states[s.State]
	if !known || state == "" {
		return Message{}, app.Errorf(app.EInternal, "%s has no commit status for %q.", s.System, s.State)
	}
	s.Description, s.Context = characters(oneLine(s.Description), api.words), characters(oneLine(s.Context), api.name)
	target := s.Link
	if d.BuildNews.Cluster != "" {
		target = cmp.Or(p.url(app.ClusterSubject(d.BuildNews.Cluster)), target)
	}
	path, body := api.request(s, state, target)
	if u, err := url.Parse(target); err != nil || u.Scheme != "https" && u.Scheme != "http" || len(target) > 255 {
		delete(body, "target_url")
	}
	b, err := json.Marshal(body)
	if err != nil {
		return Message{}, app.Errorf(app.EInternal, "Can't encode the commit status: %w", err)
	}
	return Message{ID: d.MessageID, URL: strings.TrimSuffix(cmp.Or(d.API, api.api), "/") + path, Body: b, Header: api.header(d.Token)}, nil
}

// judgeStatus says more of an answer to a commit status: what it takes, and that GitLab refuses a state which the status has already, as after an
// answer that got lost.
func judgeStatus(s app.CommitStatus, a answer, err *app.Error) *app.Error {
	switch {
	case err == nil:
	case s.System == "gitlab" && a.Status == http.StatusBadRequest && strings.Contains(a.Text, "Cannot transition status"):
		return nil
	case err.Reason == "redirect":
		err.Hint = "Redirects aren't followed, since the token is for this address alone. Set the build hook's API URL to the final address, and check whether " + s.Repository + " was renamed or moved."
	case a.Status == http.StatusUnauthorized, a.Status == http.StatusForbidden && err.Code == app.ECredentials, a.Status == http.StatusNotFound:
		err.Hint = "Check that the build hook's token can write commit statuses of " + s.Repository + " and hasn't expired."
		if s.System == "gitlab" && a.Status == http.StatusForbidden {
			err.Hint += " For a protected branch, its role must be allowed to push there."
		}
	}
	return err
}

// characters cuts a text to so many characters, as APIs count them.
func characters(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:most-1]) + "…"
}
