package portal

import (
	"context"
	"net/http"
	"net/url"
	"path"

	"github.com/go-chi/chi/v5"
	"muster/app"
	"muster/app/fleet"
	fleetpage "muster/portal/fleet"
)

// Machines is a power that a Muster may have: to account for what was made at providers. A portal without it has no
// receipts and no page of orphans.
type Machines interface {
	// Receipt gives what a cluster has had at its provider, and what that cost.
	Receipt(ctx context.Context, a app.Actor, cluster string) (fleet.Receipt, error)
	// Orphans lists machines of ours that nobody stands behind; with gone also those that went lately. EForbidden for
	// anybody but admins.
	Orphans(ctx context.Context, a app.Actor, gone bool) (fleet.OrphanReport, error)
	DecideOrphan(ctx context.Context, a app.Actor, id string, d app.OrphanDecision) (app.Orphan, error)
	SetOrphanMode(ctx context.Context, a app.Actor, m app.OrphanMode) error
}

// machines gives the power; nil where there is none.
func (p *Portal) machines() Machines {
	m, _ := p.muster.(Machines)
	return m
}

func (p *Portal) clusterReceipt(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	receipt, err := p.receipt(r.Context(), a, chi.URLParam(r, "id"))
	if err != nil {
		return err
	}
	f := p.clusterFrame(r, "Receipt of "+receipt.Name)
	f.Live = true
	p.render(w, r, http.StatusOK, fleetpage.ReceiptPage(f, receipt))
	return nil
}

func (p *Portal) receipt(ctx context.Context, a app.Actor, id string) (fleetpage.Receipt, error) {
	receipt, err := p.machines().Receipt(ctx, a, id)
	tabs := p.clusterTabs(a, app.ClusterView{Cluster: app.Cluster{ID: receipt.Cluster, Status: receipt.Status}}, "history")
	return fleetpage.Receipt{Tabs: tabs, Receipt: receipt, Now: p.now()}, err
}

func (p *Portal) receiptLive(ctx context.Context, a app.Actor, at *url.URL) ([]liveOne, error) {
	receipt, err := p.receipt(ctx, a, path.Base(path.Dir(at.Path)))
	return []liveOne{{ID: "proof", HTML: fleetpage.ReceiptProof(receipt)}, {ID: "sums", HTML: fleetpage.ReceiptSums(receipt)}}, err
}

func (p *Portal) orphanList(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	l, err := p.orphans(r.Context(), a, r.URL)
	if err != nil {
		return err
	}
	f := p.adminFrame(r, "Orphans")
	f.Live = true
	p.render(w, r, http.StatusOK, fleetpage.OrphanListPage(f, l))
	return nil
}

func (p *Portal) orphans(ctx context.Context, a app.Actor, at *url.URL) (fleetpage.OrphanList, error) {
	l := fleetpage.OrphanList{Now: p.now(), Gone: at.Query().Get("gone") == "true"}
	var err error
	l.Report, err = p.machines().Orphans(ctx, a, l.Gone)
	return l, err
}

func (p *Portal) orphansLive(ctx context.Context, a app.Actor, at *url.URL) ([]liveOne, error) {
	l, err := p.orphans(ctx, a, at)
	return []liveOne{{ID: "summary", HTML: fleetpage.OrphanSummary(l)}, {ID: "lists", HTML: fleetpage.OrphanListPart(l)}}, err
}

func (p *Portal) orphanDecide(d app.OrphanDecision) memberHandler {
	return func(w http.ResponseWriter, r *http.Request, a app.Actor) error {
		if _, err := p.machines().DecideOrphan(r.Context(), a, chi.URLParam(r, "orphan"), d); err != nil {
			return err
		}
		http.Redirect(w, r, "/orphans", http.StatusSeeOther)
		return nil
	}
}

func (p *Portal) orphanMode(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := form(r); err != nil {
		return err
	}
	if err := p.machines().SetOrphanMode(r.Context(), a, app.OrphanMode(r.PostForm.Get("mode"))); err != nil {
		return err
	}
	http.Redirect(w, r, "/orphans", http.StatusSeeOther)
	return nil
}

type orphanListInput struct {
	Gone bool `query:"gone" doc:"Also those that went within the last thirty days"`
}

type orphanInput struct {
	Orphan string `path:"orphan" maxLength:"64" doc:"The orphan's id"`
	Body   struct {
		Decision app.OrphanDecision `json:"decision" enum:"delete,keep" doc:"What is to become of it"`
	}
}

type orphanModeInput struct {
	Body orphanMode
}

type orphanMode struct {
	Mode app.OrphanMode `json:"mode" enum:"off,report,delete" doc:"What happens to orphans by themselves"`
}

func (p *Portal) apiReceipt(ctx context.Context, in *IDInput) (*body[fleet.Receipt], error) {
	receipt, err := p.machines().Receipt(ctx, caller(ctx), in.ID)
	if err != nil {
		return nil, p.fail(ctx, err)
	}
	receipt.Lines = orEmpty(receipt.Lines)
	return &body[fleet.Receipt]{receipt}, nil
}

func (p *Portal) apiOrphanList(ctx context.Context, in *orphanListInput) (*body[fleet.OrphanReport], error) {
	report, err := p.machines().Orphans(ctx, caller(ctx), in.Gone)
	if err != nil {
		return nil, p.fail(ctx, err)
	}
	report.Orphans = orEmpty(report.Orphans)
	return &body[fleet.OrphanReport]{report}, nil
}

func (p *Portal) apiOrphanDecide(ctx context.Context, in *orphanInput) (*body[app.Orphan], error) {
	o, err := p.machines().DecideOrphan(ctx, caller(ctx), in.Orphan, in.Body.Decision)
	if err != nil {
		return nil, p.fail(ctx, err)
	}
	return &body[app.Orphan]{o}, nil
}

func (p *Portal) apiOrphanMode(ctx context.Context, in *orphanModeInput) (*body[orphanMode], error) {
	if err := p.machines().SetOrphanMode(ctx, caller(ctx), in.Body.Mode); err != nil {
		return nil, p.fail(ctx, err)
	}
	return &body[orphanMode]{in.Body}, nil
}
