package payload

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"muster/app"
)

// Limits of a body, far above what any system sends.
const (
	maxDepth  = 32
	maxValues = 100_000
	maxPlace  = 200 // bytes of a location in a message
)

// Parse reads a body, which must be one JSON object in UTF-8, without duplicate keys, deep nesting or overflowing numbers. Whole numbers
// become int64, all others float64.
func Parse(body []byte) (*Object, error) {
	if !utf8.Valid(body) {
		at := 0
		for at < len(body) {
			r, n := utf8.DecodeRune(body[at:])
			if r == utf8.RuneError && n == 1 {
				break
			}
			at += n
		}
		return nil, wrong("", "The body isn't valid UTF-8 at byte %d.", at)
	}
	p := &parser{dec: json.NewDecoder(bytes.NewReader(body))}
	p.dec.UseNumber()
	v, err := p.value(0)
	if err != nil {
		return nil, err
	}
	if _, err := p.dec.Token(); !errors.Is(err, io.EOF) {
		return nil, wrong("", "Unexpected data after the JSON object at byte %d.", p.dec.InputOffset())
	}
	m, ok := v.(map[string]any)
	if !ok {
		return nil, wrong("", "The body must be a JSON object, not %s.", kind(v))
	}
	return &Object{m: m, first: new(error)}, nil
}

type parser struct {
	dec    *json.Decoder
	path   []string
	values int
}

func (p *parser) place() string { return strings.TrimPrefix(strings.Join(p.path, ""), ".") }

func (p *parser) token() (json.Token, error) {
	t, err := p.dec.Token()
	if err != nil {
		return nil, wrong(p.place(), "The body isn't valid JSON at byte %d.", p.dec.InputOffset())
	}
	return t, nil
}

func (p *parser) value(depth int) (any, error) {
	t, err := p.token()
	if err != nil {
		return nil, err
	}
	if p.values++; p.values > maxValues {
		return nil, wrong(p.place(), "The body has more than %d values.", maxValues)
	}
	if depth > maxDepth {
		return nil, wrong(p.place(), "The body is nested more than %d levels deep.", maxDepth)
	}
	switch t := t.(type) {
	case json.Number:
		return p.number(t)
	case json.Delim:
		if t == '{' {
			return p.object(depth)
		}
		return p.list(depth)
	}
	return t, nil // nil, bool or string
}

func (p *parser) number(n json.Number) (any, error) {
	if i, err := strconv.ParseInt(n.String(), 10, 64); err == nil {
		return i, nil
	}
	f, err := strconv.ParseFloat(n.String(), 64)
	if err != nil || math.IsInf(f, 0) {
		return nil, wrong(p.place(), "The number is too large.")
	}
	return f, nil
}

func (p *parser) object(depth int) (any, error) {
	m := map[string]any{}
	for p.dec.More() {
		t, err := p.token()
		if err != nil {
			return nil, err
		}
		name, ok := t.(string)
		if !ok {
			return nil, wrong(p.place(), "The body isn't valid JSON at byte %d.", p.dec.InputOffset())
		}
		p.path = append(p.path, "."+name)
		if _, twice := m[name]; twice {
			return nil, wrong(p.place(), "This key is repeated.")
		}
		if m[name], err = p.value(depth + 1); err != nil {
			return nil, err
		}
		p.path = p.path[:len(p.path)-1]
	}
	_, err := p.token()
	return m, err
}

func (p *parser) list(depth int) (any, error) {
	l := []any{}
	for p.dec.More() {
		p.path = append(p.path, "["+strconv.Itoa(len(l))+"]")
		v, err := p.value(depth + 1)
		if err != nil {
			return nil, err
		}
		p.path, l = p.path[:len(p.path)-1], append(l, v)
	}
	_, err := p.token()
	return l, err
}

// wrong is an error at a place; without one, Field is "body".
func wrong(place, format string, args ...any) error {
	text, field := fmt.Sprintf(format, args...), "body"
	if place != "" {
		if len(place) > maxPlace {
			place = place[:maxPlace] + "…"
		}
		field = strings.ToValidUTF8(strings.Map(func(r rune) rune {
			if strconv.IsPrint(r) {
				return r
			}
			return utf8.RuneError
		}, place), "\ufffd")
		text = field + ": " + text
	}
	return &app.Error{Code: app.EInvalid, Reason: "payload", Field: field, Message: text}
}

func kind(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "true or false"
	case string:
		return "text"
	case int64, float64:
		return "a number"
	case []any:
		return "a list"
	}
	return "an object"
}
