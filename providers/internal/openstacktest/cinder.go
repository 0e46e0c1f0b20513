package openstacktest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"
	"unicode/utf8"
)

type volume struct {
	size               int
	name, kind, status string
	zone               string
	metadata           map[string]string
	server, device     string    // that has it
	at                 time.Time // when the running change ends
	made               time.Time
	born               time.Time
	source             string // the volume that it is a copy of
	spoiled            bool   // it ends in error
}

// changeVolumes ends what was begun.
func (c *Cloud) changeVolumes() {
	for id, v := range c.volumes {
		if time.Now().Before(v.at) {
			continue
		}
		switch v.status {
		case "creating":
			v.status = "available"
			if c.NoDisks || v.spoiled {
				v.status = "error"
			}
		case "attaching":
			v.status = "in-use"
			if s := c.servers[v.server]; s != nil {
				v.device = "/dev/" + c.Bus + string(rune('b'+len(s.volumes)))
				s.volumes = append(s.volumes, id)
			} else {
				v.server, v.status = "", "available"
			}
		case "detaching":
			c.unhook(id)
		case "deleting":
			if c.SpoilDeletes > 0 {
				c.SpoilDeletes--
				v.status = "error_deleting"
				continue
			}
			delete(c.volumes, id)
		}
	}
}

// unhook takes a volume off its server.
func (c *Cloud) unhook(id string) {
	v := c.volumes[id]
	if s := c.servers[v.server]; s != nil {
		s.volumes = slices.DeleteFunc(s.volumes, func(one string) bool { return one == id })
	}
	v.server, v.device, v.status = "", "", "available"
}

// cinder is what a project may ask about volumes.
type cinder struct{ *Cloud }

func (c cinder) routes(mux *http.ServeMux) {
	const at = "/volume/v3/" + ProjectID
	mux.HandleFunc("GET "+at+"/limits", c.guarded(func(w http.ResponseWriter, _ *http.Request) {
		u := c.used()
		answer(w, http.StatusOK, object{"limits": object{"rate": []any{}, "absolute": object{"maxTotalVolumes": c.Limits.Volumes, "totalVolumesUsed": u.Volumes,
			"maxTotalVolumeGigabytes": c.Limits.VolumeGB, "totalGigabytesUsed": u.VolumeGB}}})
	}))
	mux.HandleFunc("GET "+at+"/types", c.guarded(func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusOK, object{"volume_types": []object{
			{"id": newID(), "name": "__DEFAULT__", "is_public": true, "extra_specs": object{}}, {"id": newID(), "name": "ssd", "is_public": true, "extra_specs": object{}}}})
	}))
	mux.HandleFunc("GET "+at+"/os-availability-zone", c.guarded(func(w http.ResponseWriter, _ *http.Request) {
		all := []any{}
		for _, name := range c.DiskZones {
			all = append(all, object{"zoneName": name, "zoneState": object{"available": true}})
		}
		answer(w, http.StatusOK, object{"availabilityZoneInfo": all})
	}))
	mux.HandleFunc("POST "+at+"/volumes", c.guarded(c.makeVolume))
	mux.HandleFunc("GET "+at+"/volumes/detail", c.guarded(func(w http.ResponseWriter, r *http.Request) {
		var all []object
		for id, v := range c.volumes {
			if time.Since(v.born) >= c.Lag {
				all = append(all, c.shown(id, v))
			}
		}
		c.page(w, r, "volumes", all)
	}))
	mux.HandleFunc("GET "+at+"/volumes/{id}", c.guarded(c.oneVolume))
	mux.HandleFunc("DELETE "+at+"/volumes/{id}", c.guarded(c.oneVolume))
}

func (c cinder) shown(id string, v *volume) object {
	attachments := []object{}
	if v.server != "" && v.status != "attaching" {
		attachments = append(attachments, object{"id": id, "volume_id": id, "attachment_id": newID(), "server_id": v.server, "host_name": nil,
			"device": v.device, "attached_at": "2026-01-02T03:04:05.000000"})
	}
	metadata := v.metadata
	if metadata == nil {
		metadata = map[string]string{}
	}
	return object{"id": id, "status": v.status, "size": v.size, "volume_type": v.kind, "name": v.name, "description": nil,
		"created_at": v.made.Format("2006-01-02T15:04:05.000000"),
		"updated_at": nil, "metadata": metadata, "attachments": attachments, "availability_zone": v.zone, "bootable": "false", "encrypted": false,
		"multiattach": false, "snapshot_id": nil, "source_volid": v.source,
		"consistencygroup_id": nil, "replication_status": nil, "user_id": ProjectID, "links": []any{}}
}

