package portal

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"muster/app"
	"muster/app/humanize"
	"muster/portal/identity"
	"muster/portal/site"

	"github.com/go-chi/chi/v5"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// fieldPage names the page of a form that is shown again, since the browser's address is the form's target by then.
const fieldPage = "_page"

// maxPage limits a page with a form, in bytes.
const maxPage = 4 << 20

var errNoPage = errors.New("portal: not a page with a form")

// formAgain answers a rejected form with the page it was posted from, with the typed values and the error. It reports whether it did; if the
// page is unknown or has no such form, the error gets its own page.
func (p *Portal) formAgain(w http.ResponseWriter, r *http.Request, refused error) bool {
	e, correctable := identity.Correctable(refused)
	if refused == nil || !correctable && e.Code != app.ENoLayout || e.Reason == "malformed" || r.Method != http.MethodPost || r.PostForm == nil || isPart(r) || r.Header.Get("HX-Request") != "" {
		return false
	}
	from := formPage(r)
	if from == "" {
		return false
	}
	page := p.pageAt(r, from)
	if page == nil {
		return false
	}
	doc, err := html.Parse(page)
	if err != nil {
		return false
	}
	f := postedForm(doc, from, r)
	if f == nil {
		return false
	}
	fields := controls(doc, f)
	fillForm(fields, r.PostForm)
	for n := f.Parent; n != nil; n = n.Parent {
		if n.DataAtom == atom.Details {
			markAttr(n, "open", true)
		}
	}
	explain(f, fields, e)
	setAttr(f, "action", r.URL.RequestURI())
	f.AppendChild(element("input", "type", "hidden", "name", fieldPage, "value", from))
	var out bytes.Buffer
	if err := html.Render(&out, doc); err != nil {
		return false
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	site.RetryAfter(w.Header(), e)
	site.WritePage(w, r, site.StatusOf(refused), out.Bytes())
	return true
}

// formPage is the path of the page with the form; "" if unknown.
func formPage(r *http.Request) string {
	from := r.PostForm.Get(fieldPage)
	if from == "" {
		u, err := url.Parse(r.Referer())
		if err != nil || u.Host != r.Host {
			return ""
		}
		from = u.RequestURI()
	}
	if len(from) > maxNext {
		return ""
	}
	if from = site.Local(from); from == "/" {
		return ""
	}
	return from
}

// keptPage records a page.
type keptPage struct{ readAnswer }

// Write rejects responses that aren't pages, such as downloads or streams, or are too long.
func (k *keptPage) Write(b []byte) (int, error) {
	k.WriteHeader(http.StatusOK)
	if !k.isPage() || k.body.Len()+len(b) > maxPage {
		k.status = http.StatusNotAcceptable
		return 0, errNoPage
	}
	return k.body.Write(b)
}

func (k *keptPage) isPage() bool {
	return k.status == http.StatusOK && strings.HasPrefix(k.header.Get("Content-Type"), "text/html")
}

// pageAt is a page as the sender of a request sees it; nil if there is none.
func (p *Portal) pageAt(r *http.Request, address string) *bytes.Buffer {
	u, err := url.ParseRequestURI(address)
	if err != nil {
		return nil
	}
	ask := r.Clone(context.WithValue(r.Context(), chi.RouteCtxKey, (*chi.Context)(nil))) // route from the start
	ask.Method, ask.URL, ask.RequestURI = http.MethodGet, u, address
	ask.Body, ask.ContentLength, ask.Form, ask.PostForm, ask.MultipartForm = http.NoBody, 0, nil, nil, nil
	for _, h := range []string{"Accept-Encoding", "Content-Type", "Content-Length", "If-None-Match"} {
		ask.Header.Del(h)
	}
	k := &keptPage{readAnswer{header: http.Header{}}}
	p.handler.ServeHTTP(k, ask)
	if !k.isPage() {
		return nil
	}
	return &k.body
}

// postedForm finds the posted form on a page: of several with the same target, the one whose hidden fields were sent. Forms with only
// buttons have nothing to correct.
func postedForm(doc *html.Node, from string, r *http.Request) (best *html.Node) {
	base, _ := url.Parse(from)
	most := -1
	for n := range doc.Descendants() {
		if n.DataAtom != atom.Form || !strings.EqualFold(attr(n, "method"), "post") || !postsTo(n, base, r.URL.Path) {
			continue
		}
		score, typed := 0, false
		for _, c := range controls(doc, n) {
			sent := r.PostForm[attr(c, "name")]
			switch {
			case attr(c, "type") != "hidden":
				typed = true
				if len(sent) > 0 {
					score++
				}
			case slices.Contains(sent, attr(c, "value")):
				score += 10
			default:
				score -= 10
			}
		}
		if typed && (best == nil || score > most) {
			best, most = n, score
		}
	}
	return best
}

// postsTo reports whether a form or one of its buttons posts to a path.
func postsTo(form *html.Node, base *url.URL, path string) bool {
	to := func(action string) bool {
		u, err := base.Parse(action)
		return err == nil && u.Path == path
	}
	if to(attr(form, "action")) {
		return true
	}
	for n := range form.Descendants() {
		if a := attr(n, "formaction"); a != "" && to(a) {
			return true
		}
	}
	return false
}

// controls are a form's fields, in page order.
func controls(doc, form *html.Node) (all []*html.Node) {
	id, inside := attr(form, "id"), map[*html.Node]bool{}
	for n := range form.Descendants() {
		inside[n] = true
	}
	for n := range doc.Descendants() {
		if isControl(n) && (inside[n] && attr(n, "form") == "" || id != "" && attr(n, "form") == id) {
			all = append(all, n)
		}
	}
	return all
}

// isControl reports whether a node is a form field, visible or hidden.
func isControl(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Textarea, atom.Select:
		return attr(n, "name") != ""
	case atom.Input:
		t := attr(n, "type")
		return attr(n, "name") != "" && t != "submit" && t != "button" && t != "image"
	}
	return false
}

