package catalog

import (
	"crypto/sha256"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"
	appcatalog "muster/app/catalog"
	"muster/app/family"
	"muster/app/file/catalog/form"
	"muster/app/template"
)

// Reader reads the installation's catalog once and keeps it as it was read, so that what it costs to lay a tenant's own entries over it
// grows with these. It may be used by many goroutines.
type Reader struct {
	options  Options
	families appcatalog.Families
	secret   map[string]bool // settings that are secret, as TYPE.NAME
	hosts    map[string]bool

	mu    sync.Mutex
	bases []*base // those that were asked for last
	texts texts
}

var _ appcatalog.Reader = (*Reader)(nil)

// base is the installation's catalog as it was read.
type base struct {
	catalog     *template.Catalog
	entries     map[form.Key]*form.Entry
	written     map[*template.ProviderSpec]*form.Entry // which entry a provider is from
	inheritance map[string][]*form.Entry               // templates that extend or include one, by its name
}

// keptBases is enough for a catalog and the one before it.
const keptBases = 2

// NewReader returns a reader that checks by the same options as Load, and by what the families say of themselves.
func NewReader(o Options, f appcatalog.Families) *Reader {
	r := &Reader{options: o, families: f, secret: map[string]bool{}, hosts: map[string]bool{}}
	for _, d := range f.Providers {
		r.hosts[d.Name] = d.Host
		for _, field := range d.Fields {
			if field.Secret {
				r.secret[d.Name+"."+field.Name] = true
			}
		}
	}
	r.families.Schema = string(form.Schema())
	return r
}

// Families are without those whose plugin was removed since.
func (r *Reader) Families() appcatalog.Families {
	f := r.families
	f.Providers, f.Automators = without(f.Providers, r.options.RemovedType), without(f.Automators, r.options.RemovedAutomator)
	return f
}

func without(all []family.Descriptor, removed func(string) error) []family.Descriptor {
	if removed == nil {
		return all
	}
	return slices.DeleteFunc(slices.Clone(all), func(d family.Descriptor) bool { return removed(d.Name) != nil })
}

// Load is the package's Load. The reader remembers how what it returns was written.
func (r *Reader) Load(dirs ...string) (*template.Catalog, error) {
	sources := make([]Source, len(dirs))
	for i, d := range dirs {
		sources[i] = dir(d)
	}
	return r.LoadFS(sources...)
}

// loadFS is Load for any trees of files.
func (r *Reader) LoadFS(sources ...Source) (*template.Catalog, error) {
	c, entries, err := load(r.options, sources)
	if err != nil {
		return nil, err
	}
	placeWithin(entries, sources)
	r.remember(newBase(c, entries))
	return c, nil
}

// placeWithin says of entries where they are written from their catalog's directory on: where that is on the server is no one's business who
// reads a page. Of several directories the last part of each name is kept.
func placeWithin(entries map[form.Key]*form.Entry, sources []Source) {
	within := func(file string) string {
		for _, s := range sources {
			rest, inside := strings.CutPrefix(file, filepath.Clean(s.Name)+string(filepath.Separator))
			switch {
			case inside && len(sources) > 1:
				return path.Join(filepath.Base(s.Name), filepath.ToSlash(rest))
			case inside:
				return filepath.ToSlash(rest)
			}
		}
		return file
	}
	place := func(a *template.About) {
		a.Origin.File = within(a.Origin.File)
		for part, from := range a.Taken {
			from.File = within(from.File)
			a.Taken[part] = from
		}
	}
	for _, e := range entries {
		e.File = within(e.File)
		switch v := e.Value.(type) {
		case *template.ProviderSpec:
			place(&v.About)
		case *template.HardwareType:
			place(&v.About)
		case *template.ImageType:
			place(&v.About)
		case *template.Service:
			place(&v.About)
		case *template.Template:
			place(&v.About)
		}
		if e.Whole != nil && e.Whole != e.Value {
			place(&e.Whole.About)
		}
	}
}

func newBase(c *template.Catalog, entries map[form.Key]*form.Entry) *base {
	b := &base{catalog: c, entries: entries, written: map[*template.ProviderSpec]*form.Entry{}, inheritance: map[string][]*form.Entry{}}
	for _, e := range entries {
		e.Done = true
		switch v := e.Value.(type) {
		case *template.ProviderSpec:
			b.written[v] = e
		case *template.Template:
			for _, of := range append(slices.Clone(v.Includes), v.Extends) {
				if of != "" {
					b.inheritance[of] = append(b.inheritance[of], e)
				}
			}
		}
	}
	return b
}

func (r *Reader) remember(b *base) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.bases = append([]*base{b}, r.bases[:min(len(r.bases), keptBases-1)]...)
}

