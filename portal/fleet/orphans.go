package fleet

import (
	"context"
	"net/http"
	"net/url"
	"path"

	"github.com/go-chi/chi/v5"
	"muster/app"
	"muster/app/cluster"
	"muster/app/fleet"
	"muster/portal/site"
)

func (p *Service) clusterReceipt(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	receipt, err := p.receipt(r.Context(), a, chi.URLParam(r, "id"))
	if err != nil {
		return err
	}
	f := p.ClusterFrame(r, "Receipt for "+receipt.Name)
	f.Live = true
	p.Render(w, r, http.StatusOK, ReceiptPage(f, receipt))
	return nil
}

func (p *Service) receipt(ctx context.Context, a app.Actor, id string) (Receipt, error) {
	receipt, err := p.Machines.Receipt(ctx, a, id)
	tabs := p.ClusterTabs(a, cluster.View{Cluster: app.Cluster{ID: receipt.Cluster, Status: receipt.Status}}, "history")
	return Receipt{Tabs: tabs, Receipt: receipt, Now: p.Now()}, err
}

func (p *Service) ReceiptLive(ctx context.Context, a app.Actor, at *url.URL) ([]site.LiveOne, error) {
	receipt, err := p.receipt(ctx, a, path.Base(path.Dir(at.Path)))
	return []site.LiveOne{{ID: "proof", HTML: ReceiptProof(receipt)}, {ID: "sums", HTML: ReceiptSums(receipt)}}, err
}

func (p *Service) orphanList(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	l, err := p.orphans(r.Context(), a, r.URL)
	if err != nil {
		return err
	}
	f := p.AdminFrame(r, "Orphaned machines")
	f.Live = true
	p.Render(w, r, http.StatusOK, OrphanListPage(f, l))
	return nil
}

func (p *Service) orphans(ctx context.Context, a app.Actor, at *url.URL) (OrphanList, error) {
	l := OrphanList{Now: p.Now(), Deleted: at.Query().Get("gone") == "true"}
	var err error
	l.Report, err = p.Machines.Orphans(ctx, a, l.Deleted)
	return l, err
}

func (p *Service) OrphansLive(ctx context.Context, a app.Actor, at *url.URL) ([]site.LiveOne, error) {
	l, err := p.orphans(ctx, a, at)
	return []site.LiveOne{{ID: "summary", HTML: OrphanSummary(l)}, {ID: "lists", HTML: OrphanListPart(l)}}, err
}

func (p *Service) orphanDecide(d fleet.OrphanDecision) site.MemberHandler {
	return func(w http.ResponseWriter, r *http.Request, a app.Actor) error {
		if _, err := p.Machines.DecideOrphan(r.Context(), a, chi.URLParam(r, "orphan"), d); err != nil {
			return err
		}
		http.Redirect(w, r, "/orphans", http.StatusSeeOther)
		return nil
	}
}

func (p *Service) orphanMode(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := site.Form(r); err != nil {
		return err
	}
	if err := p.Machines.SetOrphanMode(r.Context(), a, fleet.OrphanMode(r.PostForm.Get("mode"))); err != nil {
		return err
	}
	http.Redirect(w, r, "/orphans", http.StatusSeeOther)
	return nil
}

type orphanListInput struct {
	Deleted bool `query:"gone" doc:"Include machines deleted in the last 30 days"`
}

type orphanInput struct {
	Orphan string `path:"orphan" maxLength:"64" doc:"ID of the orphaned machine"`
	Body   struct {
		Decision fleet.OrphanDecision `json:"decision" enum:"delete,keep" doc:"Decision about the machine"`
	}
}

type orphanModeInput struct {
	Body orphanMode
}

type orphanMode struct {
	Mode fleet.OrphanMode `json:"mode" enum:"off,report,delete" doc:"Automatic cleanup of orphaned machines"`
}

func (p *Service) apiReceipt(ctx context.Context, in *site.IDInput) (*site.Body[fleet.Receipt], error) {
	receipt, err := p.Machines.Receipt(ctx, site.Caller(ctx), in.ID)
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	receipt.Lines = site.OrEmpty(receipt.Lines)
	return &site.Body[fleet.Receipt]{Body: receipt}, nil
}

func (p *Service) apiOrphanList(ctx context.Context, in *orphanListInput) (*site.Body[fleet.OrphanReport], error) {
	report, err := p.Machines.Orphans(ctx, site.Caller(ctx), in.Deleted)
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	report.Orphans = site.OrEmpty(report.Orphans)
	return &site.Body[fleet.OrphanReport]{Body: report}, nil
}

func (p *Service) apiOrphanDecide(ctx context.Context, in *orphanInput) (*site.Body[fleet.Orphan], error) {
	o, err := p.Machines.DecideOrphan(ctx, site.Caller(ctx), in.Orphan, in.Body.Decision)
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	return &site.Body[fleet.Orphan]{Body: o}, nil
}

func (p *Service) apiOrphanMode(ctx context.Context, in *orphanModeInput) (*site.Body[orphanMode], error) {
	if err := p.Machines.SetOrphanMode(ctx, site.Caller(ctx), in.Body.Mode); err != nil {
		return nil, p.Fail(ctx, err)
	}
	return &site.Body[orphanMode]{Body: in.Body}, nil
}
