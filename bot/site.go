package bot

import (
	"log/slog"
	"strings"
	"time"

	"muster/app"
)

// site is what all answers share: the portal's address, the clock and the log.
type site struct {
	url   func() string
	pages func(app.Subject) string
	log   *slog.Logger
	now   func() time.Time
}

// sorry is the answer for an error.
func (s *site) sorry(p Person, err error) Answer {
	e := app.AsError(err)
	if e.Code == app.EInternal {
		s.log.Error("bot: an answer failed", "person", p.External, "error", err)
	}
	a := Answer{Title: "That didn't work", Lines: []string{e.ForPeople()}, Wrong: true}
	hint := e.Hint
	switch {
	case e.Reason == "not_linked":
		a.Title, hint = "Link your account first", "Type “"+p.Command+" link”, then open the link and confirm."
	case e.Reason == "step_up":
		hint = "Re-authenticate in the portal, then try again."
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
