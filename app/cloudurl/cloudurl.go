package cloudurl

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"muster/app"
)

// ErrCredentials is wrapped by errors of SDKs' clients that found no credentials, or could not turn them into what requests are signed with.
var ErrCredentials = errors.New("no usable credentials")

// Params are the parameters of a URL that were not taken yet.
type Params struct {
	values url.Values
	err    error
}

// Of returns the parameters of a URL. Names that are given twice are a mistake.
func Of(u *url.URL) *Params {
	values, err := url.ParseQuery(u.RawQuery)
	p := &Params{values: values}
	if err != nil {
		p.wrong("The URL has invalid parameters.")
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if len(values[name]) > 1 {
			p.wrong("The URL parameter %s is set twice.", name)
		}
	}
	return p
}

func (p *Params) wrong(format string, args ...any) {
	if p.err == nil {
		p.err = Invalid(format, args...)
	}
}

// Invalid is the error for a URL that cannot be used.
func Invalid(format string, args ...any) *app.Error {
	return &app.Error{Code: app.EInvalid, Message: fmt.Sprintf(format, args...)}
}

// Given reports whether a parameter is in the URL.
func (p *Params) Given(name string) bool { return p.values.Has(name) }

// Text takes a parameter; "" if it is not given.
func (p *Params) Text(name string) string {
	v := p.values.Get(name)
	p.values.Del(name)
	return v
}

// Flag takes a parameter that is true or false; false if it is not given.
func (p *Params) Flag(name string) bool {
	text := p.Text(name)
	if text == "" {
		return false
	}
	is, err := strconv.ParseBool(text)
	if err != nil {
		p.wrong("The URL parameter %s must be true or false.", name)
	}
	return is
}

// OneOf takes a parameter that is one of some words, and returns the word as it is in the list; "" if it is not given.
func (p *Params) OneOf(name string, words ...string) string {
	text := p.Text(name)
	if text == "" {
		return ""
	}
	for _, w := range words {
		if strings.EqualFold(w, text) {
			return w
		}
	}
	p.wrong("The URL parameter %s must be one of: %s.", name, strings.Join(words, ", "))
	return ""
}

// Number takes a parameter that is a number from 0 on, in the forms that Go knows; 0 if it is not given.
func (p *Params) Number(name string) int {
	text := p.Text(name)
	if text == "" {
		return 0
	}
	n, err := strconv.ParseUint(text, 0, 31)
	if err != nil {
		p.wrong("The URL parameter %s must be a number.", name)
	}
	return int(n)
}

// Prefixed takes the parameters that begin with a prefix, and returns them by the rest of their names.
func (p *Params) Prefixed(prefix string) map[string]string {
	found := map[string]string{}
	for _, name := range slices.Collect(maps.Keys(p.values)) {
		if rest, ok := strings.CutPrefix(name, prefix); ok {
			found[rest] = p.Text(name)
		}
	}
	return found
}

// Err returns the first mistake, which may be a parameter that nothing took.
func (p *Params) Err() error {
	for _, name := range slices.Sorted(maps.Keys(p.values)) {
		p.wrong("Unknown URL parameter %q.", name)
	}
	return p.err
}
