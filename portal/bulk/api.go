package bulk

import (
	"context"
	"net/http"
	"time"

	"muster/app/bulk"
	"muster/app/template"
	"muster/portal/site"
)

type input struct {
	Body struct {
		Action   bulk.Action `json:"action" enum:"extend,sleep,wake,delete" doc:"What is done to each cluster"`
		Clusters []string    `json:"clusters" minItems:"1" maxItems:"100" doc:"IDs or names"`
		By       string      `json:"by,omitempty" maxLength:"40" doc:"With extend: by how much, such as 8h or 1d12h"`
		Until    time.Time   `json:"until,omitzero" doc:"With extend: until when. A lease that ends later stays as it is, so the request can be repeated"`
		Reason   string      `json:"reason,omitempty" maxLength:"500" doc:"With extend: why admins exceed the template's limits"`
	}
}

func (in *input) read() (bulk.Ask, error) {
	b := in.Body
	ask := bulk.Ask{Action: b.Action, Targets: bulk.Targets(b.Clusters), Until: b.Until, Reason: b.Reason}
	if b.By == "" {
		return ask, nil
	}
	var err error
	ask.By, err = template.ParseLength(b.By)
	return ask, err
}

func (p *Service) apiPreview(ctx context.Context, in *input) (*site.Body[bulk.Report], error) {
	ask, err := in.read()
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	return p.answer(ctx)(p.Bulk.PreviewBulk(ctx, site.Caller(ctx), ask))
}

func (p *Service) apiRun(ctx context.Context, in *input) (*site.Body[bulk.Report], error) {
	ask, err := in.read()
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	return p.answer(ctx)(p.Bulk.RunBulk(ctx, site.Caller(ctx), ask))
}

func (p *Service) answer(ctx context.Context) func(bulk.Report, error) (*site.Body[bulk.Report], error) {
	return func(r bulk.Report, err error) (*site.Body[bulk.Report], error) {
		if err != nil {
			return nil, p.Fail(ctx, err)
		}
		for _, x := range r.Results {
			if _, a := site.Known(x.Err); x.Err != nil && a.Status >= http.StatusInternalServerError {
				_ = p.Fail(ctx, x.Err) // which logs it
			}
		}
		return &site.Body[bulk.Report]{Body: r}, nil
	}
}
