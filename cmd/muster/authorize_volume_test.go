package main

import (
	"context"
	"time"

	"muster/app"
	"muster/app/all"
	"muster/app/store/db"
	"muster/app/template"
	"muster/app/volume"
)

// volume makes one of the scene's owner: of a node, or a kept one.
func (s *scene) volume(kept bool) string {
	s.used = true
	of := s.fresh("of")
	if s.locked { // volumes that are in no cluster aren't locked
		of, kept = s.cluster(), false
	}
	v := template.NodeVolume{Service: "db", Volume: template.Volume{Name: "data", SizeGB: 1, Mount: "/srv/data"}}
	list, err := s.server.Store.WantVolumes(s.t.Context(), volume.Wanted{Tenant: s.tenant, Provider: "sandbox", Cluster: of, Node: "n1", Owner: s.owner,
		Volumes: []template.NodeVolume{v}, Now: time.Now()})
	s.must(err)
	if s.locked {
		s.must(s.server.Store.Write(s.t.Context(), func(t *db.Tx) error {
			return t.Exec(`UPDATE volumes SET state = 'attached', volume = 'v' WHERE id = ?`, list[0].ID)
		}))
	}
	if kept {
		s.must(s.server.Store.Write(s.t.Context(), func(t *db.Tx) error {
			return t.Exec(`UPDATE volumes SET state = 'kept', volume = 'v', kept_cluster = cluster, cluster = '' WHERE id = ?`, list[0].ID)
		}))
	}
	return list[0].ID
}

// Volumes, in the matrix.
var volumeTries = map[string]func(ctx context.Context, a *all.Services, s *scene) error{
	"Volumes": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Volume.Volumes(ctx, s.actor, volume.Filter{})
		return err
	},
	"Volume": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Volume.Volume(ctx, s.actor, s.volume(true))
		return err
	},
	"ChooseVolumes": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Cluster.Deletes.DeleteClusterWith(ctx, s.actor, s.cluster(), template.VolumeKeep)
		return err
	},
	"DeleteVolume": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Volume.DeleteVolume(ctx, s.actor, s.volume(true))
		return err
	},
	"ExtendVolume": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Volume.ExtendVolume(ctx, s.actor, s.volume(true), time.Hour)
		return err
	},
	"ForgetVolume": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Volume.ForgetVolume(ctx, s.actor, s.volume(false))
		return err
	},
	"Snapshots": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Volume.Snapshots(ctx, s.actor, volume.SnapshotFilter{})
		return err
	},
	"CreateSnapshot": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Volume.CreateSnapshot(ctx, s.actor, s.volume(true), 0)
		return err
	},
	"Snapshot": func(ctx context.Context, a *all.Services, s *scene) error {
		made, err := s.server.Store.CreateSnapshot(ctx, app.Actor{Tenant: s.tenant, User: s.owner}, s.volume(true), 1, time.Now())
		s.must(err)
		_, err = a.Volume.Snapshot(ctx, s.actor, made.ID)
		return err
	},
	"DeleteClusterWith": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Cluster.Deletes.DeleteClusterWith(ctx, s.actor, s.cluster(), template.VolumeKeep)
		return err
	},
	"SetSnapshots": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Volume.SetSnapshots(ctx, s.actor, s.volume(true), template.Snapshots{Every: "24h", Keep: 1})
		return err
	},
	"DeleteSnapshot": func(ctx context.Context, a *all.Services, s *scene) error {
		made, err := s.server.Store.CreateSnapshot(ctx, app.Actor{Tenant: s.tenant, User: s.owner}, s.volume(true), 1, time.Now())
		s.must(err)
		_, err = a.Volume.DeleteSnapshot(ctx, s.actor, made.ID)
		return err
	},
	"UseVolume": func(ctx context.Context, a *all.Services, s *scene) error {
		id := s.volume(true)
		if s.locked {
			made, err := s.server.Store.CreateSnapshot(ctx, app.Actor{Tenant: s.tenant, User: s.owner}, id, 1, time.Now())
			s.must(err)
			id = made.ID
		}
		_, err := volume.CheckUses(ctx, s.server.Store, s.actor, "sandbox", []volume.Planned{{Node: "n1", Reuses: id}})
		return err
	},
}
