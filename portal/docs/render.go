package docs

import (
	"bytes"
	"fmt"
	"html"
	"path"
	"regexp"
	"strconv"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extensionast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// rendered is a page as HTML, and its text by section.
type rendered struct {
	title, body string
	sections    []Section
}

// markdown reads and writes pages. Pages' policy forbids style attributes, so cells are aligned by an attribute of their own.
var markdown = goldmark.New(
	goldmark.WithExtensions(extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute))),
	goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(nodes{}, 1))),
)

func render(b *Book, p *Page) rendered {
	doc := markdown.Parser().Parse(text.NewReader(p.source))
	r := rendered{sections: sections(doc, p.source)}
	b.prepare(p, doc)
	var out bytes.Buffer
	if err := markdown.Renderer().Render(&out, p.source, doc); err != nil {
		panic("docs: " + p.file + " cannot be rendered: " + err.Error()) // writing to a buffer cannot fail, and a test renders all pages
	}
	r.title, r.body, _ = strings.Cut(out.String(), "\n") // a page begins with its title, in one line
	return r
}

// sections reads a document's text, and sets the anchors of its headings.
func sections(doc ast.Node, source []byte) (all []Section) {
	used := map[string]bool{}
	for n := doc.FirstChild(); n != nil; n = n.NextSibling() {
		h, ok := n.(*ast.Heading)
		if !ok {
			if len(all) > 0 {
				last := &all[len(all)-1]
				last.Text = strings.TrimSpace(last.Text + " " + plain(n, source))
			}
			continue
		}
		s := Section{Heading: plain(h, source), Level: h.Level}
		s.Anchor = anchor(s.Heading)
		for i := 1; used[s.Anchor]; i++ {
			s.Anchor = anchor(s.Heading) + "-" + strconv.Itoa(i)
		}
		used[s.Anchor] = true
		h.SetAttributeString("id", s.Anchor)
		all = append(all, s)
	}
	return all
}

var notInAnchor = regexp.MustCompile(`[^\p{L}\p{N}\p{M}_ -]`)

// anchor is a heading's anchor, as on GitHub.
func anchor(heading string) string {
	return strings.ReplaceAll(notInAnchor.ReplaceAllString(strings.ToLower(heading), ""), " ", "-")
}

// plain is a node's text, in one line.
func plain(n ast.Node, source []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch n := n.(type) {
		case *ast.Text:
			if entering {
				b.Write(n.Value(source))
				if n.SoftLineBreak() || n.HardLineBreak() {
					b.WriteByte(' ')
				}
			}
		case *ast.AutoLink:
			if entering {
				b.Write(n.Label(source))
			}
		case *ast.CodeBlock, *ast.FencedCodeBlock:
			if entering {
				b.Write(lines(n, source))
			}
		case *ast.Image, *ast.HTMLBlock:
			return ast.WalkSkipChildren, nil
		}
		if !entering && n.Type() == ast.TypeBlock {
			b.WriteByte(' ')
		}
		return ast.WalkContinue, nil
	})
	return strings.Join(strings.Fields(b.String()), " ")
}

func lines(n ast.Node, source []byte) []byte {
	var b bytes.Buffer
	for i := range n.Lines().Len() {
		l := n.Lines().At(i)
		b.Write(l.Value(source))
	}
	return b.Bytes()
}

// prepare changes a document for the portal: its links, pictures and the IDs of its code blocks.
func (b *Book) prepare(p *Page, doc ast.Node) {
	var links []*ast.Link
	var images []*ast.Image
	var addresses []*ast.AutoLink
	blocks := 0
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Link:
			links = append(links, n)
		case *ast.Image:
			images = append(images, n)
		case *ast.AutoLink:
			addresses = append(addresses, n)
		case *ast.CodeBlock, *ast.FencedCodeBlock:
			blocks++
			n.SetAttributeString("id", "code-"+strconv.Itoa(blocks))
		}
		return ast.WalkContinue, nil
	})
	for _, i := range images {
		i.Parent().RemoveChild(i.Parent(), i)
	}
	for _, a := range addresses {
		if a.AutoLinkType == ast.AutoLinkEmail { // an example, such as Muster <muster@example.com>
			a.Parent().ReplaceChild(a.Parent(), a, ast.NewString([]byte("<"+string(a.Label(p.source))+">")))
		}
	}
	for _, l := range links {
		b.link(p, l)
	}
}

