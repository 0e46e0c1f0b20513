package catalog

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"muster/app/file/catalog/form"
	"muster/app/humanize"
	"muster/app/template"
)

// Limits on what is read. A catalog of a large installation stays far below them; they are there for a wrong directory.
const (
	maxFileSize = 4 << 20
	maxFiles    = 10_000
)

// Options say what a catalog is checked against. The zero value checks all that the catalog itself can tell.
type Options struct {
	// Env looks up the variables that providers' settings name as ${env:NAME}; a missing one is a problem. Nil leaves
	// such settings as they are written and does not check the provider's settings, which is right for a place that has
	// no secrets, such as a build system.
	Env func(name string) (value string, ok bool)
	// ProviderTypes are the available kinds of cloud. Nil means that types are not checked.
	ProviderTypes []string
	// ProviderTypesLeftOut exist, but not in this build.
	ProviderTypesLeftOut []string
	// RemovedType and RemovedAutomator say why a type of provider, or an automator, that there was isn't used any more; nil: none was removed.
	RemovedType, RemovedAutomator func(name string) error
	// CheckProvider reports whether the settings fit one of ProviderTypes, and whether the person who saved the entry may set them. When its error is an
	// *app.Error, Field names the
	// setting, with or without "settings." before it. The message must not quote a secret.
	CheckProvider func(spec template.ProviderSpec) error
	// CheckExtra reports whether what hardware or an image says for a provider of one of ProviderTypes, beside its flavor or its image, fits it.
	// When its error is an *app.Error, Field names the field, with "extra." before it. Nil means that it is not checked.
	CheckExtra func(typ string, image bool, extra map[string]string) error
	// MakesVolumes reports whether one of ProviderTypes makes volumes; nil means that it isn't checked.
	MakesVolumes func(typ string) bool
	// Sleeps reports whether machines of one of ProviderTypes can be put to sleep; nil means that it isn't checked.
	Sleeps func(typ string) bool
	// Automators are the existing tools; nil means that they are not checked.
	Automators []string
	// CheckAction reports whether the fields of a service action fit one of Automators. When its error is an *app.Error,
	// Field names the field, with or without "fields." before it.
	CheckAction func(automator string, fields map[string]string) error
	// CheckScript tells what keeps a shell from reading a script; nil where nothing does. Of actions those of the automator "shell" are scripts.
	CheckScript func(script string) *template.ScriptFault
	// CheckResources reports whether one of Automators can have such resources. Whether they are there is the tenant's to know.
	CheckResources func(automator string, refs []template.ResourceRef) error
	// Currency is the installation's, by ISO 4217; "" means that it isn't known, and exchange rates aren't required.
	Currency string
	// HostAccess lets admins of tenants have providers of their own whose machines are on Muster's hosts.
	HostAccess bool
	// Warn receives, from Load, the problems that do not keep the catalog from being used. Nil drops them.
	Warn func(form.Problem)
}

// Source is a tree of catalog files. Name comes before file names in problems.
type Source struct {
	Name string
	FS   fs.FS
}

// dir is the source that reads a directory.
func dir(dir string) Source { return Source{Name: dir, FS: os.DirFS(dir)} }

// Load reads directories into one catalog. In each, every *.yaml and *.yml file at any depth is of Muster's form, and
// *.json files in the folders providers, hardwaretypes, imagetypes, services, clustertemplates and partialtemplates (of which dir may
// also be one itself) are of Coopr's. Names that begin with a dot are passed over. An entry of a later directory
// replaces the one of the same kind and name of an earlier directory.
//
// The error is Problems, when at least one of them is an error; there is no catalog then.
func Load(o Options, dirs ...string) (*template.Catalog, error) {
	sources := make([]Source, len(dirs))
	for i, d := range dirs {
		sources[i] = dir(d)
	}
	return loadFS(o, sources...)
}

// loadFS is Load for any trees of files.
func loadFS(o Options, sources ...Source) (*template.Catalog, error) {
	c, _, err := load(o, sources)
	return c, err
}

func load(o Options, sources []Source) (*template.Catalog, map[form.Key]*form.Entry, error) {
	r, entries := lintEntries(o, sources)
	if r.Problems.Count(form.SeverityError) > 0 {
		return nil, nil, r.Problems
	}
	if o.Warn != nil {
		for _, p := range r.Problems {
			o.Warn(p)
		}
	}
	return r.Catalog, entries, nil
}

