// The generated client takes a cluster from create to delete through a client that oapi-codegen made from docs/openapi.json, as a
// program of someone else would: no line of it is of Muster's own packages. It is a module of its own, so that Muster does not depend
// on the generator; TestRealGeneratedClientDrivesACluster in cmd/muster makes the package api and runs it.
//
//	go tool oapi-codegen -generate types,client -package api -o api/api.go ../../../docs/openapi.json
//	MUSTER_TOKEN=… go run . https://muster.example.org
package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"

	"muster-generated-client/api"
)

func main() {
	ctx, stop := context.WithTimeout(context.Background(), 5*time.Minute)
	defer stop()
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: MUSTER_TOKEN=… generated-client URL")
		os.Exit(2)
	}
	if err := drive(ctx, os.Args[1], os.Getenv("MUSTER_TOKEN")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// story is one visitor with its client.
type story struct {
	*api.ClientWithResponses
	after int64 // the last event that was seen
}

func drive(ctx context.Context, site, token string) error {
	c, err := api.NewClientWithResponses(site+"/api/v1", api.WithRequestEditorFn(func(_ context.Context, r *http.Request) error {
		r.Header.Set("Authorization", "Bearer "+token)
		return nil
	}))
	if err != nil {
		return err
	}
	s := &story{ClientWithResponses: c}

	asked := api.CreateRequest{Template: "web", Size: new(int64(100_000)), Name: new("generated")}
	refused, err := s.PostPreviewWithResponse(ctx, &api.PostPreviewParams{}, asked)
	if err != nil {
		return err
	}
	if refused.ApplicationproblemJSON422 == nil || refused.ApplicationproblemJSON422.Detail == "" {
		return answer("preview of 100,000 nodes", refused.HTTPResponse, refused.Body)
	}
	fmt.Printf("refused: %s\n", refused.ApplicationproblemJSON422.Detail)

	asked.Size = new(int64(4))
	preview, err := s.PostPreviewWithResponse(ctx, &api.PostPreviewParams{}, asked)
	if err != nil {
		return err
	}
	if preview.JSON200 == nil {
		return answer("preview", preview.HTTPResponse, preview.Body)
	}
	fmt.Printf("preview: expected in %s\n", time.Duration(preview.JSON200.Duration))

	asked.PlanHash = &preview.JSON200.PlanHash
	created, err := s.PostClustersWithResponse(ctx, &api.PostClustersParams{IdempotencyKey: new("generated-1")}, asked)
	if err != nil {
		return err
	}
	if created.JSON201 == nil {
		return answer("create", created.HTTPResponse, created.Body)
	}
	again, err := s.PostClustersWithResponse(ctx, &api.PostClustersParams{IdempotencyKey: new("generated-1")}, asked)
	if err != nil {
		return err
	}
	if again.JSON201 == nil || again.JSON201.Id != created.JSON201.Id {
		return answer("the same create again", again.HTTPResponse, again.Body)
	}
	id := created.JSON201.Id
	v, err := s.settled(ctx, id)
	if err != nil {
		return err
	}
	fmt.Printf("created: %s is %s with %d nodes\n", v.Name, v.Status, len(*v.Nodes))

	lease, err := s.PostClustersByIdLeaseWithResponse(ctx, id, &api.PostClustersByIdLeaseParams{}, api.LeaseRequest{By: new(int64(time.Hour)), Reason: new("tests are still running")})
	if err != nil {
		return err
	}
	if lease.JSON200 == nil {
		return answer("lease", lease.HTTPResponse, lease.Body)
	}
	grown, err := s.PostClustersByIdOperationsWithResponse(ctx, id, &api.PostClustersByIdOperationsParams{}, api.ClusterUpdate{Kind: api.ClusterUpdateKind("resize"), Size: new(int64(5))})
	if err != nil {
		return err
	}
	if grown.JSON201 == nil {
		return answer("resize", grown.HTTPResponse, grown.Body)
	}
	if v, err = s.settled(ctx, id); err != nil {
		return err
	}
	fmt.Printf("grown: %s is %s with %d nodes\n", v.Name, v.Status, len(*v.Nodes))

	deleted, err := s.DeleteClustersByIdWithResponse(ctx, id, &api.DeleteClustersByIdParams{})
	if err != nil {
		return err
	}
	if deleted.JSON202 == nil {
		return answer("delete", deleted.HTTPResponse, deleted.Body)
	}
	if v, err = s.settled(ctx, id); err != nil {
		return err
	}
	receipt, err := s.GetClustersByIdReceiptWithResponse(ctx, id, nil)
	if err != nil {
		return err
	}
	if receipt.JSON200 == nil {
		return answer("receipt", receipt.HTTPResponse, receipt.Body)
	}
	fmt.Printf("deleted: %s is %s, %d machines left\n", v.Name, v.Status, receipt.JSON200.Remaining)
	return nil
}

// settled follows a cluster's events until no operation is running.
func (s *story) settled(ctx context.Context, id string) (*api.ClusterView, error) {
	for {
		shown, err := s.GetClustersByIdWithResponse(ctx, id, nil)
		if err != nil {
			return nil, err
		}
		v := shown.JSON200
		if v == nil {
			return nil, answer("show", shown.HTTPResponse, shown.Body)
		}
		last := (*v.Operations)[0]
		for _, o := range *v.Operations {
			if o.Id > last.Id {
				last = o
			}
		}
		switch last.Status {
		case "succeeded":
			return v, nil
		case "failed", "cancelled":
			return nil, fmt.Errorf("%s %s: %s", last.Kind, last.Status, text(last.Message))
		}
		news, err := s.GetClustersByIdEventsWithResponse(ctx, id, &api.GetClustersByIdEventsParams{After: &s.after, Wait: new(int64(20))})
		if err != nil {
			return nil, err
		}
		if news.JSON200 == nil {
			return nil, answer("events", news.HTTPResponse, news.Body)
		}
		if news.JSON200.Events == nil {
			continue
		}
		for _, e := range *news.JSON200.Events {
			s.after = max(s.after, e.Seq)
		}
	}
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func answer(what string, r *http.Response, body []byte) error {
	return errors.New(what + " returned " + r.Status + ": " + string(body))
}
