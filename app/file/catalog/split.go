package catalog

import (
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"go.yaml.in/yaml/v3"
	"muster/app/catalog"
	"muster/app/file/catalog/form"
	"muster/app/humanize"
	"muster/app/template"
)

func (r *Reader) Split(files []catalog.File) ([]catalog.Text, []catalog.Problem) {
	s := &splitter{reader: r, out: &form.Reporter{}, first: map[template.CatalogKey]catalog.Text{}}
	for _, f := range files {
		s.file(f)
		if len(s.list) > catalog.MaxCatalogEntries {
			s.out.Add(form.Problem{Origin: template.Origin{File: f.Name}, Severity: form.SeverityError,
				Message: fmt.Sprintf("at most %d entries are allowed", catalog.MaxCatalogEntries)})
			break
		}
	}
	problems := []catalog.Problem{}
	for _, p := range s.out.Sorted() {
		problems = append(problems, appProblem(p))
	}
	return s.list, problems
}

type splitter struct {
	reader *Reader
	out    *form.Reporter
	list   []catalog.Text
	first  map[template.CatalogKey]catalog.Text
}

func (s *splitter) problem(file string, line int, hint, format string, args ...any) {
	s.out.Add(form.Problem{Origin: template.Origin{File: file, Line: line}, Severity: form.SeverityError, Message: fmt.Sprintf(format, args...), Hint: hint})
}

