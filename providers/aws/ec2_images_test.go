package aws

import (
	"net/url"
	"regexp"
	"slices"
	"time"
)

// stateIn is an image's state now: one of an instance is pending for as long as an instance's start takes.
func (i *simImage) stateIn(s *simulated) string {
	if !i.at.IsZero() && time.Since(i.at) < s.boot+s.lag {
		return "pending"
	}
	return i.state
}

var imageNameForm = regexp.MustCompile(`^[a-zA-Z0-9()\[\] ./'@_-]{3,128}$`)

// createImage makes an image of an instance's root disk.
func (s *simulated) createImage(f url.Values) (string, error) {
	named, err := s.known(url.Values{"InstanceId.1": {f.Get("InstanceId")}})
	if err != nil {
		return "", err
	}
	m := named[0]
	_, state := m.state(s)
	base := s.imageNamed(m.image)
	name := f.Get("Name")
	switch {
	case !imageNameForm.MatchString(name):
		return "", no("InvalidAMIName.Malformed", "AMI names must be between 3 and 128 characters long")
	case slices.ContainsFunc(s.images, func(i simImage) bool { return i.name == name && i.owner == "111111111111" }):
		return "", no("InvalidAMIName.Duplicate", "AMI name %s is already in use by AMI ami-x", name)
	case f.Get("NoReboot") == "true":
		return "", no("InvalidParameterValue", "Files that aren't on the disk yet would be missing.")
	case state != "running" && state != "stopped":
		return "", no("IncorrectState", "Instance %s is not in a valid state.", m.id)
	}
	i := simImage{id: s.id("ami"), name: name, owner: "111111111111", arch: m.arch, state: "available", root: m.root, size: base.size, at: time.Now(),
		made: time.Now().UTC().Format("2006-01-02T15:04:05.000Z")}
	left := map[string]bool{}
	each(f, "BlockDeviceMapping", func(get func(string) string, sub url.Values) {
		if !sub.Has("NoDevice") || get("DeviceName") == m.root {
			err = no("InvalidBlockDeviceMapping", "Only devices to leave out are expected.")
		}
		left[get("DeviceName")] = true
	})
	copied := &simCopy{id: s.id("snap"), of: "vol-ffffffff", size: base.size, made: time.Now()}
	each(f, "TagSpecification", func(get func(string) string, sub url.Values) {
		switch get("ResourceType") {
		case "image":
			i.tags = tagsIn(sub)
		case "snapshot":
			copied.tags = tagsIn(sub)
		default:
			err = no("InvalidParameterValue", "'%s' is not a valid taggable resource type for this operation.", get("ResourceType"))
		}
	})
	if err != nil {
		return "", err
	}
	i.copy = copied.id
	s.copies, s.images = append(s.copies, copied), append(s.images, i)
	return el("imageId", i.id), nil
}

// deregisterImage deletes an image, and the snapshot that it holds where that's asked for.
func (s *simulated) deregisterImage(f url.Values) (string, error) {
	id := f.Get("ImageId")
	i := s.imageNamed(id)
	if i == nil {
		return "", no("InvalidAMIID.NotFound", "The image id '[%s]' does not exist", id)
	}
	if i.owner != "111111111111" {
		return "", no("AuthFailure", "Not authorized for image:%s", id)
	}
	copied := i.copy
	s.images = slices.DeleteFunc(s.images, func(x simImage) bool { return x.id == id })
	results := ""
	if f.Get("DeleteAssociatedSnapshots") == "true" {
		code := "success"
		if s.spoil > 0 {
			s.spoil, code = s.spoil-1, "internal-error"
		} else {
			s.copies = slices.DeleteFunc(s.copies, func(x *simCopy) bool { return x.id == copied })
		}
		results = items("deleteSnapshotResultSet", []string{el("snapshotId", copied) + el("returnCode", code)})
	}
	return el("return", "true") + results, nil
}
