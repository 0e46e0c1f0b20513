package resource

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"muster/app"
	"muster/app/resource"
	"muster/app/store/db"
	"muster/app/store/identity"
	"muster/app/template"
)

// blobName makes a name for a content that no other has had: what removes an old one can never take a new one away. Tenants are in it as a
// hash, since names of tenants may differ in nothing but case.
func (s *Store) blobName(tenant, hash string) string {
	sum := sha256.Sum256([]byte(tenant))
	return resource.BlobPrefix(s.InstallationID) + hex.EncodeToString(sum[:10]) + "/" + hash + "." + strings.ToLower(rand.Text()[:8])
}

func (s *Store) AnnounceBlob(ctx context.Context, tenant string, b resource.Blob, most int64, at time.Time) (name string, err error) {
	files, err := packFiles(b.Files)
	if err != nil {
		return "", err
	}
	fresh := s.blobName(tenant, b.Hash)
	err = s.Write(ctx, func(t *db.Tx) error {
		if err := identity.TenantOpen(t, tenant); err != nil {
			return err
		}
		var state string
		err := t.Row(`SELECT name, state FROM resource_blobs WHERE tenant = ? AND hash = ?`, tenant, b.Hash).Scan(&name, &state)
		if err != nil && !db.IsNoRows(err) {
			return err
		}
		if state == "here" || state == "coming" {
			return t.Exec(`UPDATE resource_blobs SET at = ?, idle_at = 0, files = ? WHERE tenant = ? AND hash = ?`, db.Micros(at), files, tenant, b.Hash)
		}
		if most > 0 {
			// What is on its way counts too, what never arrived does not for long.
			var others int64
			if err := t.Row(`SELECT CAST(coalesce(sum(size), 0) AS BIGINT) FROM resource_blobs WHERE tenant = ? AND hash <> ? AND (state = 'here' OR state = 'coming' AND at > ?)`,
				tenant, b.Hash, db.Micros(at.Add(-time.Hour))).Scan(&others); err != nil {
				return err
			}
			if others+b.Size > most {
				return resource.OverStoreLimit(others+b.Size, most)
			}
		}
		name = fresh
		return t.Exec(`INSERT INTO resource_blobs (tenant, hash, name, size, state, at, idle_at, files) VALUES (?, ?, ?, ?, 'coming', ?, 0, ?)
			ON CONFLICT (tenant, hash) DO UPDATE SET name = excluded.name, size = excluded.size, state = excluded.state, at = excluded.at, idle_at = 0, files = excluded.files`,
			tenant, b.Hash, name, b.Size, db.Micros(at), files)
	})
	return name, err
}

func packFiles(files []resource.File) ([]byte, error) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if err := json.NewEncoder(z).Encode(files); err != nil {
		return nil, fmt.Errorf("store: files of a resource: %w", err)
	}
	if err := z.Close(); err != nil {
		return nil, fmt.Errorf("store: files of a resource: %w", err)
	}
	return b.Bytes(), nil
}

func (s *Store) BlobFiles(ctx context.Context, tenant, hash string) (files []resource.File, err error) {
	var packed []byte
	err = s.Row(ctx, `SELECT files FROM resource_blobs WHERE tenant = ? AND hash = ? AND state = 'here'`, tenant, hash).Scan(&packed)
	if db.IsNoRows(err) {
		return nil, errNoBlob(hash)
	}
	if err != nil {
		return nil, fmt.Errorf("store: files of a resource: %w", err)
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, fmt.Errorf("store: files of %s: %w", hash, err)
	}
	files = []resource.File{}
	if err := json.NewDecoder(io.LimitReader(z, 256<<20)).Decode(&files); err != nil {
		return nil, fmt.Errorf("store: files of %s: %w", hash, err)
	}
	return files, nil
}

func errNoBlob(hash string) error {
	return app.Errorf(app.ENotFound, "Content %.64s doesn't exist.", hash)
}

func (s *Store) BlobName(ctx context.Context, tenant, hash string) (name string, size int64, err error) {
	err = s.Row(ctx, `SELECT name, size FROM resource_blobs WHERE tenant = ? AND hash = ? AND state = 'here'`, tenant, hash).Scan(&name, &size)
	if db.IsNoRows(err) {
		return "", 0, errNoBlob(hash)
	}
	if err != nil {
		return "", 0, fmt.Errorf("store: content: %w", err)
	}
	return name, size, nil
}

func (s *Store) BlobsOf(ctx context.Context, tenant string) (n int, size int64, err error) {
	err = s.Row(ctx, `SELECT count(*), CAST(coalesce(sum(size), 0) AS BIGINT) FROM resource_blobs WHERE tenant = ? AND state = 'here'`, tenant).Scan(&n, &size)
	if err != nil {
		return 0, 0, fmt.Errorf("store: contents: %w", err)
	}
	return n, size, nil
}

// HoldBlobs says which contents a provisioner has of a tenant.
func (s *Store) HoldBlobs(ctx context.Context, tenant, provisioner string, hashes []string, at time.Time) error {
	hashes = slices.Compact(slices.Sorted(slices.Values(hashes)))
	return s.Write(ctx, func(t *db.Tx) error {
		var had []string
		if err := t.Each(db.Texts(&had), `SELECT hash FROM resource_caches WHERE tenant = ? AND provisioner = ?`, tenant, provisioner); err != nil {
			return err
		}
		for _, h := range had {
			if _, holds := slices.BinarySearch(hashes, h); !holds {
				if err := t.Exec(`DELETE FROM resource_caches WHERE tenant = ? AND provisioner = ? AND hash = ?`, tenant, provisioner, h); err != nil {
					return err
				}
			}
		}
		return t.ExecChunks(len(hashes), `INSERT INTO resource_caches (tenant, provisioner, hash, at) VALUES `, `(?, ?, ?, ?)`, ` ON CONFLICT DO NOTHING`,
			func(args []any, i int) []any { return append(args, tenant, provisioner, hashes[i], db.Micros(at)) })
	})
}

// Use notes what a cluster's new definition needs, and refuses what is not there any more.
func Use(t *db.Tx, tenant, cluster string, services map[string]*template.Service, fresh bool) error {
	if !fresh {
		if err := t.Exec(`UPDATE resource_uses SET standing = 0 WHERE cluster = ? AND standing = 1`, cluster); err != nil {
			return err
		}
	}
	for hash, r := range resource.PinnedIn(services) {
		var here bool
		if err := t.Row(`SELECT EXISTS (SELECT 1 FROM resource_blobs WHERE tenant = ? AND hash = ? AND state = 'here')`, tenant, hash).Scan(&here); err != nil {
			return err
		}
		if !here {
			return &app.Error{Code: app.EConflict, Reason: "resource_gone", Message: fmt.Sprintf("The content of resource %s was deleted after the plan was made.", r),
				Hint: "Preview again: the new plan uses the active version."}
		}
		if err := t.Exec(`INSERT INTO resource_uses (cluster, hash, tenant, standing) VALUES (?, ?, ?, 1) ON CONFLICT (cluster, hash) DO UPDATE SET standing = 1`,
			cluster, hash, tenant); err != nil {
			return err
		}
	}
	return nil
}
