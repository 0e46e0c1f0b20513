package main

import (
	"context"
	"io"
	"strings"

	"muster/app"
	"muster/app/all"
	"muster/app/resource"
)

// resource makes one of the scene's tenant: version 1 is in use, 2 is not.
func (s *scene) resource() resource.ID { return s.resourceMarked("content") }

// resourceMarked makes one with a mark in all that can be said of it.
func (s *scene) resourceMarked(mark string) resource.ID {
	s.used = true
	id := resource.ID{Family: resource.ForAutomator, Member: "shell", Type: "file", Name: s.fresh("motd")}
	for _, n := range []string{"1", "2"} {
		_, err := s.server.Services.Resource.PushResource(s.t.Context(), s.boss(), resource.Push{ID: id, Note: mark + " note", Source: resource.Source{File: mark + ".txt"}, Stage: n == "1"},
			strings.NewReader(mark+n+id.Name))
		s.must(err)
	}
	_, err := s.server.Services.Resource.SyncResources(s.t.Context(), s.boss(), resource.Filter{}, false)
	s.must(err)
	return id
}

// Archives and files, in the matrix.
var resourceTries = map[string]func(ctx context.Context, a *all.Services, s *scene) error{
	"ResourceTypes": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Resource.ResourceTypes(ctx, s.actor)
		return err
	},
	"Resources": func(ctx context.Context, a *all.Services, s *scene) error {
		_, _, err := a.Resource.Resources(ctx, s.actor, resource.Filter{})
		return err
	},
	"Resource": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Resource.Resource(ctx, s.actor, s.resource())
		return err
	},
	"ResourceFiles": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Resource.ResourceFiles(ctx, s.actor, s.resource(), 1)
		return err
	},
	"DiffResource": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Resource.DiffResource(ctx, s.actor, s.resource(), 1, 2)
		return err
	},
	"OpenResource": func(ctx context.Context, a *all.Services, s *scene) error {
		_, _, r, err := a.Resource.OpenResource(ctx, s.actor, s.resource(), 1, 0)
		if err == nil {
			_, err = io.Copy(io.Discard, r)
			_ = r.Close()
		}
		return err
	},
	"PushResource": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Resource.PushResource(ctx, s.actor, resource.Push{ID: resource.ID{Family: resource.ForAutomator, Member: "shell", Type: "file", Name: s.fresh("pushed")}}, strings.NewReader("x"))
		return err
	},
	"ImportResource": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Resource.ImportResource(ctx, s.actor, resource.Push{ID: resource.ID{Family: resource.ForAutomator, Member: "shell", Type: "archive", Name: s.fresh("imported")},
			Source: resource.Source{Git: "https://127.0.0.1:1/none.git", Ref: "v1"}})
		if app.AsError(err).Field == "git" { // let in as far as to where no one answers
			err = nil
		}
		return err
	},
	"StageResource": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Resource.StageResource(ctx, s.actor, s.resource(), 2)
		return err
	},
	"RecallResource": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Resource.RecallResource(ctx, s.actor, s.resource(), 1)
		return err
	},
	"SyncResources": func(ctx context.Context, a *all.Services, s *scene) error {
		id := s.resource()
		_, err := s.server.Services.Resource.StageResource(s.t.Context(), s.boss(), id, 2)
		s.must(err)
		s.used = false // it is of all resources of the actor's own tenant, and of no single one
		_, err = a.Resource.SyncResources(ctx, s.actor, resource.Filter{}, false)
		return err
	},
	"DeleteResource": func(ctx context.Context, a *all.Services, s *scene) error {
		return a.Resource.DeleteResource(ctx, s.actor, s.resource(), 2)
	},
}
