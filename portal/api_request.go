package portal

import (
	"context"
	"fmt"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"muster/app"
	appoperation "muster/app/operation"
)

// asked is the answer to a request for a cluster: 201 with the cluster, or 202 with the request that waits.
type asked struct {
	Status   int
	Location string `header:"Location" doc:"Where the cluster, or the request that waits, is to be found"`
	Body     any
}

func (p *Portal) apiClusterCreate(ctx context.Context, in *requestInput) (*asked, error) {
	answer, err := p.ask(ctx, caller(ctx), in.Body)
	if err != nil {
		return nil, p.fail(ctx, err)
	}
	if v := answer.Cluster; v != nil {
		v.Nodes, v.Operations, v.Links = orEmpty(v.Nodes), orEmpty(v.Operations), orEmpty(v.Links)
		return &asked{Status: http.StatusCreated, Location: "/api/v1/clusters/" + v.ID, Body: v}, nil
	}
	return &asked{Status: http.StatusAccepted, Location: fmt.Sprintf("/api/v1/requests/%d", answer.Request.ID), Body: answer.Request}, nil
}

// eitherWay documents both answers.
func eitherWay(o *huma.Operation) {
	o.DefaultStatus = http.StatusCreated
	o.Responses = map[string]*huma.Response{
		"201": {Description: "The cluster", Content: map[string]*huma.MediaType{"application/json": {Schema: &huma.Schema{Ref: "#/components/schemas/ClusterView"}}}},
		"202": {Description: "The request waits for approvals", Content: map[string]*huma.MediaType{"application/json": {Schema: &huma.Schema{Ref: "#/components/schemas/Request"}}}},
	}
}

type requestListInput struct {
	View   app.RequestView   `query:"view" enum:"mine,inbox,all" doc:"mine: that I asked for; inbox: that wait for me; all (default)"`
	Status app.RequestStatus `query:"status" enum:"waiting,offered,accepted,refused,denied,expired,withdrawn" doc:"Only those in this state"`
	Before int64             `query:"before" minimum:"0" doc:"Only those with a smaller number"`
	Limit  int               `query:"limit" minimum:"0" maximum:"1000" doc:"At most so many; 0 means 100"`
}

type requestList struct {
	Requests []app.Request `json:"requests" nullable:"false"`
}

// RequestPath names a request. It is exported since huma leaves out embedded fields that are not.
type RequestPath struct {
	ID int64 `path:"id" minimum:"1" doc:"The request's number"`
}

type reviewInput struct {
	RequestPath
	Body appoperation.ReviewRequest
}

type confirmInput struct {
	RequestPath
	Body struct {
		PlanHash string `json:"plan_hash" maxLength:"64" doc:"Of the offer, as it was shown"`
	}
}

type withdrawInput struct {
	RequestPath
	Body struct {
		Reason string `json:"reason,omitempty" maxLength:"1000"`
	}
}

type breakGlassInput struct {
	RequestPath
	Body struct {
		PlanHash string `json:"plan_hash" maxLength:"64" doc:"Of the request, as it was shown"`
		Reason   string `json:"reason" maxLength:"1000" doc:"At least 10 letters; everybody concerned reads it"`
	}
}

func (p *Portal) apiRequestList(ctx context.Context, in *requestListInput) (*body[requestList], error) {
	list, err := p.requesting().Requests(ctx, caller(ctx), app.RequestFilter{View: in.View, Status: in.Status, Before: in.Before, Limit: in.Limit})
	if err != nil {
		return nil, p.fail(ctx, err)
	}
	return &body[requestList]{requestList{orEmpty(list)}}, nil
}

func (p *Portal) apiRequestShow(ctx context.Context, in *RequestPath) (*body[app.Request], error) {
	return p.request(ctx)(p.requesting().Request(ctx, caller(ctx), in.ID))
}

func (p *Portal) apiRequestReview(ctx context.Context, in *reviewInput) (*body[app.Request], error) {
	return p.request(ctx)(p.requesting().Review(ctx, caller(ctx), in.ID, in.Body))
}

func (p *Portal) apiRequestConfirm(ctx context.Context, in *confirmInput) (*body[app.Request], error) {
	return p.request(ctx)(p.requesting().Confirm(ctx, caller(ctx), in.ID, in.Body.PlanHash))
}

func (p *Portal) apiRequestWithdraw(ctx context.Context, in *withdrawInput) (*body[app.Request], error) {
	return p.request(ctx)(p.requesting().Withdraw(ctx, caller(ctx), in.ID, in.Body.Reason))
}

func (p *Portal) apiRequestBreakGlass(ctx context.Context, in *breakGlassInput) (*body[app.Request], error) {
	return p.request(ctx)(p.requesting().BreakGlass(ctx, caller(ctx), in.ID, in.Body.PlanHash, in.Body.Reason))
}

// request answers with what a use case gave.
func (p *Portal) request(ctx context.Context) func(app.Request, error) (*body[app.Request], error) {
	return func(r app.Request, err error) (*body[app.Request], error) {
		if err != nil {
			return nil, p.fail(ctx, err)
		}
		return &body[app.Request]{r}, nil
	}
}
