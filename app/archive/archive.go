package archive

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"muster/app"
	"muster/app/humanize"
	"muster/app/resource"
)

// Limits bound what an archive may become. The zero value means those of DefaultLimits.
type Limits struct {
	Entries int
	Bytes   int64 // of all files together, unpacked
	// Ratio is how many times larger than the archive its files may be together, beyond the first RatioFrom bytes.
	Ratio     int64
	RatioFrom int64
}

// DefaultLimits are those of resources.
var DefaultLimits = Limits{Entries: resource.MaxResourceFiles, Bytes: 64 << 30, Ratio: 200, RatioFrom: 64 << 20}

const (
	maxPath  = 1024 // bytes of a name
	maxDepth = 64
)

// Source is an archive that lies somewhere.
type Source struct {
	R    io.ReaderAt
	Size int64
	// Name of the resource: a single folder of that name at the top is taken off.
	Name   string
	Limits Limits
}

// entry is a directory, file or symbolic link of an archive. Path is relative and clean.
type entry struct {
	Path string
	Mode fs.FileMode // type and permission bits
	Size int64
	Link string
}

// List looks through the whole archive and returns its files and links in the order of their names, with hashes of their contents.
// Directories are not listed.
func List(ctx context.Context, s Source) ([]resource.File, error) {
	files := []resource.File{}
	err := walk(ctx, s, func(e entry, r io.Reader) error {
		switch {
		case e.Mode.IsDir():
		case e.Link != "":
			files = append(files, resource.File{Path: e.Path, Mode: int(e.Mode.Perm()), Link: e.Link})
		default:
			h := sha256.New()
			n, err := io.Copy(h, r)
			if err != nil {
				return err
			}
			files = append(files, resource.File{Path: e.Path, Size: n, Mode: int(e.Mode.Perm()), Hash: hex.EncodeToString(h.Sum(nil))})
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, invalid("The archive contains no files.", "")
	}
	slices.SortFunc(files, func(a, b resource.File) int { return strings.Compare(a.Path, b.Path) })
	return files, nil
}

// walk calls each for every entry, in the archive's own order. What each does not read of a file is passed over.
func walk(ctx context.Context, s Source, each func(e entry, r io.Reader) error) error {
	if s.Limits == (Limits{}) {
		s.Limits = DefaultLimits
	}
	top, err := s.top(ctx)
	if err != nil {
		return err
	}
	return s.walk(ctx, top, each)
}

// top returns the folder to take off.
func (s Source) top(ctx context.Context) (string, error) {
	if s.Name == "" {
		return "", nil
	}
	only := true
	err := s.walk(ctx, "", func(e entry, _ io.Reader) error {
		first, _, below := strings.Cut(e.Path, "/")
		if first != s.Name || !below && !e.Mode.IsDir() {
			only = false
			return errEnough
		}
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) || !only {
		if errors.Is(err, errEnough) {
			err = nil
		}
		return "", err
	}
	return s.Name, nil
}

var errEnough = errors.New("enough")

func invalid(message, hint string) error {
	return &app.Error{Code: app.EInvalid, Reason: "archive", Field: "content", Message: message, Hint: hint}
}

// walker checks entries as they come.
type walker struct {
	Source
	ctx   context.Context
	top   string
	each  func(entry, io.Reader) error
	n     int
	bytes int64
	files map[string]bool // what is there that is no directory
	dirs  map[string]bool
	links []entry
}

func (s Source) walk(ctx context.Context, top string, each func(entry, io.Reader) error) error {
	w := &walker{Source: s, ctx: ctx, top: top, each: each, files: map[string]bool{}, dirs: map[string]bool{}}
	var magic [512]byte
	n, err := s.R.ReadAt(magic[:], 0)
	if err != nil && err != io.EOF {
		return fmt.Errorf("archive: %w", err)
	}
	head := magic[:n]
	switch {
	case len(head) > 4 && head[0] == 'P' && head[1] == 'K' && (head[2] == 3 && head[3] == 4 || head[2] == 5 && head[3] == 6):
		return w.zip()
	case len(head) > 2 && head[0] == 0x1f && head[1] == 0x8b:
		z, err := gzip.NewReader(bufio.NewReaderSize(io.NewSectionReader(s.R, 0, s.Size), 64<<10))
		if err != nil {
			return notAnArchive(err)
		}
		return w.tar(z)
	case len(head) >= 262 && string(head[257:262]) == "ustar":
		return w.tar(io.NewSectionReader(s.R, 0, s.Size))
	}
	return notAnArchive(nil)
}

func notAnArchive(err error) error {
	e := app.AsError(invalid("The file isn't a readable archive.", "Use a tar, tar.gz or zip file."))
	e.Err = err
	return e
}

func (w *walker) tar(r io.Reader) error {
	// Headers count too: a tar of nothing but headers grows as well.
	t := tar.NewReader(&bounded{r: r, left: w.most() + int64(w.Limits.Entries)*4096})
	for {
		h, err := t.Next()
		if err == io.EOF {
			return w.end()
		}
		if err != nil {
			return w.broken(err)
		}
		e := entry{Path: h.Name, Mode: fs.FileMode(h.Mode & 0o777), Size: h.Size}
		switch h.Typeflag {
		case tar.TypeReg, '\x00':
		case tar.TypeDir:
			e.Mode |= fs.ModeDir
		case tar.TypeSymlink:
			e.Mode, e.Link = e.Mode|fs.ModeSymlink, h.Linkname
		case tar.TypeXGlobalHeader:
			continue
		default:
			return invalid(fmt.Sprintf("Archive entry %s isn't a file, directory or symbolic link.", shown(h.Name)), "Hard links, devices and sparse files aren't supported. GNU tar leaves out hard links with --hard-dereference.")
		}
		if err := w.entry(e, t); err != nil {
			return err
		}
	}
}

func (w *walker) zip() error {
	z, err := zip.NewReader(w.R, w.Size)
	if err != nil {
		return notAnArchive(err)
	}
	for _, f := range z.File {
		mode := f.Mode()
		e := entry{Path: strings.TrimSuffix(f.Name, "/"), Mode: mode.Perm(), Size: int64(min(f.UncompressedSize64, 1<<62))}
		if e.Mode == 0 { // made where there are none
			e.Mode = 0o644
		}
		switch {
		case strings.HasSuffix(f.Name, "/") || mode.IsDir():
			e.Mode |= fs.ModeDir
		case mode&fs.ModeSymlink != 0:
			e.Mode |= fs.ModeSymlink
		case !mode.IsRegular():
			return invalid(fmt.Sprintf("Archive entry %s isn't a file, directory or symbolic link.", shown(f.Name)), "")
		}
		if e.Mode.IsDir() {
			if err := w.entry(e, nil); err != nil {
				return err
			}
			continue
		}
		if err := w.zipped(f, e); err != nil {
			return err
		}
	}
	return w.end()
}

func (w *walker) zipped(f *zip.File, e entry) error {
	r, err := f.Open()
	if err != nil {
		return w.broken(err)
	}
	defer r.Close()
	if e.Mode&fs.ModeSymlink != 0 {
		link, err := io.ReadAll(io.LimitReader(r, maxPath+1))
		if err != nil {
			return w.broken(err)
		}
		e.Link, e.Size = string(link), 0
		return w.entry(e, nil)
	}
	return w.entry(e, r)
}

// most is how many bytes all files may have together.
func (w *walker) most() int64 {
	most := w.Limits.Bytes
	if w.Limits.Ratio > 0 {
		most = min(most, max(w.Limits.RatioFrom, w.Size*w.Limits.Ratio))
	}
	return most
}

func (w *walker) broken(err error) error {
	var e *app.Error
	if errors.As(err, &e) || w.ctx.Err() != nil {
		return errors.Join(w.ctx.Err(), err)
	}
	if errors.Is(err, errTooMuch) {
		return w.tooLarge()
	}
	bad := app.AsError(invalid("The archive is truncated or damaged.", "Create the archive again."))
	bad.Err = err
	return bad
}

func (w *walker) tooLarge() error {
	return &app.Error{Code: app.ETooLarge, Reason: "archive", Field: "content", Message: fmt.Sprintf("The archive would be larger than %s when unpacked.", humanize.Bytes(w.most())),
		Hint: fmt.Sprintf("An archive can unpack to at most %d times its size, up to %s.", w.Limits.Ratio, humanize.Bytes(w.Limits.Bytes))}
}

// entry checks one entry and passes it on.
func (w *walker) entry(e entry, r io.Reader) error {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	if w.n++; w.n > w.Limits.Entries {
		return &app.Error{Code: app.ETooLarge, Reason: "archive", Field: "content", Message: fmt.Sprintf("The archive has too many entries: at most %d are allowed.", w.Limits.Entries)}
	}
	clean, err := cleanPath(e.Path)
	if err != nil {
		return err
	}
	if clean == "." { // the top itself
		if !e.Mode.IsDir() {
			return invalid("The archive's root isn't a directory.", "")
		}
		return nil
	}
	if err := w.place(clean, e); err != nil {
		return err
	}
	if e.Path = clean; w.top != "" {
		if clean == w.top {
			return nil
		}
		e.Path = strings.TrimPrefix(clean, w.top+"/")
	}
	if e.Mode.IsDir() {
		return w.each(e, nil)
	}
	if e.Link != "" {
		return w.each(e, nil)
	}
	if r == nil {
		r = strings.NewReader("")
	}
	body := &bounded{r: r, left: w.most() - w.bytes}
	if err := w.each(e, body); err != nil {
		if body.err != nil {
			return w.broken(body.err)
		}
		return err // not the archive's fault
	}
	if _, err := io.Copy(io.Discard, body); err != nil {
		return w.broken(err)
	}
	w.bytes += body.n
	if body.n != e.Size {
		return invalid(fmt.Sprintf("Archive entry %s is shorter or longer than its header says.", shown(clean)), "Create the archive again.")
	}
	return nil
}

// place refuses an entry in whose place something else is, or that lies below something that is no directory: below a link, it would
// be written wherever that leads.
func (w *walker) place(clean string, e entry) error {
	for dir := path.Dir(clean); dir != "."; dir = path.Dir(dir) {
		if w.files[dir] {
			return invalid(fmt.Sprintf("Archive entry %s is inside %s, which isn't a directory.", shown(clean), shown(dir)), "")
		}
		w.dirs[dir] = true
	}
	if e.Mode.IsDir() {
		if w.files[clean] {
			return invalid(fmt.Sprintf("The archive has two entries with the path %s.", shown(clean)), "")
		}
		w.dirs[clean] = true
		return nil
	}
	if w.files[clean] || w.dirs[clean] {
		return invalid(fmt.Sprintf("The archive has two entries with the path %s.", shown(clean)), "")
	}
	w.files[clean] = true
	if e.Mode&fs.ModeSymlink == 0 {
		return nil
	}
	if e.Link == "" || len(e.Link) > maxPath || strings.ContainsAny(e.Link, "\x00\n\r") || !utf8.ValidString(e.Link) || path.IsAbs(e.Link) || strings.Contains(e.Link, `\`) {
		return invalid(fmt.Sprintf("Archive link %s doesn't point inside the archive.", shown(clean)), "Use relative links.")
	}
	w.links = append(w.links, entry{Path: clean, Link: e.Link})
	return nil
}

// end looks where links lead, now that all of them are known.
func (w *walker) end() error {
	links := map[string]string{}
	for _, l := range w.links {
		links[l.Path] = l.Link
	}
	for _, l := range w.links {
		if !staysInside(links, l.Path, w.top) {
			return invalid(fmt.Sprintf("Archive link %s points outside the archive.", shown(l.Path)), "Use links that stay inside the archive.")
		}
	}
	return nil
}

// staysInside follows a link as a system does, link by link and part by part, and reports whether it ever leaves the top.
func staysInside(links map[string]string, from, top string) bool {
	at := []string{}
	if dir := path.Dir(from); dir != "." {
		at = strings.Split(dir, "/")
	}
	rest := append([]string{}, strings.Split(links[from], "/")...)
	base := 0
	if top != "" {
		base = 1
	}
	for hops := 0; len(rest) > 0; {
		part := rest[0]
		rest = rest[1:]
		switch part {
		case "", ".":
			continue
		case "..":
			if len(at) <= base {
				return false
			}
			at = at[:len(at)-1]
			continue
		}
		at = append(at, part)
		next, isLink := links[strings.Join(at, "/")]
		if !isLink {
			continue
		}
		if hops++; hops > 40 { // which a system refuses to follow
			return false
		}
		at = at[:len(at)-1]
		rest = append(strings.Split(next, "/"), rest...)
	}
	return len(at) >= base
}

// cleanPath checks a name.
func cleanPath(name string) (string, error) {
	wrong := func(why string) (string, error) {
		return "", invalid(fmt.Sprintf("Archive entry %s %s.", shown(name), why), "Create the archive from inside the folder: tar -C FOLDER -czf site.tar.gz .")
	}
	switch {
	case name == "" || len(name) > maxPath:
		return wrong(fmt.Sprintf("has an empty path, or one longer than %d bytes", maxPath))
	case !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return wrong("has a path that isn't valid text")
	case strings.HasPrefix(name, "/"):
		return wrong("has an absolute path")
	case strings.Contains(name, `\`):
		return wrong(`has a \ in its path`)
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == ".." {
			return wrong("points outside the archive")
		}
		if len(part) > 255 {
			return wrong("has a path element longer than 255 bytes")
		}
	}
	clean := path.Clean(name)
	if strings.Count(clean, "/") >= maxDepth {
		return wrong(fmt.Sprintf("is nested more than %d directories deep", maxDepth))
	}
	return clean, nil
}

func shown(name string) string {
	if len(name) > 120 {
		name = strings.ToValidUTF8(name[:120], "") + "…"
	}
	return fmt.Sprintf("%q", name)
}

var errTooMuch = errors.New("too much")

// bounded counts, and fails beyond a number of bytes.
type bounded struct {
	r       io.Reader
	left, n int64
	err     error // that is not the end
}

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	b.n += int64(n)
	if b.left -= int64(n); b.left < 0 {
		n, err = 0, errTooMuch
	}
	if err != nil && err != io.EOF {
		b.err = err
	}
	return n, err
}