// link leads a link to where its target is in the portal. One without a target there becomes plain text, and the name of a file as a
// link's text the title of its page.
func (b *Book) link(p *Page, l *ast.Link) {
	to := string(l.Destination)
	if strings.HasPrefix(to, "https://") || strings.HasPrefix(to, "http://") {
		l.SetAttributeString("rel", "noopener noreferrer")
		l.SetAttributeString("target", "_blank")
		return
	}
	file, part, _ := strings.Cut(to, "#")
	if part != "" {
		part = "#" + part
	}
	if file == "" {
		return
	}
	file = path.Join(path.Dir(p.file), file)
	target := b.pages[file]
	if target == nil {
		target = b.pages[path.Join(file, index)]
	}
	switch {
	case target != nil:
		l.Destination = []byte(target.Address() + part)
		if plain(l, p.source) == strings.TrimSuffix(to, part) {
			l.RemoveChildren(l)
			l.AppendChild(l, ast.NewString([]byte(target.Title)))
		}
	case elsewhere[file] != "":
		l.Destination = []byte(elsewhere[file])
	default:
		unlink(l)
	}
}

// unlink leaves a link's text in its place.
func unlink(l *ast.Link) {
	parent := l.Parent()
	for c := l.FirstChild(); c != nil; c = l.FirstChild() {
		parent.InsertBefore(parent, l, c)
	}
	parent.RemoveChild(parent, l)
}

// nodes writes what differs from goldmark's HTML: headings with anchors, tables that scroll, code with a button that copies it, and of
// HTML in pages only keys and anchors.
type nodes struct{}

// RegisterFuncs implements renderer.NodeRenderer.
func (r nodes) RegisterFuncs(reg renderer.NodeRendererFuncRegisterer) {
	reg.Register(ast.KindHeading, r.heading)
	reg.Register(ast.KindCodeBlock, r.code)
	reg.Register(ast.KindFencedCodeBlock, r.code)
	reg.Register(ast.KindRawHTML, r.raw)
	reg.Register(ast.KindHTMLBlock, nothing)
	reg.Register(ast.KindImage, nothing)
	reg.Register(extensionast.KindTable, r.table)
}

func nothing(util.BufWriter, []byte, ast.Node, bool) (ast.WalkStatus, error) {
	return ast.WalkSkipChildren, nil
}

func idOf(n ast.Node) string {
	id, _ := n.AttributeString("id")
	s, _ := id.(string)
	return html.EscapeString(s)
}

func (nodes) heading(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	level, id := n.(*ast.Heading).Level, idOf(n)
	switch {
	case entering:
		_, _ = fmt.Fprintf(w, `<h%d id="%s">`, level, id)
	case level == 1:
		_, _ = w.WriteString("</h1>\n")
	default:
		_, _ = fmt.Fprintf(w, ` <a class="anchor" href="#%s" aria-label="Link to this section">#</a></h%d>`+"\n", id, level)
	}
	return ast.WalkContinue, nil
}

func (nodes) code(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		id := idOf(n)
		_, _ = fmt.Fprintf(w, `<div class="code"><pre id="%s" tabindex="0"><code>%s</code></pre>`, id, html.EscapeString(string(lines(n, source))))
		_, _ = fmt.Fprintf(w, `<button type="button" class="quiet" data-copy="%s" hidden>Copy</button></div>`+"\n", id)
	}
	return ast.WalkSkipChildren, nil
}

var anchorInText = regexp.MustCompile(`^<a id="([a-z0-9-]+)">$`)

func (nodes) raw(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	tag := string(n.(*ast.RawHTML).Segments.Value(source))
	if m := anchorInText.FindStringSubmatch(tag); m != nil {
		_, _ = fmt.Fprintf(w, `<span id="%s"></span>`, m[1])
	} else if tag == "<kbd>" || tag == "</kbd>" {
		_, _ = w.WriteString(tag)
	}
	return ast.WalkSkipChildren, nil
}

func (nodes) table(w util.BufWriter, _ []byte, _ ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		_, _ = w.WriteString(`<div class="scroll" tabindex="0"><table>` + "\n")
	} else {
		_, _ = w.WriteString("</table></div>\n")
	}
	return ast.WalkContinue, nil
}