// base finds how a catalog was read. One that this reader did not read is written down and read.
func (r *Reader) base(c *template.Catalog) *base {
	r.mu.Lock()
	for _, b := range r.bases {
		if b.catalog == c {
			r.mu.Unlock()
			return b
		}
	}
	r.mu.Unlock()
	entries := map[form.Key]*form.Entry{}
	add := func(k form.Kind, name string, value any) {
		t, _ := r.Write(c, template.CatalogKey{Kind: string(k), Name: name})
		p := form.ParseNative(&form.Reporter{}, "", []byte(t))
		if len(p.Entries) != 1 {
			return
		}
		e := p.Entries[0]
		e.Value, e.Broken = value, false
		entries[e.Key] = e
	}
	for name, v := range c.Providers {
		add(form.KindProvider, name, v)
	}
	for name, v := range c.Hardware {
		add(form.KindHardware, name, v)
	}
	for name, v := range c.Images {
		add(form.KindImage, name, v)
	}
	for name, v := range c.Services {
		add(form.KindService, name, v)
	}
	for name, v := range c.Written {
		add(form.KindTemplate, name, v)
	}
	(&checker{out: &form.Reporter{}, entries: entries}).whole(sortedEntries(entries))
	b := newBase(c, entries)
	r.remember(b)
	return b
}

// ownFile is the name by which problems name the text of an own entry.
func ownFile(k template.CatalogKey) string { return k.Kind + "/" + k.Name + ".yaml" }

func (r *Reader) Read(installation *template.Catalog, tenant string, own []appcatalog.Text) (*template.Catalog, []appcatalog.Problem) {
	if len(own) == 0 {
		return installation, nil
	}
	b := r.base(installation)
	out := &form.Reporter{}
	c := &checker{options: r.options, out: out, entries: make(map[form.Key]*form.Entry, len(b.entries)+len(own)), unread: map[string]bool{},
		secret: r.secret, onHost: r.hosts,
		installation: installation, families: r.families}
	for k, e := range b.entries {
		c.entries[k] = e
	}
	var list []*form.Entry
	for _, t := range own {
		e := r.entry(out, tenant, t)
		c.entries[e.Key] = e
		list = append(list, e)
	}
	list = append(list, c.inheriting(b, list)...)
	slices.SortFunc(list, func(x, y *form.Entry) int { return strings.Compare(x.Key.String(), y.Key.String()) })
	c.checkThese(list)
	return laid(installation, list), r.problems(out, c.entries)
}

// inheriting returns copies of the shared catalog's templates that inherit from the tenant's own, to be expanded again.
func (c *checker) inheriting(b *base, own []*form.Entry) (list []*form.Entry) {
	next := make([]string, 0, len(own))
	for _, e := range own {
		if e.Kind == form.KindTemplate {
			next = append(next, e.Name)
		}
	}
	seen := map[string]bool{}
	for len(next) > 0 {
		name := next[0]
		next = next[1:]
		for _, heir := range b.inheritance[name] {
			if seen[heir.Name] || c.entries[heir.Key] != heir {
				continue // it is an own one, or was met before
			}
			seen[heir.Name] = true
			again := *heir
			again.Done, again.Layers, again.Whole, again.Depth = false, nil, nil, 0
			c.entries[again.Key] = &again
			list, next = append(list, &again), append(next, heir.Name)
		}
	}
	return list
}

// laid is a catalog with entries laid over it.
func laid(under *template.Catalog, list []*form.Entry) *template.Catalog {
	c := &template.Catalog{Providers: copied(under.Providers), Hardware: copied(under.Hardware), Images: copied(under.Images),
		Services: copied(under.Services), Templates: copied(under.Templates), Written: copied(under.Written)}
	for _, e := range list {
		switch e.Kind {
		case form.KindProvider:
			delete(c.Providers, e.Name)
		case form.KindHardware:
			delete(c.Hardware, e.Name)
		case form.KindImage:
			delete(c.Images, e.Name)
		case form.KindService:
			delete(c.Services, e.Name)
		case form.KindTemplate:
			delete(c.Templates, e.Name)
			delete(c.Written, e.Name)
		}
		enlist(c, e)
	}
	return c
}

func copied[T any](m map[string]T) map[string]T {
	out := make(map[string]T, len(m)+4)
	for k, v := range m {
		out[k] = v
	}
	return out
}

