package docs

import (
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/yuin/goldmark/ast"
	extension "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
)

// Path is where the documentation is in the portal.
const Path = "/docs"

// index is the page with the table of contents.
const index = "README.md"

// pictures is a page of screenshots, which aren't embedded.
const pictures = "screenshots.md"

// elsewhere are files without a page that the portal serves at another address.
var elsewhere = map[string]string{"openapi.json": "/api/v1/openapi.json"}

// Book is the documentation.
type Book struct {
	Groups []Group
	pages  map[string]*Page // by file
	sorted []*Page          // in the order of the table of contents
}

// Group is a heading of the table of contents, with its pages.
type Group struct {
	Name  string
	Pages []*Page
}

// Page is a page of the documentation.
type Page struct {
	Title  string
	file   string
	source []byte
	render func() rendered
}

// Address is the page's path in the portal.
func (p *Page) Address() string { return address(p.file) }

// HTML is the page's content.
func (p *Page) HTML() string { return p.render().title + "\n" + p.render().body }

// Sections are the page's sections. The first one has the page's title.
func (p *Page) Sections() []Section { return p.render().sections }

// Section is the text below a heading, up to the next one.
type Section struct {
	Heading, Anchor, Text string
	Level                 int
}

func address(file string) string {
	name := strings.TrimSuffix(strings.TrimSuffix(file, ".md"), "README")
	return strings.TrimSuffix(Path+"/"+name, "/")
}

// Load reads the pages of a folder.
func Load(files fs.FS) (*Book, error) {
	b := &Book{pages: map[string]*Page{}}
	names, err := fs.Glob(files, "*.md")
	if err != nil {
		return nil, err
	}
	below, err := fs.Glob(files, "*/*.md")
	if err != nil {
		return nil, err
	}
	for _, name := range append(names, below...) {
		if name == pictures {
			continue
		}
		source, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, err
		}
		p := &Page{file: name, source: source, Title: title(source)}
		p.render = sync.OnceValue(func() rendered { return render(b, p) })
		b.pages[name] = p
	}
	b.Groups = b.contents()
	b.sorted = b.inOrder()
	return b, nil
}

// title is the first line's heading.
func title(source []byte) string {
	line, _, _ := strings.Cut(string(source), "\n")
	return strings.TrimSpace(strings.TrimPrefix(line, "# "))
}

// Page finds a page by its name in an address.
func (b *Book) Page(name string) (*Page, bool) {
	for _, file := range []string{name + ".md", path.Join(name, index)} {
		if p, ok := b.pages[file]; ok && address(file) == strings.TrimSuffix(Path+"/"+name, "/") {
			return p, true
		}
	}
	return nil, false
}

// Listed is the page in the table of contents that is current on a page: itself, or that of its folder.
func (b *Book) Listed(p *Page) *Page {
	folder := path.Dir(p.file)
	var parent *Page
	for _, g := range b.Groups {
		for _, x := range g.Pages {
			if x == p {
				return p
			}
			if x.file == folder+".md" || x.file == path.Join(folder, index) {
				parent = x
			}
		}
	}
	return parent
}

// contents reads the table of contents: each heading's table has links to pages in its first column. Pages that are linked before the first
// heading are in a group without a name.
func (b *Book) contents() []Group {
	p, groups := b.pages[index], []Group{{}}
	if p == nil {
		return nil
	}
	_ = ast.Walk(markdown.Parser().Parse(text.NewReader(p.source)), func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Heading:
			if n.Level == 2 {
				groups = append(groups, Group{Name: plain(n, p.source)})
			}
		case *ast.Link:
			to, ok := b.pages[path.Clean(string(n.Destination))]
			cell, in := n.Parent().(*extension.TableCell)
			if last := &groups[len(groups)-1]; ok && (len(groups) == 1 || in && cell.PreviousSibling() == nil) {
				last.Pages = append(last.Pages, to)
			}
		}
		return ast.WalkContinue, nil
	})
	return groups
}

func (b *Book) inOrder() (all []*Page) {
	for _, g := range b.Groups {
		all = append(all, g.Pages...)
	}
	var rest []*Page
	for _, p := range b.pages {
		if !slices.Contains(all, p) && p.file != index {
			rest = append(rest, p)
		}
	}
	slices.SortFunc(rest, func(a, b *Page) int { return strings.Compare(a.file, b.file) })
	return append(all, rest...)
}
