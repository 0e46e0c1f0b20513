package page

import (
	"time"

	"muster/app"
)

// Frame is the frame of a page.
type Frame struct {
	Title   string
	Actor   *app.Actor // nil: not signed in
	Version string
	Now     time.Time // which the browser compares its clock with
	Note    string    // a notice about this installation, such as that it's a sandbox; "" for none
	Refresh int       // seconds after which a browser without JavaScript reloads the page; 0: never
	Htmx    bool      // the page has a form that updates as it's filled in
	Live    bool      // the page updates live; see portal/live.go
	Styles  []string  // additional style sheets in static/assets
	Scripts []string  // additional scripts
	At      string    // the part of the portal: "home", "clusters", "new", "templates", "requests", "questions", "usage", "admin", "account", "notices", "docs"
	Side    string    // on admin pages, the path of the section; "/admin" on the overview; "" elsewhere
	Sought  string    // the search text
	Help    string    // the documentation about the page
	All     []Section
	Tenants []string // tenants the actor can switch to; none for most people
	Inbox   int      // requests waiting for the actor
	Asked   int      // manual steps waiting for the actor
	Unread  int      // unread notifications
}

// May reports whether to show something; use cases check permissions again.
func (f Frame) May(useCase string) bool { return f.Actor != nil && f.Actor.May(useCase) }

// htmxConfig keeps htmx within the content security policy (no inline style, no eval) and to this origin. Errors are shown like any
// answer, so 4xx is swapped in too.
const htmxConfig = `{"includeIndicatorStyles":false,"allowEval":false,"allowScriptTags":false,"selfRequestsOnly":true,` +
	`"historyEnabled":false,"scrollIntoViewOnBoost":false,` +
	`"responseHandling":[{"code":"204","swap":false},{"code":"[234]..","swap":true},{"code":"5..","swap":false,"error":true}]}`

// Problem is the content of an error page.
type Problem struct {
	Status  int
	Title   string
	Message string
	Hint    string
	Request string // request ID in the log; "" if not logged
}