// Report is all that can be said of a catalog. Catalog holds the entries that could be read, even where others are
// wrong, so that tools can continue with the part that exists.
type Report struct {
	Catalog  *template.Catalog
	Problems form.Problems // errors and warnings, by file and line
	Counts   Counts        // entries that are named, after replacement, readable or not
	Scripts  []Script      // of entries that could be read, in their order

	entries map[form.Key]*form.Entry
}

// Of narrows a report to what is in some of its files.
func (r Report) Of(files ...string) Report {
	in := func(file string) bool { return slices.Contains(files, filepath.Clean(file)) }
	r.Problems = slices.DeleteFunc(slices.Clone(r.Problems), func(p form.Problem) bool { return !in(p.Origin.File) })
	r.Counts = countsOf(r.entries, in)
	return r
}

// Counts tells how many entries of each kind a catalog has.
type Counts struct {
	Providers int `json:"providers"`
	Hardware  int `json:"hardware"`
	Images    int `json:"images"`
	Services  int `json:"services"`
	Templates int `json:"templates"`
}

// OK reports whether Load would give the catalog.
func (r Report) OK() bool { return r.Problems.Count(form.SeverityError) == 0 }

// Add adds a problem that another tool has found.
func (r *Report) Add(p form.Problem) {
	out := &form.Reporter{List: slices.Clone(r.Problems)}
	if len(out.List) < form.MaxProblems {
		out.Add(p)
		r.Problems = out.Sorted()
	}
}

// Lint reads directories as Load does and reports everything that is wrong.
func Lint(o Options, dirs ...string) Report {
	sources := make([]Source, len(dirs))
	for i, d := range dirs {
		sources[i] = dir(d)
	}
	return LintFS(o, sources...)
}

// LintFS is Lint for any trees of files.
func LintFS(o Options, sources ...Source) Report {
	r, _ := lintEntries(o, sources)
	return r
}

// lintEntries also returns the entries.
func lintEntries(o Options, sources []Source) (Report, map[form.Key]*form.Entry) {
	out := &form.Reporter{}
	all := map[form.Key]*form.Entry{}
	unread := map[string]bool{}
	for _, s := range sources {
		r := &sourceReader{out: out, source: s, entries: map[form.Key]*form.Entry{}, unread: unread}
		r.read()
		for k, e := range r.entries {
			all[k] = e
		}
	}
	c := &checker{options: o, out: out, entries: all, unread: unread}
	c.check()
	return Report{Catalog: catalogOf(all), Problems: out.Sorted(), Counts: countsOf(all, func(string) bool { return true }),
		Scripts: scriptsOf(sortedEntries(all)), entries: all}, all
}

func catalogOf(entries map[form.Key]*form.Entry) *template.Catalog {
	c := template.NewCatalog()
	for _, e := range entries {
		enlist(c, e)
	}
	return c
}

// enlist adds an entry to a catalog, unless it is broken.
func enlist(c *template.Catalog, e *form.Entry) {
	if e.Broken {
		return
	}
	switch v := e.Value.(type) {
	case *template.ProviderSpec:
		c.Providers[e.Name] = v
	case *template.HardwareType:
		c.Hardware[e.Name] = v
	case *template.ImageType:
		c.Images[e.Name] = v
	case *template.Service:
		c.Services[e.Name] = v
	case *template.Template:
		c.Written[e.Name] = v
		if e.Whole != nil && !v.Partial {
			c.Templates[e.Name] = e.Whole
		}
	}
}

// countsOf counts the entries whose files are wanted.
func countsOf(entries map[form.Key]*form.Entry, wanted func(file string) bool) Counts {
	by := map[form.Kind]int{}
	for k, e := range entries {
		if wanted(e.File) {
			by[k.Kind]++
		}
	}
	return Counts{
		Providers: by[form.KindProvider], Hardware: by[form.KindHardware], Images: by[form.KindImage],
		Services: by[form.KindService], Templates: by[form.KindTemplate],
	}
}

// sourceReader reads one source.
type sourceReader struct {
	out     *form.Reporter
	source  Source
	entries map[form.Key]*form.Entry
	unread  map[string]bool
	files   int
	loose   []string // JSON files outside of Coopr's folders
}

var errEnough = errors.New("enough")