// entry reads an own entry. One that cannot be read is broken, and hides the installation's of the same name all the same.
func (r *Reader) entry(out *form.Reporter, tenant string, t appcatalog.Text) *form.Entry {
	p := r.texts.read(t)
	for _, problem := range p.problems {
		out.Add(problem)
	}
	var e form.Entry
	if p.entry != nil {
		e = *p.entry
	} else {
		e = form.Entry{Key: form.Key{Kind: form.Kind(t.Kind), Name: t.Name}, File: ownFile(t.CatalogKey), Node: &yaml.Node{Kind: yaml.MappingNode}, Broken: true}
	}
	e.Own, e.Trusted, e.Lenient = true, t.Trusted, t.Coopr
	switch v := e.Value.(type) { // what was read is shared
	case *template.ProviderSpec:
		p := *v
		p.Tenant, p.Untrusted = tenant, !t.Trusted
		e.Value = &p
	case *template.Service:
		s := *v
		s.Untrusted = !t.Trusted
		e.Value = &s
	case *template.HardwareType:
		h := *v
		h.Untrusted, h.Providers = !t.Trusted, maps.Clone(v.Providers)
		e.Value = &h
	case *template.ImageType:
		i := *v
		i.Untrusted, i.Providers = !t.Trusted, maps.Clone(v.Providers)
		e.Value = &i
	case *template.Template:
		w := *v
		w.Untrusted = !t.Trusted
		e.Value = &w
	}
	return &e
}

// texts remembers what texts were read as: a tenant's other entries are not read again with each change of one.
type texts struct {
	mu       sync.Mutex
	now, old map[textKey]readText
	size     int
}

type textKey struct {
	of  template.CatalogKey
	sum [sha256.Size]byte
}

type readText struct {
	entry    *form.Entry // nil: it is unknown what it is
	problems form.Problems
}

// keptTexts is how many bytes of texts are remembered, twice: what was not asked for while so many others were is forgotten.
const keptTexts = 4 << 20

func (m *texts) read(t appcatalog.Text) readText {
	k := textKey{t.CatalogKey, sha256.Sum256([]byte(t.Text))}
	m.mu.Lock()
	p, ok := m.now[k]
	if !ok {
		if p, ok = m.old[k]; ok {
			m.keep(k, p, len(t.Text))
		}
	}
	m.mu.Unlock()
	if ok {
		return p
	}
	p = readOwn(t)
	m.mu.Lock()
	m.keep(k, p, len(t.Text))
	m.mu.Unlock()
	return p
}

func (m *texts) keep(k textKey, p readText, size int) {
	if m.size += size; m.now == nil || m.size > keptTexts {
		m.old, m.now, m.size = m.now, map[textKey]readText{}, size
	}
	m.now[k] = p
}

// readOwn reads the text of one own entry.
func readOwn(t appcatalog.Text) readText {
	out := &form.Reporter{}
	file := ownFile(t.CatalogKey)
	p := form.ParseNative(out, file, []byte(t.Text))
	var r readText
	for _, e := range p.Entries {
		switch {
		case e.Key != form.Key{Kind: form.Kind(t.Kind), Name: t.Name}:
			out.Add(form.Problem{Origin: template.Origin{File: file, Line: e.At("name").Line}, Severity: form.SeverityError, Kind: t.Kind, Name: t.Name, Field: "name",
				Message: "this is " + e.Key.String() + ", not " + form.Key{Kind: form.Kind(t.Kind), Name: t.Name}.String()})
		case r.entry != nil:
			out.Add(form.Problem{Origin: template.Origin{File: file, Line: e.At("name").Line}, Severity: form.SeverityError, Kind: t.Kind, Name: t.Name,
				Message: "defined twice"})
		default:
			r.entry = e
		}
	}
	r.problems = out.Sorted()
	return r
}

// problems returns those that concern the tenant. What is wrong with the installation's entries because of own ones keeps no one from saving.
func (r *Reader) problems(out *form.Reporter, entries map[form.Key]*form.Entry) []appcatalog.Problem {
	list := []appcatalog.Problem{}
	for _, p := range out.Sorted() {
		k := form.Key{Kind: form.Kind(p.Kind), Name: p.Name}
		q := appProblem(p)
		if e := entries[k]; e != nil && !e.Own {
			q.Severity = string(form.SeverityWarning)
			q.Hint = strings.TrimPrefix(q.Hint+"; until this is fixed, the shared catalog's "+k.String()+" isn't offered", "; ")
		}
		list = append(list, q)
	}
	slices.SortStableFunc(list, func(x, y appcatalog.Problem) int { return strings.Compare(x.Severity, y.Severity) }) // error, warning
	return list
}

// appProblem says it in app's words: the entry is not named in the message once more.
func appProblem(p form.Problem) appcatalog.Problem {
	message := p.Message
	if p.Name != "" {
		message = strings.TrimPrefix(message, form.Key{Kind: form.Kind(p.Kind), Name: p.Name}.String()+": ")
	}
	return appcatalog.Problem{File: p.Origin.File, Line: p.Origin.Line, Column: p.Column, Severity: string(p.Severity), Message: message, Hint: p.Hint, Field: p.Field,
		CatalogKey: template.CatalogKey{Kind: p.Kind, Name: p.Name}}
}
