package resource

import (
	"fmt"
	"strconv"
	"time"

	"muster/app/humanize"
	"muster/app/resource"
	"muster/portal/page"
)

// List is the list of a tenant's resources.
type List struct {
	Now       time.Time
	Types     []resource.Types
	Resources []resource.Info
	Sync      resource.Sync // what the next sync would change
	Search    string
	Next      string // URL of the next page; "" for none
	Form      Form
}

// Show is the page of one resource.
type Show struct {
	Now      time.Time
	Resource resource.Info
	Form     Form
}

// Diff is the comparison of two versions.
type Diff struct {
	Resource resource.Info
	Diff     resource.Diff
}

// Form is the form for a new version.
type Form struct {
	Type, Name, Note                   string // Type is member/type
	Stage                              bool
	Git, Ref, Folder, Secret, ImportTo string // ImportTo is the name of the imported resource
	Field                              string // of the complaint
	Complaint                          page.Complaint
}

// Error returns a field's complaint.
func (f Form) Error(field string) page.Complaint {
	if f.Field == field {
		return f.Complaint
	}
	return page.Complaint{}
}

func resourceAddress(id resource.ID, rest string) string {
	return "/admin/resources/" + id.Path() + rest
}

func versionAddress(id resource.ID, number int64, rest string) string {
	return resourceAddress(id, "/versions/"+strconv.FormatInt(number, 10)+rest)
}

func resourceMark(s resource.State) string {
	switch s {
	case resource.StateActive:
		return "succeeded"
	case resource.StateStaged:
		return "ready"
	case resource.StateRecalled:
		return "asked"
	}
	return "dropped"
}

// useMark is a resource's state.
func useMark(r resource.Info) (mark, word string) {
	switch {
	case r.Staged > 0 && r.Active > 0:
		return "ready", fmt.Sprintf("Version %d active, %d staged", r.Active, r.Staged)
	case r.Staged > 0:
		return "ready", fmt.Sprintf("Version %d staged", r.Staged)
	case r.Recall:
		return "asked", fmt.Sprintf("Version %d recalled", r.Active)
	case r.Active > 0:
		return "succeeded", fmt.Sprintf("Version %d active", r.Active)
	}
	return "dropped", "Inactive"
}

func switchWords(c resource.VersionSwitch) string {
	switch {
	case c.From == 0:
		return fmt.Sprintf("activates version %d", c.To)
	case c.To == 0:
		return fmt.Sprintf("deactivates version %d", c.From)
	}
	return fmt.Sprintf("replaces version %d with %d", c.From, c.To)
}

func originWords(s resource.Source) string {
	switch {
	case s.Git != "" && s.Folder != "":
		return fmt.Sprintf("%s of %s at %s", s.Folder, s.Git, s.Ref)
	case s.Git != "":
		return s.Git + " at " + s.Ref
	case s.File != "":
		return s.File
	}
	return "upload"
}

func hashStart(hash string) string { return hash[:min(12, len(hash))] }

// before is the newest version before one that is not deleted; 0 for none.
func (s Show) before(number int64) int64 {
	for _, v := range s.Resource.Versions {
		if v.Number < number && v.DeletedAt.IsZero() {
			return v.Number
		}
	}
	return 0
}

func changeWord(c resource.Change) (mark, word string) {
	switch {
	case c.Before == nil:
		return "succeeded", "added"
	case c.After == nil:
		return "dropped", "removed"
	}
	return "ready", "changed"
}

func fileWords(f *resource.File) string {
	switch {
	case f == nil:
		return ""
	case f.Link != "":
		return "link to " + f.Link
	}
	return fmt.Sprintf("%s, mode %04o", humanize.Bytes(f.Size), f.Mode)
}

func kindWords(id resource.ID) string { return id.Type + " for " + id.Member }
