package portal

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
	"muster/app/identity"
	auditpage "muster/portal/audit"
)

// Auditing is a power that a Muster may have: to tell who did what. Admins see their tenant, superadmins all.
type Auditing interface {
	Audit(ctx context.Context, a app.Actor, f app.AuditFilter) ([]app.Deed, bool, error)
	ExportAudit(ctx context.Context, a app.Actor, f app.AuditFilter, each func(app.Deed) error) error
	VerifyAudit(ctx context.Context, a app.Actor, tenant string) ([]identity.AuditProof, error)
	// NoteRefusal keeps that somebody was refused.
	NoteRefusal(ctx context.Context, r identity.Refusal)
}

func (p *Portal) auditing() Auditing {
	a, _ := p.muster.(Auditing)
	return a
}

// noteRefusal keeps in the audit what an actor was not allowed.
func (p *Portal) noteRefusal(ctx context.Context, a app.Actor, what string, err error) {
	if n := p.auditing(); n != nil && err != nil && app.CodeOf(err) == app.EForbidden {
		n.NoteRefusal(ctx, identity.Refusal{Actor: a, What: what, Why: err})
	}
}

// auditFilter reads a filter from a form or a query.
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
			return f, &app.Error{Code: app.EInvalid, Field: "after", Message: "That is not the number of an entry."}
		}
	}
	return f, nil
}

// auditTime reads a day or a time; "" is none.
func auditTime(field, s string) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	for _, form := range []string{time.RFC3339, time.DateOnly, "2006-01-02T15:04"} {
		if t, err := time.Parse(form, s); err == nil {
			return t, nil
		}
	}
	return time.Time{}, &app.Error{Code: app.EInvalid, Field: field, Message: "That is neither a day nor a time.", Hint: "Write for example 2026-01-31, or 2026-01-31T09:00:00Z."}
}

// auditList shows a page of the audit.
func (p *Portal) auditList(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	q := r.URL.Query()
	f, err := auditFilter(q)
	l := auditpage.List{Query: q, Wide: a.Role == app.RoleSuperadmin}
	status := http.StatusOK
	if err == nil {
		l.Deeds, l.More, err = p.auditing().Audit(r.Context(), a, f)
	}
	if e := app.AsError(err); err != nil {
		if e.Code != app.EInvalid {
			return err
		}
		l.Problem, status = e.Message+" "+e.Hint, http.StatusUnprocessableEntity
	}
	if q.Get("verify") != "" && err == nil {
		if l.Proofs, err = p.auditing().VerifyAudit(r.Context(), a, f.Tenant); err != nil {
			return err
		}
	}
	frame := p.adminFrame(r, "Audit")
	p.render(w, r, status, auditpage.ListPage(frame, l))
	return nil
}

// auditExport sends all that a filter chooses, as it is read.
func (p *Portal) auditExport(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	f, err := auditFilter(r.URL.Query())
	if err != nil {
		return err
	}
	return p.sendAudit(r.Context(), w, a, f, r.URL.Query().Get("format"))
}

func (p *Portal) sendAudit(ctx context.Context, w http.ResponseWriter, a app.Actor, f app.AuditFilter, format string) error {
	var each func(app.Deed) error
	var end func()
	begin := func(kind, ending string) {
		w.Header().Set("Content-Type", kind)
		w.Header().Set("Content-Disposition", `attachment; filename="audit.`+ending+`"`)
	}
	rc := http.NewResponseController(w)
	switch format {
	case "", "jsonl":
		e := json.NewEncoder(w)
		each, end = func(d app.Deed) error { return e.Encode(d) }, func() {}
	case "csv":
		c := csv.NewWriter(w)
		each = func(d app.Deed) error { return c.Write(auditCells(d)) }
		end = c.Flush
	default:
		return &app.Error{Code: app.EInvalid, Field: "format", Message: "The audit is exported as csv or jsonl."}
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
	err := p.auditing().ExportAudit(ctx, a, f, func(d app.Deed) error {
		if !begun {
			if err := start(); err != nil {
				return err
			}
		}
		if n++; n%500 == 1 {
			_ = rc.SetWriteDeadline(time.Now().Add(streamWrite))
		}
		return each(d)
	})
	if err != nil && !begun {
		return err
	}
	if err != nil { // it is too late to say so otherwise: the connection ends in the middle
		p.log.WarnContext(ctx, "an export of the audit ended early", "error", err)
		panic(http.ErrAbortHandler)
	}
	if !begun {
		if err := start(); err != nil {
			return nil
		}
	}
	end()
	return nil
}

// auditCells are an entry as cells.
func auditCells(d app.Deed) []string {
	cells := []string{d.Tenant, strconv.FormatInt(d.Number, 10), d.At.UTC().Format(time.RFC3339Nano), d.Who, string(d.Via), d.From, d.Token, d.Act, d.Object, d.Detail, d.Hash}
	for i, c := range cells {
		cells[i] = app.SheetCell(c)
	}
	return cells
}