func (c cinder) oneVolume(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	v := c.volumes[id]
	switch {
	case v == nil:
		novaError(w, http.StatusNotFound, "Volume "+id+" could not be found.")
	case r.Method == http.MethodDelete && !slices.Contains([]string{"available", "error", "error_deleting"}, v.status):
		novaError(w, http.StatusBadRequest, "Invalid volume: Volume status must be available or error or error_restoring or error_extending or "+
			"error_managing and must not be migrating, attached, belong to a group, have snapshots or be disassociated from snapshots after volume transfer.")
	case r.Method == http.MethodDelete:
		v.status, v.at = "deleting", time.Now().Add(c.build)
		w.WriteHeader(http.StatusAccepted)
	default:
		answer(w, http.StatusOK, object{"volume": c.shown(id, v)})
	}
}

func (c cinder) makeVolume(w http.ResponseWriter, r *http.Request) {
	var raw struct{ Volume map[string]json.RawMessage }
	var in struct {
		Size     int
		Name     string
		Type     string `json:"volume_type"`
		Zone     string `json:"availability_zone"`
		Metadata map[string]string
		Source   string `json:"source_volid"`
	}
	if err := json.NewDecoder(r.Body).Decode(&raw); err != nil || raw.Volume == nil {
		novaError(w, http.StatusBadRequest, "Malformed request body")
		return
	}
	if k := unknown(raw.Volume, "size", "name", "volume_type", "availability_zone", "metadata", "source_volid"); k != "" {
		novaError(w, http.StatusBadRequest, "Additional properties are not allowed ('"+k+"' was unexpected)")
		return
	}
	whole, _ := json.Marshal(raw.Volume)
	if err := json.Unmarshal(whole, &in); err != nil || in.Size < 1 || utf8.RuneCountInString(in.Name) > 255 {
		novaError(w, http.StatusBadRequest, "Invalid input for field/attribute volume.")
		return
	}
	for k, v := range in.Metadata {
		if k == "" || utf8.RuneCountInString(k) > 255 || utf8.RuneCountInString(v) > 255 {
			novaError(w, http.StatusBadRequest, "Invalid input for field/attribute metadata.")
			return
		}
	}
	if in.Type != "" && in.Type != "ssd" && in.Type != "__DEFAULT__" {
		novaError(w, http.StatusNotFound, "Volume type with name "+in.Type+" could not be found.")
		return
	}
	spoiled := in.Source != "" && c.SpoilCopies > 0
	if of := c.volumes[in.Source]; in.Source != "" {
		if status, why := c.refuseCopy(in.Source, of, in.Size, in.Type, in.Zone); status != 0 {
			novaError(w, status, why)
			return
		}
		in.Zone, in.Type = of.zone, of.kind
	}
	if in.Zone == "" || in.Zone == "nova" {
		in.Zone = "nova"
	} else if !slices.Contains(c.DiskZones, in.Zone) {
		novaError(w, http.StatusBadRequest, "Availability zone '"+in.Zone+"' is invalid.")
		return
	}
	u := c.used()
	if u.Volumes+1 > c.Limits.Volumes {
		novaError(w, http.StatusRequestEntityTooLarge,
			fmt.Sprintf("VolumeLimitExceeded: Maximum number of volumes allowed (%d) exceeded for quota 'volumes'.", c.Limits.Volumes))
		return
	}
	if u.VolumeGB+in.Size > c.Limits.VolumeGB {
		novaError(w, http.StatusRequestEntityTooLarge, fmt.Sprintf(
			"VolumeSizeExceedsAvailableQuota: Requested volume or snapshot exceeds allowed gigabytes quota. Requested %dG, quota is %dG and %dG has been consumed.",
			in.Size, c.Limits.VolumeGB, u.VolumeGB))
		return
	}
	id := newID()
	c.volumes[id] = &volume{size: in.Size, name: in.Name, kind: in.Type, status: "creating", zone: in.Zone, metadata: in.Metadata, at: time.Now().Add(c.build),
		made: time.Now().UTC(), born: time.Now(), source: in.Source, spoiled: spoiled}
	if spoiled {
		c.SpoilCopies--
	}
	answer(w, http.StatusAccepted, object{"volume": c.shown(id, c.volumes[id])})
}

