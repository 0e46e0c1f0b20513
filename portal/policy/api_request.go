package policy

import (
	"context"
	"fmt"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"muster/app/cluster"
	appoperation "muster/app/operation"
	"muster/portal/site"
)

// CreateAnswer is the answer to a request for a cluster: 201 with the cluster, or 202 with the waiting request.
type CreateAnswer struct {
	Status   int
	Location string `header:"Location" doc:"Address of the cluster or the waiting request"`
	Body     any
}

func (p *Service) apiClusterCreate(ctx context.Context, in *RequestInput) (*CreateAnswer, error) {
	answer, err := p.ask(ctx, site.Caller(ctx), in.Body)
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	if v := answer.Cluster; v != nil {
		v.Nodes, v.Operations, v.Links = site.OrEmpty(v.Nodes), site.OrEmpty(v.Operations), site.OrEmpty(v.Links)
		return &CreateAnswer{Status: http.StatusCreated, Location: "/api/v1/clusters/" + v.ID, Body: v}, nil
	}
	return &CreateAnswer{Status: http.StatusAccepted, Location: fmt.Sprintf("/api/v1/requests/%d", answer.Request.ID), Body: answer.Request}, nil
}

// EitherWay documents both answers.
func EitherWay(o *huma.Operation) {
	o.DefaultStatus = http.StatusCreated
	o.Responses = map[string]*huma.Response{
		"201": {Description: "The cluster", Content: map[string]*huma.MediaType{"application/json": {Schema: &huma.Schema{Ref: "#/components/schemas/ClusterView"}}}},
		"202": {Description: "The request is waiting for approval", Content: map[string]*huma.MediaType{"application/json": {Schema: &huma.Schema{Ref: "#/components/schemas/ClusterRequest"}}}},
	}
}

type requestListInput struct {
	View   cluster.RequestView   `query:"view" enum:"mine,inbox,all" doc:"mine: my requests; inbox: requests waiting for me; all (default)"`
	Status cluster.RequestStatus `query:"status" enum:"waiting,offered,scheduled,accepted,refused,denied,expired,withdrawn" doc:"Only requests in this state"`
	Before int64                 `query:"before" minimum:"0" doc:"Only requests with a lower number"`
	Limit  int                   `query:"limit" minimum:"0" maximum:"1000" doc:"Maximum number of requests; 0 means 100"`
}

type requestList struct {
	Requests []cluster.Request `json:"requests" nullable:"false"`
}

// RequestPath names a request. It is exported since huma leaves out embedded fields that are not.
type RequestPath struct {
	ID int64 `path:"id" minimum:"1" doc:"Number of the request"`
}

type reviewInput struct {
	RequestPath
	Body appoperation.ReviewRequest
}

type confirmInput struct {
	RequestPath
	Body struct {
		PlanHash string `json:"plan_hash" maxLength:"64" doc:"Plan hash of the offer"`
	}
}

type withdrawInput struct {
	RequestPath
	Body struct {
		Reason string `json:"reason,omitempty" maxLength:"1000"`
	}
}

type runNowInput struct {
	RequestPath
	Body struct {
		PlanHash string `json:"plan_hash" maxLength:"64" doc:"Plan hash of the request"`
		Reason   string `json:"reason" maxLength:"1000" doc:"Why it can't wait; the requester sees it"`
	}
}

type breakGlassInput struct {
	RequestPath
	Body struct {
		PlanHash string `json:"plan_hash" maxLength:"64" doc:"Plan hash of the request"`
		Reason   string `json:"reason" maxLength:"1000" doc:"At least 10 characters; everyone involved sees it"`
	}
}

func (p *Service) apiRequestList(ctx context.Context, in *requestListInput) (*site.Body[requestList], error) {
	list, err := p.Requests.Requests(ctx, site.Caller(ctx), cluster.RequestFilter{View: in.View, Status: in.Status, Before: in.Before, Limit: in.Limit})
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	return &site.Body[requestList]{Body: requestList{site.OrEmpty(list)}}, nil
}

func (p *Service) apiRequestShow(ctx context.Context, in *RequestPath) (*site.Body[cluster.Request], error) {
	return p.request(ctx)(p.Requests.Request(ctx, site.Caller(ctx), in.ID))
}

func (p *Service) apiRequestReview(ctx context.Context, in *reviewInput) (*site.Body[cluster.Request], error) {
	return p.request(ctx)(p.Requests.Review(ctx, site.Caller(ctx), in.ID, in.Body))
}

func (p *Service) apiRequestConfirm(ctx context.Context, in *confirmInput) (*site.Body[cluster.Request], error) {
	return p.request(ctx)(p.Requests.Confirm(ctx, site.Caller(ctx), in.ID, in.Body.PlanHash))
}

func (p *Service) apiRequestWithdraw(ctx context.Context, in *withdrawInput) (*site.Body[cluster.Request], error) {
	return p.request(ctx)(p.Requests.Withdraw(ctx, site.Caller(ctx), in.ID, in.Body.Reason))
}

func (p *Service) apiRequestRunNow(ctx context.Context, in *runNowInput) (*site.Body[cluster.Request], error) {
	return p.request(ctx)(p.Requests.RunNow(ctx, site.Caller(ctx), in.ID, in.Body.PlanHash, in.Body.Reason))
}

func (p *Service) apiRequestBreakGlass(ctx context.Context, in *breakGlassInput) (*site.Body[cluster.Request], error) {
	return p.request(ctx)(p.Requests.BreakGlass(ctx, site.Caller(ctx), in.ID, in.Body.PlanHash, in.Body.Reason))
}

// request answers with the result of a use case.
func (p *Service) request(ctx context.Context) func(cluster.Request, error) (*site.Body[cluster.Request], error) {
	return func(r cluster.Request, err error) (*site.Body[cluster.Request], error) {
		if err != nil {
			return nil, p.Fail(ctx, err)
		}
		return &site.Body[cluster.Request]{Body: r}, nil
	}
}
