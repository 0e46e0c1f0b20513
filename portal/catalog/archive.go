package catalog

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"muster/app"
	"muster/app/catalog"
	"muster/app/humanize"
)

// Limits of an import.
const (
	maxImportFiles = 2000
	MaxImportFile  = 1 << 20                  // bytes of one file
	MaxImport      = catalog.MaxCatalogChange // bytes of all files, unpacked
)

// unpacked are the files of an import.
type unpacked struct {
	files  []catalog.File
	passed int // files that aren't part of a catalog
	size   int
}

func tooMuch(format string, args ...any) error {
	return &app.Error{Code: app.ETooLarge, Message: fmt.Sprintf(format, args...), Hint: "Split the import into parts."}
}

// add adds a file, or all files of an archive.
func (u *unpacked) add(name string, content []byte) error {
	switch low := strings.ToLower(name); {
	case strings.HasSuffix(low, ".zip"):
		return u.zip(name, content)
	case strings.HasSuffix(low, ".tar.gz"), strings.HasSuffix(low, ".tgz"):
		z, err := gzip.NewReader(bytes.NewReader(content))
		if err != nil {
			return damaged(name, err)
		}
		return u.tar(name, z)
	case strings.HasSuffix(low, ".tar"):
		return u.tar(name, bytes.NewReader(content))
	case strings.HasSuffix(low, ".yaml"), strings.HasSuffix(low, ".yml"), strings.HasSuffix(low, ".json"):
		return u.file(name, bytes.NewReader(content))
	}
	return &app.Error{Code: app.EInvalid, Message: name + " isn't a catalog file.", Hint: "Upload .yaml, .yml or .json files, or a .zip or .tar.gz archive of them."}
}

// file adds one file, with a cleaned name.
func (u *unpacked) file(name string, r io.Reader) error {
	name = strings.TrimPrefix(path.Clean("/"+strings.ReplaceAll(name, "\\", "/")), "/")
	if len(u.files) == maxImportFiles {
		return tooMuch("The import has more than %d files.", maxImportFiles)
	}
	b, err := io.ReadAll(io.LimitReader(r, MaxImportFile+1))
	if err != nil {
		return damaged(name, err)
	}
	if u.size += len(b); len(b) > MaxImportFile || u.size > MaxImport {
		return tooMuch("%s is too large: the limit is %s per file and %s in total.", name, humanize.Bytes(MaxImportFile), humanize.Bytes(MaxImport))
	}
	text := strings.ReplaceAll(string(b), "\r\n", "\n")
	for i := range u.files {
		if u.files[i].Name == name {
			u.files[i].Text = text
			return nil
		}
	}
	u.files = append(u.files, catalog.File{Name: name, Text: text})
	return nil
}

// wanted reports whether an archive's file belongs to a catalog.
func wanted(name string) bool {
	base := path.Base(name)
	ext := strings.ToLower(path.Ext(base))
	return !strings.HasPrefix(base, ".") && !strings.Contains(name, "__MACOSX/") && (ext == ".yaml" || ext == ".yml" || ext == ".json")
}

func (u *unpacked) zip(name string, content []byte) error {
	z, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		return damaged(name, err)
	}
	if len(z.File) > 10*maxImportFiles {
		return tooMuch("%s contains more than %d files.", name, 10*maxImportFiles)
	}
	for _, f := range z.File {
		if f.FileInfo().IsDir() {
			continue
		}
		if !f.Mode().IsRegular() || !wanted(f.Name) {
			u.passed++
			continue
		}
		r, err := f.Open()
		if err != nil {
			return damaged(name, err)
		}
		err = u.file(f.Name, r)
		_ = r.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

// tar limits how much it reads, skipped files included.
func (u *unpacked) tar(name string, r io.Reader) error {
	all := &io.LimitedReader{R: r, N: 4 * MaxImport}
	t := tar.NewReader(all)
	for {
		h, err := t.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case all.N <= 0:
			return tooMuch("%s is larger than %s.", name, humanize.Bytes(4*MaxImport))
		case err != nil:
			return damaged(name, err)
		case h.Typeflag == tar.TypeDir:
		case h.Typeflag != tar.TypeReg || !wanted(h.Name):
			u.passed++
		default:
			if err := u.file(h.Name, t); err != nil {
				return err
			}
		}
	}
}

func damaged(name string, err error) error {
	return app.Errorf(app.EInvalid, "%s can't be read: %w", name, err)
}

// pack and unpack carry files between the steps of an import in the page itself, so that any server can continue.
func pack(files []catalog.File) string {
	var buf bytes.Buffer
	z := gzip.NewWriter(&buf)
	_ = json.NewEncoder(z).Encode(files) // into memory it does not fail
	_ = z.Close()
	return base64.StdEncoding.EncodeToString(buf.Bytes())
}

func unpack(packed string) (u unpacked, err error) {
	if packed == "" {
		return u, nil
	}
	lost := &app.Error{Code: app.EInvalid, Message: "The uploaded files are no longer available.", Hint: "Upload them again."}
	b, err := base64.StdEncoding.DecodeString(packed)
	if err != nil {
		return u, lost
	}
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return u, lost
	}
	var files []catalog.File
	if err := json.NewDecoder(io.LimitReader(z, 3*MaxImport)).Decode(&files); err != nil {
		return u, lost
	}
	for _, f := range files {
		if err := u.file(f.Name, strings.NewReader(f.Text)); err != nil {
			return u, err
		}
	}
	return u, nil
}
