package bot

import (
	"log/slog"
	"strings"
	"time"

	"muster/app"
)

// site is what all answers share: where the portal is, the clock and the log.
type site struct {
	url   func() string
	pages func(app.Subject) string
	log   *slog.Logger
	now   func() time.Time
}

// sorry tells what went wrong.
func (s *site) sorry(p Person, err error) Answer {
	e := app.AsError(err)
	if e.Code == app.EInternal {
		s.log.Error("bot: an answer failed", "person", p.External, "error", err)
	}
	a := Answer{Title: "That did not work", Lines: []string{e.ForPeople()}, Wrong: true}
	hint := e.Hint
	switch {
	case e.Reason == "not_linked":
		a.Title, hint = "Who are you?", "Type “"+p.Command+" link”, open the link, and confirm it there."
	case e.Reason == "step_up":
		hint = "That takes a fresh proof of who you are, which only the portal can ask for."
		a.Links = append(a.Links, Link{Name: "Open the portal", URL: s.Page(app.Subject{Kind: app.SubjectRequests})})
	}
	if hint != "" {
		a.Lines = append(a.Lines, hint)
	}
	return a
}

// Page returns the address of the page of a subject; "" where there is none.
func (s *site) Page(about app.Subject) string {
	if path := s.pages(about); path != "" {
		return strings.TrimRight(s.url(), "/") + path
	}
	return ""
}
