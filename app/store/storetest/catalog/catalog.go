package catalog

import (
	"time"

	"muster/app/template"
)

func (t *storeTest) catalog() {
	s, ctx, now := t.Store, t.Ctx, time.Now().Truncate(time.Microsecond)
	entry := func(kind, name, hash string) template.CatalogVersion {
		return template.CatalogVersion{Kind: kind, Name: name, Hash: hash, Text: `{"hash": "` + hash + `"}`, At: now, By: "server"}
	}
	record := func(want int, versions ...template.CatalogVersion) {
		t.Helper()
		if n, err := s.RecordCatalog(ctx, versions); err != nil || n != want {
			t.Fatalf("%d written, %v, want %d", n, err, want)
		}
	}
	record(2, entry("template", "web", "a"), entry("service", "web", "x"))
	record(0, entry("template", "web", "a"), entry("service", "web", "x"))
	now = now.Add(time.Hour)
	record(1, entry("template", "web", "b"), entry("service", "web", "x"))
	record(0, entry("service", "web", "x")) // what is not there any more stays
	record(1, entry("template", "web", "a"))
	got, err := s.CatalogVersions(ctx, "template", "web")
	if err != nil || len(got) != 3 {
		t.Fatalf("%+v, %v", got, err)
	}
	for i, want := range []template.CatalogVersion{{Number: 3, Hash: "a"}, {Number: 2, Hash: "b"}, {Number: 1, Hash: "a"}} {
		if v := got[i]; v.Number != want.Number || v.Hash != want.Hash || v.Text != `{"hash": "`+want.Hash+`"}` || v.Kind != "template" || v.Name != "web" || v.By != "server" {
			t.Errorf("version %+v, want %+v", v, want)
		}
	}
	if !got[0].At.Equal(now) || !got[2].At.Equal(now.Add(-time.Hour)) {
		t.Errorf("times %v, %v", got[0].At, got[2].At)
	}
	if short, err := s.CatalogHashes(ctx, "template", "web"); err != nil || len(short) != 3 || short[0].Text != "" || short[0].Hash != "a" {
		t.Errorf("without text: %+v, %v", short, err)
	}
	if none, err := s.CatalogVersions(ctx, "template", "none"); err != nil || len(none) != 0 {
		t.Errorf("of nothing: %+v, %v", none, err)
	}
}
