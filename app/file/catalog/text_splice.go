package catalog

import (
	"bytes"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"muster/app"
	"muster/app/catalog"
	"muster/app/file/catalog/form"
)

// setOne changes one value. Only the lines of what has become other are written again; where that would not say the same, all of it is.
func setOne(text string, s catalog.Set) (string, error) {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	was, err := oneDocument(text)
	if err != nil {
		return "", err
	}
	wanted, _ := oneDocument(text)
	k := form.Kind("")
	if _, x := form.Child(was, "kind"); x != nil {
		k = form.Kind(x.Value)
	}
	touched, err := put(wanted, k, s)
	if err != nil || touched == nil {
		return text, err
	}
	if out, ok := splice(text, was, wanted, touched); ok {
		if again, err := oneDocument(out); err == nil && same(again, wanted) && comments(again) == comments(wanted) {
			return out, nil
		}
	}
	if len(wanted.Content) == 0 {
		return "", nil
	}
	out, err := encoded(wanted)
	if err == nil {
		if _, bad := oneDocument(out); bad != nil { // such as an alias before its anchor
			err = &app.Error{Code: app.EInvalid, Message: "Other parts of the YAML refer to this one, so the form can't change it.", Hint: "Change it in the YAML."}
		}
	}
	return out, err
}

// splice writes the lines of the smallest part of block mappings that holds what was touched.
func splice(text string, was, wanted *yaml.Node, touched []any) (string, bool) {
	old, fresh := was, wanted
	for i, p := range touched {
		key, ok := p.(string)
		if !ok || !isBlock(old) || fresh.Kind != yaml.MappingNode {
			return "", false
		}
		oldKey, oldValue := form.Child(old, key)
		_, freshValue := form.Child(fresh, key)
		switch {
		case freshValue == nil:
			return cutLines(text, oldKey), true
		case oldKey == nil:
			return insertLines(text, old, fresh, key)
		case i < len(touched)-1 && isBlock(oldValue) && isBlock(freshValue) && oldValue.Anchor == "":
			if _, deeper := touched[i+1].(string); deeper {
				old, fresh = oldValue, freshValue
				continue
			}
		}
		lines := strings.Split(text, "\n")
		begin, end := span(lines, oldKey)
		part, ok := pair(fresh, key, oldKey.Column)
		if !ok {
			return "", false
		}
		return strings.Join(slices.Replace(lines, begin, end, part...), "\n"), true
	}
	return "", false
}

// isBlock reports whether a mapping has a line for each key.
func isBlock(n *yaml.Node) bool {
	return n.Kind == yaml.MappingNode && n.Style&yaml.FlowStyle == 0 && len(n.Content) > 0
}

// span returns the lines of a key with its value, counted from 0, the end not included.
func span(lines []string, key *yaml.Node) (begin, end int) {
	begin = key.Line - 1
	end = begin + 1
	indent := key.Column - 1
	for i := end; i < len(lines); i++ {
		body := strings.TrimLeft(lines[i], " ")
		depth := len(lines[i]) - len(body)
		switch {
		case body == "":
			continue
		case depth < indent, depth == indent && !strings.HasPrefix(body, "- ") && body != "-":
			if strings.HasPrefix(body, "#") {
				continue
			}
			return begin, end
		}
		end = i + 1
	}
	return begin, end
}

func cutLines(text string, key *yaml.Node) string {
	lines := strings.Split(text, "\n")
	begin, end := span(lines, key)
	return strings.Join(slices.Delete(lines, begin, end), "\n")
}

// insertLines writes a key that was not there behind the one that it comes after.
func insertLines(text string, old, fresh *yaml.Node, key string) (string, bool) {
	lines := strings.Split(text, "\n")
	at := old.Content[0].Line - 1
	for i := 0; i+1 < len(fresh.Content) && fresh.Content[i].Value != key; i += 2 {
		before, _ := form.Child(old, fresh.Content[i].Value)
		if before == nil {
			return "", false
		}
		_, at = span(lines, before)
	}
	part, ok := pair(fresh, key, old.Content[0].Column)
	if !ok {
		return "", false
	}
	return strings.Join(slices.Insert(lines, at, part...), "\n"), true
}

// pair returns the lines of a key with its value. Comments above and below it are no part of them.
func pair(n *yaml.Node, key string, column int) ([]string, bool) {
	k, v := form.Child(n, key)
	name := *k
	name.HeadComment, name.FootComment = "", ""
	out, err := encoded(&yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Content: []*yaml.Node{&name, v}})
	if err != nil {
		return nil, false
	}
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	for i, l := range lines {
		if l != "" {
			lines[i] = strings.Repeat(" ", column-1) + l
		}
	}
	return lines, true
}

func encoded(n *yaml.Node) (string, error) {
	var buf bytes.Buffer
	enc := yaml.NewEncoder(&buf)
	enc.SetIndent(2)
	if err := enc.Encode(n); err != nil {
		return "", app.Errorf(app.EInvalid, "Can't write the text: %w", err)
	}
	_ = enc.Close()
	return buf.String(), nil
}

// same reports whether two nodes say the same.
func same(a, b *yaml.Node) bool {
	return a.Kind == b.Kind && a.ShortTag() == b.ShortTag() && a.Value == b.Value && a.Anchor == b.Anchor && slices.EqualFunc(a.Content, b.Content, same)
}

func (*Reader) Compare(saved, text string) catalog.TextDifference {
	if saved == text {
		return catalog.TextSame
	}
	a, errA := oneDocument(saved)
	b, errB := oneDocument(text)
	if errA != nil || errB != nil || !sameValues(a, b) {
		return catalog.TextValues
	}
	if !slices.Equal(commentLines(a, nil), commentLines(b, nil)) {
		return catalog.TextComments
	}
	return catalog.TextSame
}

// sameValues reports whether two nodes say the same where the order of keys doesn't matter. It does with anchors, since what an alias means depends
// on what is written before it: those are other values.
func sameValues(a, b *yaml.Node) bool {
	if a.Kind != b.Kind || a.Kind == yaml.AliasNode || a.Anchor+b.Anchor != "" || a.ShortTag() != b.ShortTag() || a.Value != b.Value || len(a.Content) != len(b.Content) {
		return false
	}
	if a.Kind != yaml.MappingNode {
		return slices.EqualFunc(a.Content, b.Content, sameValues)
	}
	values := map[string]*yaml.Node{}
	for i := 0; i+1 < len(b.Content); i += 2 {
		values[b.Content[i].Value] = b.Content[i+1]
	}
	for i := 0; i+1 < len(a.Content); i += 2 {
		other := values[a.Content[i].Value]
		if other == nil || a.Content[i].Kind != yaml.ScalarNode || !sameValues(a.Content[i+1], other) {
			return false
		}
		delete(values, a.Content[i].Value) // a key that is repeated has no other left
	}
	return len(values) == 0
}

// commentLines adds the lines of all comments, sorted, since they move with their keys.
func commentLines(n *yaml.Node, lines []string) []string {
	for _, c := range []string{n.HeadComment, n.LineComment, n.FootComment} {
		for line := range strings.Lines(c) {
			if line = strings.TrimSpace(line); line != "" {
				lines = append(lines, line)
			}
		}
	}
	for _, x := range n.Content {
		lines = commentLines(x, lines)
	}
	slices.Sort(lines)
	return lines
}

// comments counts the lines of comments.
func comments(n *yaml.Node) int {
	all := 0
	for _, c := range []string{n.HeadComment, n.LineComment, n.FootComment} {
		all += strings.Count(c, "#")
	}
	for _, x := range n.Content {
		all += comments(x)
	}
	return all
}
