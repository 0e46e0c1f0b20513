package catalog

import (
	"context"

	"muster/app/store/db"
	"muster/app/template"
)

func (s *Store) RecordCatalog(ctx context.Context, versions []template.CatalogVersion) (written int, err error) {
	type entry struct{ kind, name string }
	type last struct {
		number int
		hash   string
	}
	// Mostly nothing has changed, which takes no writing.
	read := func(each func(f func(db.Scanner) error, query string, args ...any) error) (map[entry]last, error) {
		had := map[entry]last{}
		err := each(func(row db.Scanner) error {
			var e entry
			var l last
			err := row.Scan(&e.kind, &e.name, &l.number, &l.hash)
			had[e] = l
			return err
		}, `SELECT v.kind, v.name, v.number, v.hash FROM catalog_versions v
			WHERE v.number = (SELECT max(w.number) FROM catalog_versions w WHERE w.kind = v.kind AND w.name = v.name)`)
		return had, err
	}
	fresh := func(had map[entry]last) (out []template.CatalogVersion) {
		for _, v := range versions {
			if l := had[entry{v.Kind, v.Name}]; l.hash != v.Hash {
				v.Number = l.number + 1
				out = append(out, v)
			}
		}
		return out
	}
	had, err := read(func(f func(db.Scanner) error, query string, args ...any) error { return s.Each(ctx, f, query, args...) })
	if err != nil || len(fresh(had)) == 0 {
		return 0, err
	}
	err = s.Write(ctx, func(t *db.Tx) error {
		had, err := read(t.Each)
		if err != nil {
			return err
		}
		list := fresh(had)
		for _, v := range list {
			if err := t.Exec(`INSERT INTO catalog_versions (kind, name, number, hash, text, published_at, published_by) VALUES (?, ?, ?, ?, ?, ?, ?)`,
				v.Kind, v.Name, v.Number, v.Hash, v.Text, db.Micros(v.At), v.By); err != nil {
				return err
			}
		}
		written = len(list)
		return nil
	})
	return written, err
}

// CatalogVersions returns those of an entry, newest first, with text; none is an empty list.
func (s *Store) CatalogVersions(ctx context.Context, kind, name string) ([]template.CatalogVersion, error) {
	return s.catalogVersions(ctx, `text`, kind, name)
}

// CatalogHashes returns them without text.
func (s *Store) CatalogHashes(ctx context.Context, kind, name string) ([]template.CatalogVersion, error) {
	return s.catalogVersions(ctx, `''`, kind, name)
}

func (s *Store) catalogVersions(ctx context.Context, text, kind, name string) ([]template.CatalogVersion, error) {
	list := []template.CatalogVersion{}
	err := s.Each(ctx, func(row db.Scanner) error {
		v := template.CatalogVersion{Kind: kind, Name: name}
		var at int64
		err := row.Scan(&v.Number, &v.Hash, &v.Text, &at, &v.By)
		v.At = db.FromMicros(at)
		list = append(list, v)
		return err
	}, `SELECT number, hash, `+text+`, published_at, published_by FROM catalog_versions WHERE kind = ? AND name = ? ORDER BY number DESC LIMIT 1000`, kind, name)
	return list, err
}