// hook attaches a volume to a server, as Nova does it.
func (c nova) hook(w http.ResponseWriter, r *http.Request) {
	s := c.serverOf(w, r)
	if s == nil {
		return
	}
	var in struct {
		Attachment map[string]json.RawMessage `json:"volumeAttachment"`
	}
	var id string
	err := json.NewDecoder(r.Body).Decode(&in)
	if err != nil || unknown(in.Attachment, "volumeId", "device") != "" || json.Unmarshal(in.Attachment["volumeId"], &id) != nil {
		novaError(w, http.StatusBadRequest, "Invalid input for field/attribute volumeAttachment.")
		return
	}
	v := c.volumes[id]
	switch {
	case v == nil:
		novaError(w, http.StatusNotFound, "Volume "+id+" could not be found.")
	case s.status != "ACTIVE" && s.status != "SHUTOFF" || s.task != "":
		novaError(w, http.StatusConflict, fmt.Sprintf("Cannot 'attach_volume' instance %s while it is in task_state %s", s.id, s.task))
	case v.status == "in-use":
		novaError(w, http.StatusBadRequest, "Invalid volume: volume "+id+" is already attached to instances: "+v.server)
	case v.status != "available":
		novaError(w, http.StatusBadRequest, "Invalid volume: volume '"+id+"' status must be 'available'. Currently in '"+v.status+"'")
	case slices.Contains(c.DiskZones, v.zone) && v.zone != s.zone:
		novaError(w, http.StatusBadRequest, fmt.Sprintf(
			"Invalid volume: Instance %s and volume %s are not in the same availability_zone. Instance is in %s. Volume is in %s", s.id, id, s.zone, v.zone))
	default:
		v.status, v.server, v.at = "attaching", s.id, time.Now().Add(c.build)
		answer(w, http.StatusOK, object{"volumeAttachment": object{"id": id, "volumeId": id, "serverId": s.id, "device": "/dev/" + c.Bus + "b"}})
	}
}

func (c nova) unhookVolume(w http.ResponseWriter, r *http.Request) {
	s := c.serverOf(w, r)
	if s == nil {
		return
	}
	id := r.PathValue("volume")
	v := c.volumes[id]
	switch {
	case v == nil || v.server != s.id:
		novaError(w, http.StatusNotFound, "Instance "+s.id+" is not attached to volume "+id+".")
	case s.task != "":
		novaError(w, http.StatusConflict, fmt.Sprintf("Cannot 'detach_volume' instance %s while it is in task_state %s", s.id, s.task))
	case v.status != "in-use":
		novaError(w, http.StatusBadRequest, "Invalid volume: Invalid input received: Invalid volume: Unable to detach volume. "+
			"Volume status must be 'in-use' and attach_status must be 'attached' to detach.")
	default:
		v.status, v.at = "detaching", time.Now().Add(c.build)
		w.WriteHeader(http.StatusAccepted)
	}
}

// refuseCopy returns why a volume can't be made of another one, as cinder/volume/flows/api/create_volume.py has it.
func (c cinder) refuseCopy(id string, of *volume, size int, kind, zone string) (status int, why string) {
	switch {
	case of == nil:
		return http.StatusNotFound, "Volume " + id + " could not be found."
	case of.status != "available" && of.status != "in-use":
		return http.StatusBadRequest, "Invalid volume: Originating volume status must be one of 'available, in-use' values"
	case size < of.size:
		return http.StatusBadRequest, fmt.Sprintf("Invalid input received: Volume size '%d'GB cannot be smaller than original volume size  %dGB. "+
			"They must be >= original volume size.", size, of.size)
	case kind != "" && kind != of.kind:
		return http.StatusBadRequest, "Invalid input received: Invalid volume_type provided: " + kind +
			" (requested type is not compatible; either match source volume, or omit type argument)."
	case zone != "" && zone != of.zone:
		return http.StatusBadRequest, "Invalid input received: Invalid availability zone. " +
			"Volume must be in the same availability zone as the source volume"
	}
	return 0, ""
}

// SourceOf returns the volume that a volume is a copy of.
func (c *Cloud) SourceOf(id string) (source string) {
	c.With(func(c *Cloud) {
		if v := c.volumes[id]; v != nil {
			source = v.source
		}
	})
	return source
}

// SetStatus sets a volume's status, until back is called.
func (c *Cloud) SetStatus(id, status string) (back func()) {
	set := func(v *volume, status string, at time.Time) { v.status, v.at = status, at }
	var was volume
	c.With(func(c *Cloud) { was = *c.volumes[id]; set(c.volumes[id], status, time.Now().Add(time.Hour)) })
	return func() { c.With(func(c *Cloud) { set(c.volumes[id], was.status, was.at) }) }
}
