package page

import "muster/app"

// Frame is what stands around every page.
type Frame struct {
	Title   string
	Actor   *app.Actor // nil: no one is signed in
	Version string
	Note    string   // what everyone should know about this installation, such as that it is a sandbox; "" for nothing
	Refresh int      // seconds after which a browser without JavaScript loads the page again; 0: never
	Htmx    bool     // the page has a form that updates itself
	Live    bool     // the page moves by itself; see portal/live.go
	Styles  []string // what the page loads beside the look of all: files of static/assets
	Scripts []string // likewise
	At      string   // the part of the portal that the page belongs to: "home", "clusters", "new", "templates", "requests", "questions", "usage", "admin", "account", "notices"
	Side    string   // on pages for admins, the path of the section; "/admin" on the one that leads to all; "" elsewhere
	Sought  string   // what was searched for
	All     []Section
	Tenants []string // between which the actor may switch; none for most people
	Inbox   int      // how many requests wait for the actor
	Asked   int      // how many steps that people carry out do
}

// May tells whether something is shown; the use cases have the last word.
func (f Frame) May(useCase string) bool { return f.Actor != nil && f.Actor.May(useCase) }

// htmxConfig keeps htmx within the content security policy (no inline style, no eval) and to this origin. A refusal
// is shown like any answer, so 4xx is swapped in too.
const htmxConfig = `{"includeIndicatorStyles":false,"allowEval":false,"allowScriptTags":false,"selfRequestsOnly":true,` +
	`"historyEnabled":false,"scrollIntoViewOnBoost":false,` +
	`"responseHandling":[{"code":"204","swap":false},{"code":"[234]..","swap":true},{"code":"5..","swap":false,"error":true}]}`

// Problem is a page that says why there is nothing else to see.
type Problem struct {
	Status  int
	Title   string
	Message string
	Hint    string
	Request string // the number under which the log knows more; "" where the log knows nothing
}
