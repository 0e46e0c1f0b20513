package openstack

import (
	"context"
	"net/http"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack/blockstorage/v3/volumes"
	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/servers"
	"muster/app"
	"muster/app/family"
)

// volumeTypes is the first version of Nova's interface in which a disk may name its type. From 2.37 on, a server must say which networks it is on.
const volumeTypes = "2.67"

// makeServer sends the one call that makes a server, and returns its id.
func makeServer(ctx context.Context, s *Session, o servers.CreateOpts) (string, error) {
	c := *s.Compute
	for _, d := range o.BlockDevice {
		if d.VolumeType != "" {
			c.Microversion = volumeTypes
			if o.Networks == nil {
				o.Networks = "auto"
			}
		}
	}
	made, err := servers.Create(ctx, &c, o, nil).Extract()
	if err != nil {
		return "", err
	}
	return made.ID, nil
}

// Disks are a server's, where the flavor's own will not do.
type Disks struct {
	BootGB   int    // 0: the flavor's disk
	BootType string // "" leaves it to the cloud
	DataGB   int    // 0: none
}

// Put has a server boot from the image, with the disks. What is made for it goes with it.
func (d Disks) Put(o *servers.CreateOpts, image string) {
	o.ImageRef = image
	if d.BootGB == 0 && d.DataGB == 0 {
		return
	}
	boot := servers.BlockDevice{SourceType: servers.SourceImage, UUID: image, DestinationType: servers.DestinationLocal, DeleteOnTermination: true}
	if d.BootGB > 0 {
		boot.DestinationType, boot.VolumeSize, boot.VolumeType = servers.DestinationVolume, d.BootGB, d.BootType
		o.ImageRef = "" // or Nova makes a local disk beside it
	}
	o.BlockDevice = []servers.BlockDevice{boot}
	if d.DataGB > 0 {
		o.BlockDevice = append(o.BlockDevice, servers.BlockDevice{SourceType: servers.SourceBlank, DestinationType: servers.DestinationVolume, VolumeSize: d.DataGB,
			BootIndex: -1, DeleteOnTermination: true})
	}
}

// placed waits until a server has a host and addresses, or failed to get them: then the error says why, and the server is there still. Where that
// takes too long the server is given as it is.
func placed(ctx context.Context, s *Session, p Pace, id string) (*Server, error) {
	var last *Server
	_, err := p.Until(ctx, func() (bool, error) {
		var err error
		if last, err = Get(ctx, s, id); err != nil {
			if Absent(err) {
				return false, app.Errorf(app.ETransient, "server %s disappeared while it was being built", id)
			}
			return false, err
		}
		if last.Status == "ERROR" {
			return false, last.Failed()
		}
		return last.Status != "BUILD" || len(last.Addresses) > 0, nil
	})
	return last, err
}

// deletes is how often a deletion is requested again that ended in a failure of the server.
const deletes = 2

// Remove deletes a server, does what else is to be done meanwhile, and waits until server and volumes are gone. An absent server is success.
func Remove(ctx context.Context, s *Session, p Pace, id string, meanwhile func() error) error {
	if !IsID(id) {
		return nil // no cloud can have made it
	}
	one, err := Get(ctx, s, id)
	if err != nil && !Absent(err) {
		return err
	}
	if err == nil && !one.going() {
		if err := servers.Delete(ctx, s.Compute, id).ExtractErr(); err != nil && !Absent(err) {
			return err
		}
	}
	if err := meanwhile(); err != nil || one == nil {
		return err
	}
	again := 0
	gone, err := p.Until(ctx, func() (bool, error) {
		now, err := Get(ctx, s, id)
		if Absent(err) {
			return true, nil
		}
		if err == nil && now.Status == "ERROR" && now.TaskState == "" && again < deletes {
			again++ // the deletion may have been overtaken by the end of a build that failed
			if err := servers.Delete(ctx, s.Compute, id).ExtractErr(); err != nil && !Absent(err) {
				return false, err
			}
			return false, nil
		}
		if err == nil && len(now.Volumes) > len(one.Volumes) {
			one.Volumes = now.Volumes // they came between the look and the deletion
		}
		if err == nil && now.Status == "ERROR" && now.TaskState == "" {
			return false, app.Errorf(app.ETransient, "the cloud failed to delete server %s: %s", id, Plain(now.Fault.Message))
		}
		return false, err
	})
	if err != nil {
		return err
	}
	if !gone {
		return app.Errorf(app.ETimeout, "server %s is still being deleted", id)
	}
	for _, v := range one.Volumes {
		if v.Ours && s.Volume != nil {
			if err := removeVolume(ctx, s, p, v.ID); err != nil {
				return err
			}
		}
	}
	return nil
}

