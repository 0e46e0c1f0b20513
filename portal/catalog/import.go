package catalog

import (
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"strconv"
	"strings"

	"muster/app"
	"muster/app/catalog"
	"muster/portal/site"
)

// Limit is the maximum size of a catalog form, which carries uploads between steps.
const Limit = 12 << 20

func (p *Service) importShow(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if !a.May("ApplyCatalog") {
		return &app.Error{Code: app.EForbidden, Message: "Only admins can edit the catalog.", Hint: "Ask an admin of your tenant."}
	}
	p.Render(w, r, http.StatusOK, ImportPage(p.CatalogFrame(r, "Import"), Import{}))
	return nil
}

// Import previews and applies an import. The page carries the files, so that nothing has to be uploaded twice.
func (p *Service) Import(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := r.ParseMultipartForm(1 << 20); err != nil && !errors.Is(err, http.ErrNotMultipart) {
		return site.Malformed(err)
	}
	if r.MultipartForm != nil {
		defer func() { _ = r.MultipartForm.RemoveAll() }()
	}
	in := r.Form
	v := Import{Pasted: typed(in, "pasted"), Prune: in.Get("prune") == "true", Note: catalogNote(in), Sent: true}
	status := http.StatusOK
	show := func(err error) error {
		if err != nil {
			status = site.StatusOf(err)
			if v.Problem, err = catalogRefused(err); err != nil {
				return err
			}
		}
		p.Render(w, r, status, ImportPage(p.CatalogFrame(r, "Import"), v))
		return nil
	}
	u, err := unpack(in.Get("packed"))
	if err == nil {
		err = u.uploads(r.MultipartForm)
	}
	for _, f := range u.files {
		v.Files = append(v.Files, ImportFile{Name: f.Name, Size: len(f.Text)})
	}
	v.Packed, v.Passed = pack(u.files), u.passed
	if err == nil && strings.TrimSpace(v.Pasted) != "" {
		err = u.file("pasted.yaml", strings.NewReader(v.Pasted))
	}
	switch {
	case err != nil:
		return show(err)
	case len(u.files) == 0:
		return show(&app.Error{Code: app.EInvalid, Message: "Nothing to import.", Hint: "Choose files or paste YAML."})
	}
	c := catalog.Change{Files: u.files, Prune: v.Prune, Note: v.Note}
	if in.Get("do") == "apply" {
		c.AsOf = in.Get("as_of")
		v.Report, err = p.Catalogs.ApplyCatalog(r.Context(), a, c)
		if err == nil && v.Report.Saved {
			v.Done = true
			return show(nil)
		}
		if err == nil && v.Report.OK() {
			v.Checked = true
			return show(nil) // the same was imported meanwhile
		}
		if err == nil {
			err = &app.Error{Code: app.EInvalid, Message: "Nothing was imported.", Hint: "Fix the problems below."}
		}
		if v.Problem, err = catalogRefused(err); err != nil {
			return err
		}
		status, c.AsOf = http.StatusConflict, ""
	}
	if v.Report, err = p.Catalogs.CheckCatalog(r.Context(), a, c); err != nil {
		return show(err)
	}
	v.Checked, v.AsOf = true, v.Report.Revision
	if !v.Report.OK() && status == http.StatusOK {
		status = http.StatusUnprocessableEntity
	}
	return show(nil)
}

// uploads adds the uploaded files, replacing earlier ones of the same name.
func (u *unpacked) uploads(f *multipart.Form) error {
	if f == nil {
		return nil
	}
	for _, h := range f.File["files"] {
		if h.Filename == "" && h.Size == 0 {
			continue
		}
		r, err := h.Open()
		if err != nil {
			return damaged(h.Filename, err)
		}
		b, err := io.ReadAll(io.LimitReader(r, Limit))
		_ = r.Close()
		if err != nil {
			return damaged(h.Filename, err)
		}
		if err := u.add(h.Filename, b); err != nil {
			return err
		}
	}
	return nil
}

// Export returns the tenant's own entries, or all, as an archive that can be imported.
func (p *Service) Export(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	files, err := p.Catalogs.ExportCatalog(r.Context(), a, r.URL.Query().Get("all") == "true")
	if err != nil {
		return err
	}
	var buf bytes.Buffer
	z := zip.NewWriter(&buf)
	for _, f := range files {
		h := &zip.FileHeader{Name: f.Name, Method: zip.Deflate, Modified: p.Now()}
		to, err := z.CreateHeader(h)
		if err != nil {
			return err
		}
		if _, err := io.WriteString(to, f.Text); err != nil {
			return err
		}
	}
	if err := z.Close(); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/zip")
	w.Header().Set("Content-Disposition", `attachment; filename="catalog.zip"`)
	w.Header().Set("Content-Length", strconv.Itoa(buf.Len()))
	_, _ = w.Write(buf.Bytes())
	return nil
}