func (r *sourceReader) read() {
	self := filepath.Base(r.source.Name)
	err := fs.WalkDir(r.source.FS, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil && name == ".":
			return err
		case err != nil:
			r.problem(name, form.SeverityError, "can't be read: "+reason(err), "")
			return nil
		case name != "." && strings.HasPrefix(d.Name(), "."):
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case d.IsDir():
			return nil
		}
		return r.file(name, self)
	})
	switch {
	case errors.Is(err, errEnough):
		r.problem("", form.SeverityError, fmt.Sprintf("has more than %d catalog files", maxFiles), "is this the right directory?")
	case err != nil:
		r.problem("", form.SeverityError, "can't be read: "+reason(err), "")
	case len(r.entries) == 0 && r.out.Errors == 0:
		hint := ""
		if len(r.loose) > 0 {
			hint = "Coopr's JSON is read from the folders providers, hardwaretypes, imagetypes, services, clustertemplates and partialtemplates"
		}
		r.problem("", form.SeverityWarning, "contains no catalog entries", hint)
	}
}

// file reads one file if it is one of ours.
func (r *sourceReader) file(name string, self string) error {
	folder, base := path.Split(name)
	folder = strings.TrimSuffix(folder, "/")
	var parse func(data []byte) form.Parsed
	shown := r.shown(name)
	switch ext := strings.ToLower(path.Ext(base)); ext {
	case ".yaml", ".yml":
		parse = func(data []byte) form.Parsed { return form.ParseNative(r.out, shown, data) }
	case ".json":
		in := folder
		if folder == "" {
			in = self
		}
		k := form.CooprFolders[in]
		if k == "" {
			if folder == "" {
				r.loose = append(r.loose, name)
			}
			return nil
		}
		parse = func(data []byte) form.Parsed {
			p := form.ParseCoopr(r.out, shown, k, data)
			for _, e := range p.Entries {
				if t, ok := e.Value.(*template.Template); ok {
					t.Partial = in == form.PartialFolder
				}
			}
			return p
		}
	default:
		return nil
	}
	if r.files++; r.files > maxFiles {
		return errEnough
	}
	data, err := r.bytes(name)
	if err != nil {
		r.problem(name, form.SeverityError, "can't be read: "+reason(err), "")
		return nil
	}
	p := parse(data)
	for _, e := range p.Entries {
		r.keep(e)
	}
	for n := range p.Unread {
		r.unread[n] = true
	}
	return nil
}

// keep takes an entry, unless this source has one of the same name already.
func (r *sourceReader) keep(e *form.Entry) {
	if first := r.entries[e.Key]; first != nil {
		at := e.At("name")
		r.out.Add(form.Problem{
			Origin: template.Origin{File: e.File, Line: at.Line}, Column: at.Column, Severity: form.SeverityError,
			Message: fmt.Sprintf("%s is defined twice, first at %s", e.Key, template.Origin{File: first.File, Line: first.At("name").Line}),
		})
		return
	}
	r.entries[e.Key] = e
}

// bytes reads a regular file (also behind a symbolic link) up to the limit; a pipe would block forever.
func (r *sourceReader) bytes(name string) ([]byte, error) {
	info, err := fs.Stat(r.source.FS, name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("not a regular file")
	}
	f, err := r.source.FS.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFileSize+1))
	if err == nil && len(data) > maxFileSize {
		err = fmt.Errorf("larger than %s", humanize.Bytes(maxFileSize))
	}
	return data, err
}

// shown is a file's name as the person who runs Muster would write it.
func (r *sourceReader) shown(name string) string {
	if name == "" || name == "." {
		return r.source.Name
	}
	return filepath.Join(r.source.Name, filepath.FromSlash(name))
}

func (r *sourceReader) problem(name string, s form.Severity, message, hint string) {
	r.out.Add(form.Problem{Origin: template.Origin{File: r.shown(name)}, Severity: s, Message: message, Hint: hint})
}

// reason returns the bare cause, since the file is named already.
func reason(err error) string {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err.Error()
	}
	return err.Error()
}

// sortedEntries returns entries in the order of kinds, then names, so that the same catalog returns the same words.
func sortedEntries(entries map[form.Key]*form.Entry) []*form.Entry {
	list := make([]*form.Entry, 0, len(entries))
	for _, e := range entries {
		list = append(list, e)
	}
	slices.SortFunc(list, func(a, b *form.Entry) int {
		return strings.Compare(a.Key.String(), b.Key.String())
	})
	return list
}
