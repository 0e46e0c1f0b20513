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
)

// Limits on what is imported at once.
const (
	maxImportFiles = 2000
	MaxImportFile  = 1 << 20                  // bytes of one file
	MaxImport      = catalog.MaxCatalogChange // bytes of all files, unpacked
)

// unpacked are the files of an import.
type unpacked struct {
	files  []catalog.CatalogFile
	passed int // files that are no catalog's
	size   int
}

func tooMuch(format string, args ...any) error {
	return &app.Error{Code: app.ETooLarge, Message: fmt.Sprintf(format, args...), Hint: "Import it in parts."}
}

// add takes a file, or all files of an archive.
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
	return &app.Error{Code: app.EInvalid, Message: name + " is no file of a catalog.", Hint: "There are .yaml, .yml and .json files, and archives of them: .zip and .tar.gz."}
}

// file takes one file, under a name that leads nowhere else.
func (u *unpacked) file(name string, r io.Reader) error {
	name = strings.TrimPrefix(path.Clean("/"+strings.ReplaceAll(name, "\\", "/")), "/")
	if len(u.files) == maxImportFiles {
		return tooMuch("There are more than %d files.", maxImportFiles)
	}
	b, err := io.ReadAll(io.LimitReader(r, MaxImportFile+1))
	if err != nil {
		return damaged(name, err)
	}
	if u.size += len(b); len(b) > MaxImportFile || u.size > MaxImport {
		return tooMuch("%s: a file may have %d KiB, and all together %d MiB.", name, MaxImportFile>>10, MaxImport>>20)
	}
	text := strings.ReplaceAll(string(b), "\r\n", "\n")
	for i := range u.files {
		if u.files[i].Name == name {
			u.files[i].Text = text
			return nil
		}
	}
	u.files = append(u.files, catalog.CatalogFile{Name: name, Text: text})
	return nil
}

// wanted tells whether a file of an archive is part of a catalog.
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
		return tooMuch("%s holds more than %d files.", name, 10*maxImportFiles)
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

// tar reads no more than what all files may have, and the same again for what is passed over.
func (u *unpacked) tar(name string, r io.Reader) error {
	all := &io.LimitedReader{R: r, N: 4 * MaxImport}
	t := tar.NewReader(all)
	for {
		h, err := t.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case all.N <= 0:
			return tooMuch("%s has more than %d MiB.", name, 4*MaxImport>>20)
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
	return app.Errorf(app.EInvalid, "%s cannot be read: %w", name, err)
}

// pack and unpack carry files from one step of an import to the next, in the page itself, so that any server can go on.
func pack(files []catalog.CatalogFile) string {
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
	lost := &app.Error{Code: app.EInvalid, Message: "What was uploaded is not readable any more.", Hint: "Upload it again."}
	b, err := base64.StdEncoding.DecodeString(packed)
	if err != nil {
		return u, lost
	}
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return u, lost
	}
	var files []catalog.CatalogFile
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