// fillForm fills in the sent values, in order. Passwords must be typed again, and files chosen again.
func fillForm(fields []*html.Node, typed url.Values) {
	used := map[string]int{}
	next := func(name string) (string, bool) {
		i := used[name]
		if i >= len(typed[name]) {
			return "", false
		}
		used[name]++
		return typed[name][i], true
	}
	for _, n := range fields {
		name := attr(n, "name")
		switch n.DataAtom {
		case atom.Textarea:
			if text, is := next(name); is {
				for n.FirstChild != nil {
					n.RemoveChild(n.FirstChild)
				}
				n.AppendChild(&html.Node{Type: html.TextNode, Data: "\n" + text}) // browsers drop the first line end
			}
		case atom.Select:
			if len(typed[name]) == 0 {
				continue
			}
			for o := range n.Descendants() {
				if o.DataAtom == atom.Option {
					markAttr(o, "selected", slices.Contains(typed[name], optionValue(o)))
				}
			}
		default:
			switch attr(n, "type") {
			case "password", "file":
			case "hidden":
				next(name)
			case "checkbox", "radio":
				value := "on"
				if v, is := findAttr(n, "value"); is {
					value = v
				}
				markAttr(n, "checked", slices.Contains(typed[name], value))
			default:
				if text, is := next(name); is {
					setAttr(n, "value", text)
				}
			}
		}
	}
}

// explain shows the error above a form, and marks its field.
func explain(form *html.Node, fields []*html.Node, e *app.Error) {
	const id = "form-error"
	box := element("div", "class", "failure", "role", "alert", "id", id)
	say := func(text, class string) {
		if text != "" {
			line := element("p", "class", class)
			line.AppendChild(&html.Node{Type: html.TextNode, Data: text})
			box.AppendChild(line)
		}
	}
	say(humanize.PlainText(e.Message), "")
	say(e.Hint, "soft")
	form.InsertBefore(box, form.FirstChild)
	for _, n := range fields {
		if e.Field != "" && attr(n, "name") == e.Field && attr(n, "type") != "hidden" {
			setAttr(n, "aria-invalid", "true")
			setAttr(n, "aria-describedby", strings.TrimSpace(attr(n, "aria-describedby")+" "+id))
			return
		}
	}
}

func element(name string, attrs ...string) *html.Node {
	n := &html.Node{Type: html.ElementNode, Data: name, DataAtom: atom.Lookup([]byte(name))}
	for i := 0; i+1 < len(attrs); i += 2 {
		setAttr(n, attrs[i], attrs[i+1])
	}
	return n
}

// optionValue is the value of an option.
func optionValue(o *html.Node) string {
	if v, is := findAttr(o, "value"); is {
		return v
	}
	var text strings.Builder
	for n := range o.Descendants() {
		if n.Type == html.TextNode {
			text.WriteString(n.Data)
		}
	}
	return strings.TrimSpace(text.String())
}

func findAttr(n *html.Node, key string) (string, bool) {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val, true
		}
	}
	return "", false
}

func attr(n *html.Node, key string) string {
	v, _ := findAttr(n, key)
	return v
}

func setAttr(n *html.Node, key, value string) {
	markAttr(n, key, false)
	n.Attr = append(n.Attr, html.Attribute{Key: key, Val: value})
}

// markAttr sets or removes a boolean attribute.
func markAttr(n *html.Node, key string, on bool) {
	n.Attr = slices.DeleteFunc(n.Attr, func(a html.Attribute) bool { return a.Key == key })
	if on {
		n.Attr = append(n.Attr, html.Attribute{Key: key})
	}
}