func (s *splitter) file(f catalog.File) {
	if strings.EqualFold(path.Ext(f.Name), ".json") {
		folder := path.Base(path.Dir(path.Clean("/" + strings.ReplaceAll(f.Name, `\`, "/"))))
		if k := form.CooprFolders[folder]; k != "" {
			s.coopr(f.Name, folder, k, []byte(f.Text))
			return
		}
		if s.export(f) {
			return
		}
	}
	s.native(f)
}

// coopr takes one of Coopr's definitions, which is written in our own form from then on.
func (s *splitter) coopr(file, folder string, k form.Kind, data []byte) {
	for _, e := range form.ParseCoopr(s.out, file, k, data).Entries {
		if t, ok := e.Value.(*template.Template); ok {
			t.Partial = folder == form.PartialFolder
		}
		s.cooprEntry(e)
	}
}

func (s *splitter) cooprEntry(e *form.Entry) {
	if e.Broken {
		return // that was reported
	}
	var doc any
	switch v := e.Value.(type) {
	case *template.ProviderSpec:
		v.Tenant = "own" // so that all of its settings are written
		doc = s.reader.providerDoc(v)
	case *template.HardwareType:
		doc = form.HardwareDocOf(v)
	case *template.ImageType:
		doc = form.ImageDocOf(v)
	case *template.Service:
		doc = form.ServiceDocOf(v)
	case *template.Template:
		if v.Lease == (template.Lease{}) {
			delete(v.Lines, "lease") // Coopr writes leases out that say nothing
		}
		doc = form.TemplateDocOf(v)
	}
	s.add(catalog.Text{CatalogKey: template.CatalogKey{Kind: string(e.Kind), Name: e.Name}, File: e.File, Line: -1, Text: form.Text(doc), Coopr: true},
		e.Node.Line)
}

// export takes what Coopr exports as a whole: an object with a list for each of its folders. False where it is something else.
func (s *splitter) export(f catalog.File) bool {
	n, err := form.JSONNode([]byte(f.Text))
	if err != nil || n.Kind != yaml.MappingNode || len(n.Content) == 0 {
		return false // what is wrong with it is reported where it is read as our own
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if form.CooprFolders[n.Content[i].Value] == "" || n.Content[i+1].Kind != yaml.SequenceNode {
			return false
		}
	}
	nodes := 0
	for i := 0; i+1 < len(n.Content); i += 2 {
		folder := n.Content[i].Value
		for _, x := range n.Content[i+1].Content {
			d := &form.Decoder{Out: s.out, File: f.Name, Nodes: &nodes, Lenient: true}
			if x.Kind != yaml.MappingNode {
				d.Wrong(x, folder, "an object", "")
				continue
			}
			k := form.CooprFolders[folder]
			e := d.Entry(&form.Entry{Key: form.Key{Kind: k}, File: f.Name, Node: x, Coopr: true, Lenient: true}, form.CooprDoc(k), form.FromCoopr)
			if e == nil {
				continue
			}
			if t, ok := e.Value.(*template.Template); ok {
				t.Partial = folder == form.PartialFolder
			}
			s.cooprEntry(e)
		}
	}
	return true
}

// native takes a file of our own form apart into its documents. Each keeps the comments that stand around it.
func (s *splitter) native(f catalog.File) {
	for _, c := range chunks(strings.TrimPrefix(f.Text, "\ufeff")) {
		var doc yaml.Node
		dec := yaml.NewDecoder(strings.NewReader(c.text))
		err := dec.Decode(&doc)
		if errors.Is(err, io.EOF) || err == nil && (len(doc.Content) == 0 || form.Follow(doc.Content[0]).ShortTag() == "!!null") {
			continue // only comments
		}
		t := catalog.Text{File: f.Name, Line: c.line, Text: c.text}
		var k, n *yaml.Node
		if err == nil {
			_, k = form.Child(doc.Content[0], "kind")
			_, n = form.Child(doc.Content[0], "name")
		}
		if k != nil && n != nil && form.IsKind(form.Kind(form.Follow(k).Value)) && form.GoodName(form.Follow(n).Value) && form.Follow(n).Kind == yaml.ScalarNode {
			t.Kind, t.Name = form.Follow(k).Value, form.Follow(n).Value
			s.add(t, c.line+doc.Content[0].Line)
			continue
		}
		// It is unknown what it is: say why.
		out := &form.Reporter{}
		form.ParseNative(out, f.Name, []byte(c.text))
		for _, p := range out.Sorted() {
			if p.Origin.Line > 0 {
				p.Origin.Line += c.line
			}
			s.out.Add(p)
		}
		if out.Errors == 0 {
			s.problem(f.Name, c.line+1, "", "not a catalog entry")
		}
	}
}

func (s *splitter) add(t catalog.Text, line int) {
	if len(t.Text) > catalog.MaxCatalogText {
		s.problem(t.File, line, "", "%s is larger than %s", form.Key{Kind: form.Kind(t.Kind), Name: t.Name}, humanize.Bytes(catalog.MaxCatalogText))
		return
	}
	if first, twice := s.first[t.CatalogKey]; twice {
		s.problem(t.File, line, "", "%s is defined twice, first in %s", form.Key{Kind: form.Kind(t.Kind), Name: t.Name},
			template.Origin{File: first.File, Line: first.Line + 1})
		return
	}
	s.first[t.CatalogKey] = t
	s.list = append(s.list, t)
}

// chunk is one document of a file.
type chunk struct {
	text string
	line int // how many lines of the file stand before it
}

// chunks takes a text apart where a line begins with --- or ..., which is nothing but the end of a document wherever it is.
func chunks(text string) (list []chunk) {
	start, line, from := 0, 0, 0
	end := func(to int) {
		c := chunk{text: text[start:to], line: from}
		for {
			first, rest, more := strings.Cut(c.text, "\n")
			if !more || strings.TrimSpace(first) != "" {
				break
			}
			c.text, c.line = rest, c.line+1
		}
		if c.text = strings.TrimRight(c.text, " \t\r\n"); c.text != "" {
			c.text += "\n"
			list = append(list, c)
		}
	}
	for at := 0; at < len(text); {
		next := len(text)
		if i := strings.IndexByte(text[at:], '\n'); i >= 0 {
			next = at + i + 1
		}
		rest, mark := strings.CutPrefix(text[at:next], "---")
		if !mark {
			rest, mark = strings.CutPrefix(text[at:next], "...")
		}
		if mark && (rest == "" || strings.ContainsAny(rest[:1], " \t\r\n")) {
			end(at)
			start, from = next, line+1
			if strings.TrimSpace(rest) != "" { // the document begins on the same line
				start, from = at, line
			}
		}
		at, line = next, line+1
	}
	end(len(text))
	return list
}