// removeVolume deletes a volume that Nova should have deleted with its server, which it does not where Cinder fails just then.
func removeVolume(ctx context.Context, s *Session, p Pace, id string) error {
	gone, err := p.Until(ctx, func() (bool, error) {
		v, err := volumes.Get(ctx, s.Volume, id).Extract()
		switch {
		case gophercloud.ResponseCodeIs(err, http.StatusNotFound):
			return true, nil
		case err != nil:
			return false, err
		case v.Status == "available", v.Status == "error", v.Status == "error_deleting":
			if err := volumes.Delete(ctx, s.Volume, id, volumes.DeleteOpts{}).ExtractErr(); err != nil && !Absent(err) {
				return false, err
			}
		}
		return false, nil
	})
	if err == nil && !gone {
		err = app.Errorf(app.ETimeout, "the server's volume %s still exists", id)
	}
	return err
}

// Sleep stops a server.
func Sleep(ctx context.Context, s *Session, id string) error {
	one, err := Get(ctx, s, id)
	if err != nil {
		return err
	}
	if one.going() {
		return app.Errorf(app.ENotFound, "server %s is being deleted", id)
	}
	if one.Status == "SHUTOFF" || one.TaskState == "powering-off" {
		return nil
	}
	if one.Status == "BUILD" {
		return app.Errorf(app.ETransient, "server %s is still being built and can't be stopped yet", id)
	}
	return unless(ctx, s, id, servers.Stop(ctx, s.Compute, id).ExtractErr(), func(now *Server) bool { return now.Status == "SHUTOFF" || now.TaskState == "powering-off" })
}

// unless forgives a conflict where someone else brought the server to where it was to be brought, a moment before.
func unless(ctx context.Context, s *Session, id string, err error, there func(*Server) bool) error {
	if !gophercloud.ResponseCodeIs(err, http.StatusConflict) {
		return err
	}
	if now, e := Get(ctx, s, id); e == nil && there(now) {
		return nil
	}
	return err
}

// Wake starts a server that was stopped, or that is just being stopped.
func Wake(ctx context.Context, s *Session, p Pace, id string) error {
	up, err := p.Until(ctx, func() (bool, error) {
		one, err := Get(ctx, s, id)
		switch {
		case err != nil:
			return false, err
		case one.going():
			return false, app.Errorf(app.ENotFound, "server %s is being deleted", id)
		case one.TaskState == "powering-off":
			return false, nil
		case one.Status == "SHUTOFF" && one.TaskState != "powering-on":
			return true, unless(ctx, s, id, servers.Start(ctx, s.Compute, id).ExtractErr(), func(now *Server) bool { return now.Status == "ACTIVE" || now.TaskState == "powering-on" })
		case one.state() == family.MachineStopped && one.Status != "SHUTOFF":
			e := app.Errorf(app.EConflict, "server %s is %s and can't be started", id, one.Status)
			e.Hint = "Restore the server in the cloud: Muster only stops and starts servers."
			return false, e
		}
		return true, nil
	})
	if err == nil && !up {
		err = app.Errorf(app.ETimeout, "server %s is still stopping", id)
	}
	return err
}
