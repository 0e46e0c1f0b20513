package archive

import (
	"archive/tar"
	"context"
	"fmt"
	"io"
	"io/fs"
	"path"
	"time"
)

// epoch is when everything was made that is written again: the same archive returns the same bytes.
var epoch = time.Unix(1, 0).UTC()

// Rewrite writes an archive again as a plain tar: directories, files and links only, by root, below the folder. Files keep the
// execute bits that they have; anyone who may not read is given the right to, since who runs a service is not known.
func Rewrite(ctx context.Context, s Source, folder string, to *tar.Writer) error {
	return walk(ctx, s, func(e entry, r io.Reader) error {
		h := &tar.Header{Name: path.Join(folder, e.Path), ModTime: epoch, Format: tar.FormatPAX, Mode: int64(e.Mode.Perm()&0o755 | 0o444)}
		switch {
		case e.Mode.IsDir():
			h.Typeflag, h.Mode, h.Name = tar.TypeDir, 0o755, h.Name+"/"
		case e.Mode&fs.ModeSymlink != 0:
			h.Typeflag, h.Linkname, h.Mode = tar.TypeSymlink, e.Link, 0o777
		default:
			h.Typeflag, h.Size = tar.TypeReg, e.Size
		}
		if err := to.WriteHeader(h); err != nil {
			return fmt.Errorf("archive: %w", err)
		}
		if r != nil && h.Typeflag == tar.TypeReg {
			if _, err := io.Copy(to, r); err != nil {
				return err
			}
		}
		return nil
	})
}

// File writes one file below the folder.
func File(s Source, folder, name string, mode fs.FileMode, to *tar.Writer) error {
	err := to.WriteHeader(&tar.Header{Name: path.Join(folder, name), Typeflag: tar.TypeReg, Size: s.Size, Mode: int64(mode.Perm()), ModTime: epoch, Format: tar.FormatPAX})
	if err == nil {
		_, err = io.Copy(to, io.NewSectionReader(s.R, 0, s.Size))
	}
	if err != nil {
		return fmt.Errorf("archive: %w", err)
	}
	return nil
}

// Folder writes a directory.
func Folder(name string, to *tar.Writer) error {
	if err := to.WriteHeader(&tar.Header{Name: name + "/", Typeflag: tar.TypeDir, Mode: 0o755, ModTime: epoch, Format: tar.FormatPAX}); err != nil {
		return fmt.Errorf("archive: %w", err)
	}
	return nil
}
