package site

import (
	"net/http"
	"time"
)

// Route is a noun's page: its path, audience, handler and time limit.
type Route struct {
	Method, Pattern string
	Who             Audience
	Member          MemberHandler    // for signed-in people
	Page            Handler          // for everyone
	Plain           http.HandlerFunc // handler without either
	Time            time.Duration    // 0: unlimited, while the sign-in is valid
}

// Audience is who can open a page.
type Audience int

const (
	Members   Audience = iota // signed-in people
	Newcomers                 // also people who must change their password first
	Adders                    // also people who must add a second factor first
)

// Show is a page for signed-in people.
func Show(pattern string, h MemberHandler) Route {
	return Route{Method: http.MethodGet, Pattern: pattern, Member: h, Time: RequestTime}
}

// Submit is the target of such a page's form.
func Submit(pattern string, h MemberHandler) Route {
	return Route{Method: http.MethodPost, Pattern: pattern, Member: h, Time: RequestTime}
}

// ShowAll is a page for everyone.
func ShowAll(pattern string, h Handler) Route {
	return Route{Method: http.MethodGet, Pattern: pattern, Page: h, Time: RequestTime}
}

// SubmitAll is the target of such a page's form.
func SubmitAll(pattern string, h Handler) Route {
	return Route{Method: http.MethodPost, Pattern: pattern, Page: h, Time: RequestTime}
}

// Redirect redirects people who open a form's target, such as by reloading its response.
func Redirect(pattern, to string) Route {
	return Route{Method: http.MethodGet, Pattern: pattern, Plain: func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, to, http.StatusSeeOther) }}
}

// For sets the audience.
func (r Route) For(who Audience) Route { r.Who = who; return r }

// Within sets the time limit.
func (r Route) Within(d time.Duration) Route { r.Time = d; return r }

// Stream removes the time limit, while the sign-in is valid.
func (r Route) Stream() Route { return r.Within(0) }
