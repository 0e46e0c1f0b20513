package site

import (
	"net/http"
	"time"
)

// Route is an address of a page as a noun lists it: who may open it, what answers, and in which time.
type Route struct {
	Method, Pattern string
	Who             Audience
	Member          MemberHandler    // for those who are signed in
	Page            Handler          // for everyone
	Plain           http.HandlerFunc // what needs neither: it answers as it is
	Time            time.Duration    // 0: as long as it takes, while the sign-in counts
}

// Audience is who may open a page.
type Audience int

const (
	Members   Audience = iota // who is signed in
	Newcomers                 // also those who have to change their password first
	Adders                    // also those who have to add a second factor first
)

// Show is a page for those who are signed in.
func Show(pattern string, h MemberHandler) Route {
	return Route{Method: http.MethodGet, Pattern: pattern, Member: h, Time: RequestTime}
}

// Submit is what a form of such a page is sent to.
func Submit(pattern string, h MemberHandler) Route {
	return Route{Method: http.MethodPost, Pattern: pattern, Member: h, Time: RequestTime}
}

// ShowAll is a page for everyone.
func ShowAll(pattern string, h Handler) Route {
	return Route{Method: http.MethodGet, Pattern: pattern, Page: h, Time: RequestTime}
}

// SubmitAll is what a form of such a page is sent to.
func SubmitAll(pattern string, h Handler) Route {
	return Route{Method: http.MethodPost, Pattern: pattern, Page: h, Time: RequestTime}
}

// Redirect leads elsewhere who opens the address of a form, such as by loading its answer again.
func Redirect(pattern, to string) Route {
	return Route{Method: http.MethodGet, Pattern: pattern, Plain: func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, to, http.StatusSeeOther) }}
}

// For lets others in too.
func (r Route) For(who Audience) Route { r.Who = who; return r }

// Within gives it another time than usual.
func (r Route) Within(d time.Duration) Route { r.Time = d; return r }

// Stream lets it take as long as it takes, while the sign-in counts.
func (r Route) Stream() Route { return r.Within(0) }
