package backup

import (
	"archive/tar"
	"bufio"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"muster/app"
	"muster/app/store/db"
)

// What is held in memory of one file of an archive is bounded.
const (
	maxHead     = 4 << 20
	maxManifest = 512 << 20
	maxFiles    = 1 << 20
	maxName     = 200 // bytes
)

func bad(format string, args ...any) error {
	return &app.Error{Code: app.EInvalid, Reason: "bad_backup", Message: "This isn't a complete backup of Muster: " + fmt.Sprintf(format, args...) + ".",
		Hint: "Nothing was changed. The file may have been truncated in transit; use another copy."}
}

// Check reads a whole backup, compares every byte with its manifest, and checks the manifest's proof. With unprovenToo it also accepts a backup of
// form 1, which has no
// proof, and with a nil keeper it skips the proof; Manifest.Proven reports whether one was checked.
func Check(ctx context.Context, r io.Reader, keeper db.KeyKeeper, unprovenToo bool) (Head, Manifest, error) {
	var head Head
	var m Manifest
	var proof *Proof
	var seen []Entry
	var manifest []byte // its SHA-256
	err := walk(r, func(h *tar.Header, from io.Reader) error {
		if proof != nil || manifest != nil && (h.Name != proofName || head.Form < 2) {
			return bad("there is data after its end")
		}
		if len(seen) == maxFiles || len(h.Name) > maxName {
			return bad("too many files, or a file name too long")
		}
		sum := sha256.New()
		from = io.TeeReader(from, sum)
		switch {
		case len(seen) == 0 && h.Name != headName:
			return bad("unexpected first file %.60q", h.Name)
		case len(seen) == 0:
			if err := document(from, maxHead, &head); err != nil {
				return err
			}
			if head.Form > newest || head.Form < 1 {
				return &app.Error{Code: app.EConflict, Reason: "too_new", Message: fmt.Sprintf("The backup has format %d; this program reads formats up to %d.", head.Form, newest),
					Hint: "Restore the backup with a newer version."}
			}
		case h.Name == manifestName:
			if err := document(from, maxManifest, &m); err != nil {
				return err
			}
			manifest = sum.Sum(nil)
			return nil
		case manifest != nil:
			proof = &Proof{}
			return document(from, maxHead, proof)
		default:
			if _, err := io.Copy(io.Discard, from); err != nil {
				return bad("%v", err)
			}
		}
		seen = append(seen, Entry{Path: h.Name, Size: h.Size, SHA256: hex.EncodeToString(sum.Sum(nil))})
		return nil
	})
	if err != nil {
		return head, m, err
	}
	if manifest == nil || proof == nil && head.Form > 1 {
		return head, m, bad("the end is missing")
	}
	if err := compare(seen, m); err != nil {
		return head, m, err
	}
	switch {
	case proof != nil && keeper != nil:
		err = proof.check(ctx, keeper, manifest)
		m.Proven = err == nil
	case !unprovenToo:
		err = unproven()
	}
	return head, m, err
}

func compare(seen []Entry, m Manifest) error {
	if len(seen) != len(m.Entries) {
		return bad("%d files instead of %d", len(seen), len(m.Entries))
	}
	rows := map[string]int{}
	for i, e := range m.Entries {
		if e.Path != seen[i].Path || e.Size != seen[i].Size || e.SHA256 != seen[i].SHA256 {
			return bad("%s was changed", e.Path)
		}
		if table, is := tableOf(e.Path); is {
			rows[table] += e.Rows
		}
	}
	for table, n := range m.Rows {
		if rows[table] != n {
			return bad("table %s has %d rows instead of %d", table, rows[table], n)
		}
	}
	return nil
}

func tableOf(path string) (string, bool) {
	rest, is := strings.CutPrefix(path, "rows/")
	table, _, _ := strings.Cut(rest, "/")
	return table, is
}

// Rows calls put for every row of a backup that was checked. It fails where the file is not the same any more.
func Rows(r io.Reader, head Head, m Manifest, put func(table string, row []any) error) error {
	columns := map[string][]db.Column{}
	for _, t := range head.Tables {
		columns[t.Name] = t.Columns
	}
	return again(r, m, func(e Entry, from io.Reader) error {
		table, is := tableOf(e.Path)
		if !is {
			_, err := io.Copy(io.Discard, from)
			return err
		}
		n := 0
		lines := bufio.NewReaderSize(from, 1<<20)
		for {
			line, err := lines.ReadBytes('\n')
			if len(line) == 0 && errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return bad("%s: %v", e.Path, err)
			}
			row, err := readRow(line, columns[table])
			if err != nil {
				return bad("%s: line %d: %v", e.Path, n+1, err)
			}
			if err := put(table, row); err != nil {
				return err
			}
			n++
		}
		if n != e.Rows {
			return bad("%s has %d rows instead of %d", e.Path, n, e.Rows)
		}
		return nil
	})
}

// blobs calls put for every content of a backup that was checked.
func blobs(r io.Reader, m Manifest, put func(name string, size int64, from io.Reader) error) error {
	return again(r, m, func(e Entry, from io.Reader) error {
		if e.Blob == "" {
			_, err := io.Copy(io.Discard, from)
			return err
		}
		return put(e.Blob, e.Size, from)
	})
}

// again reads a file once more, and sees to it that it is the one that was checked.
func again(r io.Reader, m Manifest, f func(Entry, io.Reader) error) error {
	i := 0
	return walk(r, func(h *tar.Header, from io.Reader) error {
		if h.Name == manifestName || h.Name == proofName {
			return nil
		}
		if i >= len(m.Entries) || m.Entries[i].Path != h.Name || m.Entries[i].Size != h.Size {
			return bad("the file changed while it was being read")
		}
		e := m.Entries[i]
		i++
		sum := sha256.New()
		from = io.TeeReader(from, sum)
		if err := f(e, from); err != nil {
			return err
		}
		if _, err := io.Copy(io.Discard, from); err != nil { // who has it already did not read it
			return bad("%v", err)
		}
		if hex.EncodeToString(sum.Sum(nil)) != e.SHA256 {
			return bad("%s changed while it was being read", e.Path)
		}
		return nil
	})
}

func walk(r io.Reader, f func(*tar.Header, io.Reader) error) error {
	gz, err := gzip.NewReader(r)
	if err != nil {
		return bad("%v", err)
	}
	t := tar.NewReader(gz)
	for {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			if _, err := io.Copy(io.Discard, gz); err != nil { // the checksum of the packing is at the end
				return bad("%v", err)
			}
			return nil
		}
		if err != nil {
			return bad("%v", err)
		}
		if h.Typeflag != tar.TypeReg {
			return bad("%.60q isn't a regular file", h.Name)
		}
		if err := f(h, t); err != nil {
			return err
		}
	}
}

func document(r io.Reader, most int64, into any) error {
	b, err := io.ReadAll(io.LimitReader(r, most+1))
	if err != nil {
		return bad("%v", err)
	}
	if int64(len(b)) > most {
		return bad("the description is too long")
	}
	if err := json.Unmarshal(b, into); err != nil {
		return bad("%v", err)
	}
	return nil
}
