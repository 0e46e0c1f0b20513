package audit

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"muster/app"
	"muster/portal/site"
)

// auditFilter parses a filter from a form or a query.
func auditFilter(q url.Values) (f app.AuditFilter, err error) {
	f = app.AuditFilter{Tenant: strings.TrimSpace(q.Get("tenant")), Who: strings.TrimSpace(q.Get("who")), Act: strings.TrimSpace(q.Get("act")),
		Object: strings.TrimSpace(q.Get("object")), AfterTenant: q.Get("after_tenant")}
	if f.From, err = auditTime("from", q.Get("from")); err != nil {
		return f, err
	}
	if f.To, err = auditTime("to", q.Get("to")); err != nil {
		return f, err
	}
	if s := q.Get("after"); s != "" {
		if f.After, err = strconv.ParseInt(s, 10, 64); err != nil || f.After < 1 {
			return f, &app.Error{Code: app.EInvalid, Field: "after", Message: "Invalid entry number."}
		}
	}
	return f, nil
}

// auditTime parses a day or a time; "" for none.
func auditTime(field, s string) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	for _, form := range []string{time.RFC3339, time.DateOnly, "2006-01-02T15:04"} {
		if t, err := time.Parse(form, s); err == nil {
			return t, nil
		}
	}
	return time.Time{}, &app.Error{Code: app.EInvalid, Field: field, Message: "Invalid day or time " + strconv.Quote(s) + ".", Hint: "Enter a day such as 2026-01-31, or a time such as 2026-01-31T09:00:00Z."}
}

// List shows a page of the audit log.
func (p *Service) List(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	q := r.URL.Query()
	f, err := auditFilter(q)
	l := List{Query: q, Wide: a.Role == app.RoleSuperadmin}
	status := http.StatusOK
	if err == nil {
		l.Entries, l.More, err = p.Audit.Audit(r.Context(), a, f)
	}
	if e := app.AsError(err); err != nil {
		if e.Code != app.EInvalid {
			return err
		}
		l.Problem, status = e.Message+" "+e.Hint, http.StatusUnprocessableEntity
	}
	if q.Get("verify") != "" && err == nil {
		if l.Proofs, err = p.Audit.VerifyAudit(r.Context(), a, f.Tenant); err != nil {
			return err
		}
	}
	frame := p.AdminFrame(r, "Audit log")
	p.Render(w, r, status, ListPage(frame, l))
	return nil
}

// Export streams all entries that match a filter.
func (p *Service) Export(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	f, err := auditFilter(r.URL.Query())
	if err != nil {
		return err
	}
	return p.sendAudit(r.Context(), w, a, f, r.URL.Query().Get("format"))
}

func (p *Service) sendAudit(ctx context.Context, w http.ResponseWriter, a app.Actor, f app.AuditFilter, format string) error {
	var each func(app.AuditEntry) error
	var end func()
	begin := func(kind, ending string) {
		w.Header().Set("Content-Type", kind)
		w.Header().Set("Content-Disposition", `attachment; filename="audit.`+ending+`"`)
	}
	rc := http.NewResponseController(w)
	switch format {
	case "", "jsonl":
		e := json.NewEncoder(w)
		each, end = func(d app.AuditEntry) error { return e.Encode(d) }, func() {}
	case "csv":
		c := csv.NewWriter(w)
		each = func(d app.AuditEntry) error { return c.Write(auditCells(d)) }
		end = c.Flush
	default:
		return &app.Error{Code: app.EInvalid, Field: "format", Message: "Unsupported export format.", Hint: "Choose csv or jsonl."}
	}
	begun, n := false, 0
	start := func() error {
		begun = true
		if format != "csv" {
			begin("application/x-ndjson", "jsonl")
			return nil
		}
		begin("text/csv; charset=utf-8", "csv")
		_, err := io.WriteString(w, "tenant,number,at,who,via,from,token,act,object,detail,hash\r\n")
		return err
	}
	err := p.Audit.ExportAudit(ctx, a, f, func(d app.AuditEntry) error {
		if !begun {
			if err := start(); err != nil {
				return err
			}
		}
		if n++; n%500 == 1 {
			_ = rc.SetWriteDeadline(time.Now().Add(site.StreamWrite))
		}
		return each(d)
	})
	if err != nil && !begun {
		return err
	}
	if err != nil { // the status is already sent, so only a broken connection can signal the error
		p.Log.WarnContext(ctx, "audit export ended early", "error", err)
		panic(http.ErrAbortHandler)
	}
	if !begun {
		if err := start(); err != nil {
			return nil //nolint:nilerr // the client has disconnected
		}
	}
	end()
	return nil
}

// auditCells are the CSV cells of an entry.
func auditCells(d app.AuditEntry) []string {
	cells := []string{d.Tenant, strconv.FormatInt(d.Number, 10), d.At.UTC().Format(time.RFC3339Nano), d.Who, string(d.Via), d.From, d.Token, d.Act, d.Object, d.Detail, d.Hash}
	for i, c := range cells {
		cells[i] = app.SheetCell(c)
	}
	return cells
}
