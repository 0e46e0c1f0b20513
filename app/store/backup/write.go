package backup

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"muster/app/store/db"
)

// newest is the form that is written. Older ones are read as long as they are known; newer ones are refused.
const newest = 2

// Names in the archive.
const (
	headName     = "muster-backup.json"
	manifestName = "manifest.json"
	proofName    = "proof.json"
)

// pieceSize is about how many bytes of rows stand in one file of the archive: all of it is held in memory.
const pieceSize = 4 << 20

// Head says what a backup is.
type Head struct {
	Form         int        `json:"form"`
	Version      string     `json:"version"` // of the program that made it
	CreatedAt    time.Time  `json:"made_at"`
	Database     string     `json:"database"` // kind and version
	Installation string     `json:"installation"`
	Migration    int64      `json:"migration"`
	Resources    bool       `json:"resources"` // contents of resources are in it
	Tables       []db.Table `json:"tables"`
}

// Entry is a file of the archive.
type Entry struct {
	Path   string `json:"path"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
	Rows   int    `json:"rows,omitempty"`
	Blob   string `json:"blob,omitempty"` // name of the content
}

// Manifest lists all files before it.
type Manifest struct {
	Entries []Entry        `json:"entries"`
	Rows    map[string]int `json:"rows"` // by table
	Proven  bool           `json:"-"`    // Check verified its proof
}

// writer writes a backup: rows table by table, then contents, then Close.
type writer struct {
	gz       *gzip.Writer
	tar      *tar.Writer
	at       time.Time
	manifest Manifest
	prover   *prover

	table string
	piece []byte
	rows  int
	count int // pieces of the table
}

// newWriter begins a backup that is authenticated with a key-encryption key.
func newWriter(ctx context.Context, to io.Writer, h Head, keeper db.KeyKeeper) (*writer, error) {
	prover, err := newProver(ctx, keeper)
	if err != nil {
		return nil, err
	}
	gz, err := gzip.NewWriterLevel(to, gzip.BestSpeed)
	if err != nil {
		return nil, fmt.Errorf("backup: %w", err)
	}
	w := &writer{gz: gz, tar: tar.NewWriter(gz), at: h.CreatedAt.Truncate(time.Second), manifest: Manifest{Rows: map[string]int{}}, prover: prover}
	for _, t := range h.Tables {
		w.manifest.Rows[t.Name] = 0
	}
	h.Form = newest
	b, err := json.MarshalIndent(h, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("backup: %w", err)
	}
	return w, w.file(Entry{Path: headName}, append(b, '\n'))
}

// Row adds a row of a table. Rows of one table come one after the other.
func (w *writer) Row(table string, row []any) (err error) {
	if table != w.table {
		if err := w.flush(); err != nil {
			return err
		}
		w.table, w.count = table, 0
	}
	if w.piece, err = appendRow(w.piece, row); err != nil {
		return err
	}
	w.rows++
	w.manifest.Rows[table]++
	if len(w.piece) >= pieceSize {
		return w.flush()
	}
	return nil
}

func (w *writer) flush() error {
	if w.rows == 0 {
		return nil
	}
	w.count++
	err := w.file(Entry{Path: fmt.Sprintf("rows/%s/%06d.jsonl", w.table, w.count), Rows: w.rows}, w.piece)
	w.piece, w.rows = w.piece[:0], 0
	return err
}

func (w *writer) header(path string, size int64) error {
	if len(w.manifest.Entries) == maxFiles && path != manifestName && path != proofName {
		return fmt.Errorf("backup: more than %d files", maxFiles)
	}
	if err := w.tar.WriteHeader(&tar.Header{Name: path, Mode: 0o600, Size: size, ModTime: w.at, Format: tar.FormatPAX}); err != nil {
		return fmt.Errorf("backup: %w", err)
	}
	return nil
}

func (w *writer) file(e Entry, b []byte) error {
	if err := w.header(e.Path, int64(len(b))); err != nil {
		return err
	}
	if _, err := w.tar.Write(b); err != nil {
		return fmt.Errorf("backup: %w", err)
	}
	sum := sha256.Sum256(b)
	e.Size, e.SHA256 = int64(len(b)), hex.EncodeToString(sum[:])
	w.manifest.Entries = append(w.manifest.Entries, e)
	return nil
}

// Blob adds a content of a resource, which must have the size that is said.
func (w *writer) Blob(name string, size int64, r io.Reader) error {
	if err := w.flush(); err != nil {
		return err
	}
	e := Entry{Path: fmt.Sprintf("resources/%06d", len(w.manifest.Entries)), Size: size, Blob: name}
	if err := w.header(e.Path, size); err != nil {
		return err
	}
	h := sha256.New()
	n, err := io.Copy(io.MultiWriter(w.tar, h), r)
	if err == nil && n != size {
		err = fmt.Errorf("%d bytes of %d", n, size)
	}
	if err != nil {
		return fmt.Errorf("backup: content %s: %w", name, err)
	}
	e.SHA256 = hex.EncodeToString(h.Sum(nil))
	w.manifest.Entries = append(w.manifest.Entries, e)
	return nil
}

// Close writes the manifest and its proof. Without them the backup is refused.
func (w *writer) Close() (Manifest, error) {
	if err := w.flush(); err != nil {
		return Manifest{}, err
	}
	m := w.manifest
	b, err := json.Marshal(m)
	if err != nil {
		return Manifest{}, fmt.Errorf("backup: %w", err)
	}
	if err := w.file(Entry{Path: manifestName}, b); err != nil {
		return Manifest{}, err
	}
	sum := sha256.Sum256(b)
	if b, err = json.Marshal(w.prover.of(sum[:])); err != nil {
		return Manifest{}, fmt.Errorf("backup: %w", err)
	}
	if err := w.file(Entry{Path: proofName}, b); err != nil {
		return Manifest{}, err
	}
	if err := w.tar.Close(); err != nil {
		return Manifest{}, fmt.Errorf("backup: %w", err)
	}
	if err := w.gz.Close(); err != nil {
		return Manifest{}, fmt.Errorf("backup: %w", err)
	}
	return m, nil
}
