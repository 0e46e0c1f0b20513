package spec

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"muster/app"
)

// maxRules is how long a file of rules may be, in bytes.
const maxRules = 128 << 10

// ReadBuildRules reads the rules of a build hook: a list, or a map with the list as its rules. JSON is YAML, too.
func ReadBuildRules(b []byte) ([]app.BuildRule, error) {
	if len(b) > maxRules {
		return nil, &app.Error{Code: app.ETooLarge, Field: "rules", Message: fmt.Sprintf("The rules are longer than %d KiB.", maxRules>>10)}
	}
	var doc any
	d := yaml.NewDecoder(bytes.NewReader(b))
	switch err := d.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return []app.BuildRule{}, nil
	case err != nil:
		return nil, &app.Error{Code: app.EInvalid, Field: "rules", Message: "The rules are not YAML: " + strings.TrimPrefix(firstLine(err.Error()), "yaml: ") + ".", Hint: "docs/builds.md shows some."}
	}
	if m, ok := doc.(map[string]any); ok && len(m) == 1 && m["rules"] != nil {
		doc = m["rules"]
	}
	list, ok := doc.([]any)
	if doc != nil && !ok {
		return nil, &app.Error{Code: app.EInvalid, Field: "rules", Message: "The rules are not a list.", Hint: "Each rule begins with \"- name:\"."}
	}
	text, err := json.Marshal(list)
	if err != nil {
		return nil, &app.Error{Code: app.EInvalid, Field: "rules", Message: "Something in the rules has a key that is not a text."}
	}
	rules := []app.BuildRule{}
	j := json.NewDecoder(bytes.NewReader(text))
	j.DisallowUnknownFields()
	if err := j.Decode(&rules); err != nil {
		return nil, &app.Error{Code: app.EInvalid, Field: "rules", Message: "The rules cannot be read: " + ruleWords(err) + ".",
			Hint: "A rule has name, when, do, key, template, size, provider, cluster, parameters, lease, concurrency, queue, wait_for, forks, callback and again."}
	}
	if rules == nil {
		rules = []app.BuildRule{}
	}
	return rules, nil
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return s
}

func ruleWords(err error) string {
	var kind *json.UnmarshalTypeError
	if errors.As(err, &kind) {
		return fmt.Sprintf("%s is a %s, which it cannot be", kind.Field, kind.Value)
	}
	return strings.TrimPrefix(err.Error(), "json: ")
}

// BuildRules writes rules as a file for people.
func BuildRules(rules []app.BuildRule) ([]byte, error) {
	if len(rules) == 0 {
		return []byte{}, nil
	}
	var b bytes.Buffer
	for i, r := range rules {
		if i > 0 {
			b.WriteByte('\n')
		}
		text, err := json.Marshal(r)
		if err != nil {
			return nil, err
		}
		// The keys and their order are those of the JSON form.
		var doc yaml.Node
		if err := yaml.Unmarshal(forYAML(text), &doc); err != nil {
			return nil, err
		}
		plainStyle(&doc)
		if doc.Content[0].Kind == yaml.MappingNode {
			doc.Content[0] = &yaml.Node{Kind: yaml.SequenceNode, Content: []*yaml.Node{doc.Content[0]}}
		}
		e := yaml.NewEncoder(&b)
		e.SetIndent(2)
		if err := e.Encode(doc.Content[0]); err != nil {
			return nil, err
		}
		if err := e.Close(); err != nil {
			return nil, err
		}
	}
	return b.Bytes(), nil
}

// forYAML writes those characters as \u… that stand for themselves in JSON, and may not, or mean something else, in YAML.
func forYAML(text []byte) []byte {
	var out []byte
	for _, r := range string(text) {
		if r >= 0x7f && r <= 0x9f || r == 0xfeff || r == 0xfffe || r == 0xffff {
			out = fmt.Appendf(out, `\u%04x`, r)
		} else {
			out = utf8.AppendRune(out, r)
		}
	}
	return out
}

// plainStyle takes the quotes and braces of JSON away, where YAML needs none.
func plainStyle(n *yaml.Node) {
	n.Style = 0
	for _, c := range n.Content {
		plainStyle(c)
	}
}

// RuleTexts reads and writes the rules of build hooks as people write them, for faces that are handed it.
type RuleTexts struct{}

// Read is ReadBuildRules.
func (RuleTexts) Read(text string) ([]app.BuildRule, error) { return ReadBuildRules([]byte(text)) }

// Write is BuildRules.
func (RuleTexts) Write(rules []app.BuildRule) (string, error) {
	b, err := BuildRules(rules)
	return string(b), err
}
