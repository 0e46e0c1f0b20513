package form

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// JSONNode reads one JSON value into the same kind of tree as YAML returns, so that one decoder serves both and every
// problem has its place. JSON is not handed to the YAML parser, which stumbles over some of it (surrogate pairs, tabs,
// a line break before a colon) and takes much that is not JSON.
func JSONNode(data []byte) (*yaml.Node, error) {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	p := &jsonParser{data: data, dec: json.NewDecoder(bytes.NewReader(data)), line: 1}
	p.dec.UseNumber()
	n, err := p.value(0)
	if err != nil {
		return nil, p.fail(err)
	}
	if p.skip(); p.at < len(data) {
		return nil, p.fail(fmt.Errorf("unexpected data after the end of the JSON value"))
	}
	return n, nil
}

// jsonParser walks the tokens and counts lines as it goes: line is that of data[at], lineStart the offset of its
// first byte.
type jsonParser struct {
	data      []byte
	dec       *json.Decoder
	at        int
	line      int
	lineStart int
}

// syntaxError is a text that is not JSON or not YAML, with its place as far as it is known.
type syntaxError struct {
	line, column int
	message      string
}

func (e *syntaxError) Error() string { return e.message }

func (p *jsonParser) fail(err error) error {
	message := strings.TrimPrefix(err.Error(), "json: ")
	if s, ok := errors.AsType[*json.SyntaxError](err); ok {
		// The offset of a syntax error counts from the start of the value that is being read, so only where it is
		// absolute is it nearer than where we stand.
		if off := int(s.Offset) - 1; off > p.at && off <= len(p.data) {
			p.move(off)
		}
	} else {
		p.skip()
	}
	if message == "EOF" || message == "unexpected EOF" {
		message = "the file ends in the middle of the JSON value"
		p.move(len(p.data))
	}
	return &syntaxError{line: p.line, column: p.at - p.lineStart + 1, message: message}
}

// move goes forward to an offset, counting lines.
func (p *jsonParser) move(to int) {
	for ; p.at < to && p.at < len(p.data); p.at++ {
		if p.data[p.at] == '\n' {
			p.line++
			p.lineStart = p.at + 1
		}
	}
}

// skip goes forward over blanks and the punctuation that the token reader swallows.
func (p *jsonParser) skip() {
	p.move(int(p.dec.InputOffset()))
	to := p.at
	for to < len(p.data) && strings.IndexByte(" \t\r\n,:", p.data[to]) >= 0 {
		to++
	}
	p.move(to)
}

func (p *jsonParser) value(depth int) (*yaml.Node, error) {
	p.skip()
	n := &yaml.Node{Line: p.line, Column: p.at - p.lineStart + 1}
	t, err := p.dec.Token()
	if err != nil {
		return nil, err
	}
	if depth > MaxDepth {
		return nil, fmt.Errorf("nested more than %d levels deep", MaxDepth)
	}
	switch t := t.(type) {
	case json.Delim:
		n.Kind, n.Tag = yaml.SequenceNode, "!!seq"
		if t == '{' {
			n.Kind, n.Tag = yaml.MappingNode, "!!map"
		}
		for p.dec.More() {
			x, err := p.value(depth + 1)
			if err != nil {
				return nil, err
			}
			n.Content = append(n.Content, x)
		}
		_, err = p.dec.Token()
		return n, err
	case string:
		n.Tag, n.Value = "!!str", t
	case json.Number:
		n.Tag, n.Value = "!!int", t.String()
		if strings.ContainsAny(n.Value, ".eE") {
			n.Tag = "!!float"
		}
	case bool:
		n.Tag, n.Value = "!!bool", fmt.Sprint(t)
	case nil:
		n.Tag, n.Value = "!!null", "null"
	}
	n.Kind = yaml.ScalarNode
	return n, nil
}
