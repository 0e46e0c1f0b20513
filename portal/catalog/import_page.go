package catalog

import (
	"strconv"

	"muster/app/catalog"
	"muster/app/humanize"
	"muster/portal/page"
)

// Import is the state of an import.
type Import struct {
	Files   []ImportFile
	Packed  string // all of them, for the next step
	Passed  int    // skipped files of archives
	Pasted  string
	Prune   bool
	Note    string
	AsOf    string
	Report  catalog.Report
	Sent    bool
	Checked bool
	Done    bool
	Problem page.Complaint
}

// ImportFile is an uploaded file.
type ImportFile struct {
	Name string
	Size int
}

func itoa(n int) string { return strconv.Itoa(n) }

func (i Import) of(act string) (out []catalog.Edit) {
	for _, c := range i.Report.Changes {
		if c.Act == act {
			out = append(out, c)
		}
	}
	return out
}

func actTitle(act string) string {
	switch act {
	case "add":
		return "added"
	case "change":
		return "changed"
	}
	return "removed"
}

func actMark(act string) string {
	switch act {
	case "add":
		return "succeeded"
	case "change":
		return "running"
	}
	return "failed"
}

func kib(n int) string {
	if n < 1024 {
		return humanize.CountOf(n, "byte", "bytes")
	}
	return strconv.Itoa((n+512)/1024) + " KiB"
}
