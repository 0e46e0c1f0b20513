package main

import (
	"bytes"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"muster/app"
)

// An admin pushes, syncs, looks and downloads with plain forms; errors are next to their field, and all input is kept.
func TestResourcePages(t *testing.T) {
	m := newMatrix(t)
	f := &foreign{matrix: m, values: map[string][]string{}}
	site := httptest.NewServer(m.server.HTTP.Handler)
	defer site.Close()
	v := f.visitor(site.URL, here, app.RoleAdmin)
	get := func(path string) string {
		t.Helper()
		resp, err := v.client.Get(site.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		b, _ := io.ReadAll(resp.Body)
		if resp.StatusCode != http.StatusOK {
			t.Fatalf("%s: %s: %.300s", path, resp.Status, b)
		}
		return string(b)
	}
	push := func(name, kind, content string, want int, more ...string) string {
		t.Helper()
		var b bytes.Buffer
		w := multipart.NewWriter(&b)
		for _, field := range [][2]string{{"type", kind}, {"name", name}, {"note", "the <first> one"}, {"stage", "yes"}} {
			_ = w.WriteField(field[0], field[1])
		}
		for _, field := range more {
			_ = w.WriteField(field, "")
		}
		part, _ := w.CreateFormFile("content", "motd.txt")
		_, _ = io.WriteString(part, content)
		_ = w.Close()
		resp, err := v.client.Post(site.URL+"/admin/resources", w.FormDataContentType(), &b)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		text, _ := io.ReadAll(resp.Body)
		if resp.StatusCode != want {
			t.Fatalf("a push of %s answers %s: %.500s", name, resp.Status, text)
		}
		return string(text)
	}
	act := func(path string) {
		t.Helper()
		resp, err := v.client.PostForm(site.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusSeeOther {
			t.Fatalf("%s: %s", path, resp.Status)
		}
	}
	has := func(text string, words ...string) {
		t.Helper()
		for _, w := range words {
			if !strings.Contains(text, w) {
				t.Errorf("%q is missing", w)
			}
		}
	}
	has(get("/admin/resources"), "No resources yet", `enctype="multipart/form-data"`)
	has(push("no name", "shell/file", "x", http.StatusUnprocessableEntity), "Invalid name", `value="no name"`, "the &lt;first&gt; one")
	has(push("motd", "shell/archive", "no archive", http.StatusUnprocessableEntity), "t a readable archive", `value="motd"`)
	has(push("motd", "shell/file", "x", http.StatusBadRequest, strings.Split(strings.Repeat("x", 20), "")...), "too many form fields")
	// Larger than any other form may be.
	push("motd", "shell/file", strings.Repeat("hello ", 100_000), http.StatusSeeOther)
	has(get("/admin/resources"), "Next sync", "activates version 1", "Version 1 staged")
	act("/admin/resources/sync")
	push("motd", "shell/file", "hello two", http.StatusSeeOther)
	has(get("/admin/resources/shell:file:motd"), "Version 1 active, 2 staged", "the &lt;first&gt; one", "motd.txt", "Compare")
	has(get("/admin/resources/shell:file:motd/diff?from=1&to=2"), "changed", "586 KiB", "9 B")
	if got := get("/admin/resources/shell:file:motd/versions/2/content"); got != "hello two" {
		t.Errorf("the download is %q", got)
	}
	act("/admin/resources/shell:file:motd/versions/2/recall")
	act("/admin/resources/shell:file:motd/versions/2/delete")
	has(get("/admin/resources/shell:file:motd"), "deleted")
	user := f.visitor(site.URL, here, app.RoleUser)
	resp, err := user.client.Get(site.URL + "/admin/resources")
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusForbidden {
		t.Errorf("a user gets %s", resp.Status)
	}
}
