package demodata

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// Form is a form on a page, for those who have no script.
type Form struct {
	Action string // path and query
	Method string
	Values url.Values  // what it would send as it is, buttons aside
	Fields []Field     // that people fill in
	Submit int         // buttons
	Words  []string    // the buttons' labels
	button [][3]string // name, value, and where it leads where that is elsewhere
}

// Field is a field of a form.
type Field struct {
	Name, Type, Value string
	Labelled          bool
}

func attribute(n *html.Node, name string) (string, bool) {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val, true
		}
	}
	return "", false
}

func each(n *html.Node, f func(*html.Node)) {
	f(n)
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		each(c, f)
	}
}

// words returns the text in a node, with single spaces.
func words(n *html.Node) string {
	var b strings.Builder
	each(n, func(n *html.Node) {
		if n.Type == html.TextNode {
			b.WriteString(n.Data + " ")
		}
	})
	return strings.Join(strings.Fields(b.String()), " ")
}

// Forms returns the forms of a page at an address.
func Forms(address string, body []byte) ([]Form, error) {
	doc, err := html.Parse(bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	at, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	labels := map[string]bool{}
	elsewhere := map[string][]*html.Node{} // by id of their form
	var list []*html.Node
	each(doc, func(n *html.Node) {
		if n.Type != html.ElementNode {
			return
		}
		if of, ok := attribute(n, "for"); ok && n.Data == "label" && words(n) != "" {
			labels[of] = true
		}
		if of, ok := attribute(n, "form"); ok {
			elsewhere[of] = append(elsewhere[of], n)
		}
		if n.Data == "form" {
			list = append(list, n)
		}
	})
	var all []Form
	for _, n := range list {
		f := Form{Values: url.Values{}}
		action, _ := attribute(n, "action")
		to, err := at.Parse(action)
		if err != nil {
			return nil, fmt.Errorf("%s: a form links to %q: %w", address, action, err)
		}
		f.Action = to.RequestURI()
		method, _ := attribute(n, "method")
		f.Method = strings.ToUpper(method)
		if f.Method == "" {
			f.Method = http.MethodGet
		}
		each(n, func(c *html.Node) { f.add(c, labels) })
		if id, ok := attribute(n, "id"); ok {
			for _, c := range elsewhere[id] {
				f.add(c, labels)
			}
		}
		all = append(all, f)
	}
	return all, nil
}

func (f *Form) add(n *html.Node, labels map[string]bool) {
	if n.Type != html.ElementNode || !slices.Contains([]string{"input", "select", "textarea", "button"}, n.Data) {
		return
	}
	name, _ := attribute(n, "name")
	kind, _ := attribute(n, "type")
	value, _ := attribute(n, "value")
	if _, off := attribute(n, "disabled"); off {
		return
	}
	if n.Data == "button" || kind == "submit" {
		if kind != "button" && kind != "reset" {
			f.Submit++
			f.Words = append(f.Words, cmp.Or(words(n), value))
			to, _ := attribute(n, "formaction")
			f.button = append(f.button, [3]string{name, value, to})
		}
		return
	}
	if n.Data == "textarea" {
		if value = ""; n.FirstChild != nil {
			value = strings.TrimPrefix(n.FirstChild.Data, "\n")
		}
	}
	if _, hidden := attribute(n, "hidden"); kind == "hidden" || hidden && n.Data == "textarea" {
		f.Values.Add(name, value)
		return
	}
	field := Field{Name: name, Type: kind, Value: value, Labelled: labelled(n, labels)}
	switch n.Data {
	case "textarea":
		field.Type = "textarea"
	case "select":
		field.Type = "select"
		first := true
		each(n, func(o *html.Node) {
			if o.Type == html.ElementNode && o.Data == "option" {
				v, has := attribute(o, "value")
				if !has {
					v = words(o)
				}
				if _, chosen := attribute(o, "selected"); chosen || first {
					field.Value = v
				}
				first = false
			}
		})
	case "input":
		if kind == "checkbox" || kind == "radio" {
			if _, on := attribute(n, "checked"); !on {
				f.Fields = append(f.Fields, field)
				return
			}
		}
	}
	f.Fields = append(f.Fields, field)
	if name != "" {
		f.Values.Add(name, field.Value)
	}
}

func labelled(n *html.Node, labels map[string]bool) bool {
	if id, ok := attribute(n, "id"); ok && labels[id] {
		return true
	}
	for _, a := range []string{"aria-label", "aria-labelledby", "title"} {
		if v, ok := attribute(n, a); ok && v != "" {
			return true
		}
	}
	for p := n.Parent; p != nil; p = p.Parent {
		if p.Type == html.ElementNode && p.Data == "label" && words(p) != "" {
			return true
		}
	}
	return false
}

// errNoForm says that a page has no form as it was looked for.
var errNoForm = errors.New("form not found")

// Find returns the form of a page with a button of some words, or that leads to a path.
func Find(forms []Form, what string) (Form, error) {
	for _, f := range forms {
		path, _, _ := strings.Cut(f.Action, "?")
		if path == what || slices.Contains(f.Words, what) {
			return f, nil
		}
	}
	var all []string
	for _, f := range forms {
		all = append(all, fmt.Sprintf("%s %s %q", f.Method, f.Action, f.Words))
	}
	return Form{}, fmt.Errorf("%w: %s; there are %s", errNoForm, what, strings.Join(all, ", "))
}

// Fill puts values in place of those that stand in the form; a field that it does not have is an error. Names and values take turns.
func (f Form) Fill(pairs ...string) (Form, error) {
	values := url.Values{}
	for k, v := range f.Values {
		values[k] = slices.Clone(v)
	}
	for i := 0; i+1 < len(pairs); i += 2 {
		if !slices.ContainsFunc(f.Fields, func(x Field) bool { return x.Name == pairs[i] }) && !values.Has(pairs[i]) {
			return f, fmt.Errorf("the form to %s has no field %q", f.Action, pairs[i])
		}
		values.Set(pairs[i], pairs[i+1])
	}
	f.Values = values
	return f, nil
}

// Press returns the form as it is sent by a button of these words.
func (f Form) Press(button string) (Form, error) {
	i := slices.Index(f.Words, button)
	if i < 0 {
		return f, fmt.Errorf("the form to %s has no button %q but %q", f.Action, button, f.Words)
	}
	if to := f.button[i][2]; to != "" {
		f.Action = to
	}
	if name := f.button[i][0]; name != "" {
		return f.Set(name, f.button[i][1]), nil
	}
	return f, nil
}

// Set puts a value, whatever the form has.
func (f Form) Set(name, value string) Form {
	values := url.Values{}
	for k, v := range f.Values {
		values[k] = slices.Clone(v)
	}
	values.Set(name, value)
	f.Values = values
	return f
}

// Send sends a form, as a browser without a script does.
func (v *Visitor) Send(ctx context.Context, f Form) (status int, to string, body []byte, err error) {
	address, in := v.Site.URL+f.Action, io.Reader(nil)
	if f.Method == http.MethodGet {
		path, _, _ := strings.Cut(address, "?")
		address = path + "?" + f.Values.Encode()
	} else {
		in = strings.NewReader(f.Values.Encode())
	}
	req, err := http.NewRequestWithContext(ctx, f.Method, address, in)
	if err != nil {
		return 0, "", nil, err
	}
	if in != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	resp, err := v.Client.Do(req)
	if err != nil {
		return 0, "", nil, err
	}
	defer resp.Body.Close()
	body, err = io.ReadAll(resp.Body)
	return resp.StatusCode, resp.Header.Get("Location"), body, err
}
