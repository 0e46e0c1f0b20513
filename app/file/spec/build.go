package spec

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
	"muster/app"
	"muster/app/build"
	"muster/app/file/yamlfile"
	"muster/app/humanize"
)

// maxRules is how long a file of rules may be, in bytes.
const maxRules = 128 << 10

// ReadBuildRules reads the rules of a build hook: a list, or a map with the list as its rules. JSON is YAML, too. Its error tells all mistakes.
func ReadBuildRules(b []byte) ([]build.Rule, error) { return ReadBuildRulesOf("", b) }

// ReadBuildRulesOf is ReadBuildRules for a file, whose name the error tells.
func ReadBuildRulesOf(file string, b []byte) ([]build.Rule, error) {
	if len(b) > maxRules {
		return nil, &app.Error{Code: app.ETooLarge, Field: "rules", Message: fmt.Sprintf("The rules must be at most %s.", humanize.Bytes(maxRules))}
	}
	rules := []build.Rule{}
	f := yamlfile.Parse(string(b))
	if f.Root == nil {
		return rules, f.Err(file, "rules")
	}
	list, path := f.Root, ""
	if list.Kind == yaml.MappingNode && len(list.Content) == 2 && list.Content[0].Value == "rules" {
		list, path = list.Content[1], "rules"
	}
	if list.Kind == yaml.ScalarNode && list.ShortTag() == "!!null" {
		return rules, nil
	}
	if list.Kind != yaml.SequenceNode {
		f.Wrong(list.Line, list.Column, path, "The rules must be a list.", "Start each rule with \"- name:\"; see docs/builds.md for examples.")
	} else {
		f.Read(list, &rules, path)
	}
	if err := f.Err(file, "rules"); err != nil {
		return nil, err
	}
	return rules, nil
}

// BuildRules writes rules as a file for people.
func BuildRules(rules []build.Rule) ([]byte, error) {
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
func (RuleTexts) Read(text string) ([]build.Rule, error) { return ReadBuildRules([]byte(text)) }

// Write is BuildRules.
func (RuleTexts) Write(rules []build.Rule) (string, error) {
	b, err := BuildRules(rules)
	return string(b), err
}
