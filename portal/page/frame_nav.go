package page

import (
	"slices"
	"strconv"
)

// NavItem is an entry of the main navigation.
type NavItem struct {
	Path, Name, At string
	Counts         string // what the number counts, for scripts; "" without a number
	Count          int
}

// Nav is the main navigation.
func (f Frame) Nav() []NavItem {
	all := []NavItem{{Path: "/", Name: "Home", At: "home"}, {Path: "/clusters", Name: "Clusters", At: "clusters"}, {Path: "/templates", Name: "Catalog", At: "templates"},
		{Path: "/requests", Name: "Requests", At: "requests", Counts: "requests", Count: f.Inbox},
		{Path: "/manual-steps", Name: "Manual steps", At: "questions", Counts: "questions", Count: f.Asked}}
	if f.May("Activity") {
		all = append(all, NavItem{Path: "/activity", Name: "Activity", At: "activity"})
	}
	if f.May("Usage") {
		all = append(all, NavItem{Path: "/usage", Name: "Usage", At: "usage"})
	}
	if len(f.Sections()) > 0 {
		all = append(all, NavItem{Path: "/admin", Name: "Admin", At: "admin"})
	}
	return all
}

// countText is a number in a small space.
func countText(n int) string {
	if n > 99 {
		return "99+"
	}
	return strconv.Itoa(n)
}

// SideGroups are the groups of the side navigation; none outside admin pages.
func (f Frame) SideGroups() (groups []string) {
	if f.Side == "" || f.Actor == nil {
		return nil
	}
	for _, g := range SectionGroups {
		if len(f.SectionsOf(g)) > 0 {
			groups = append(groups, g)
		}
	}
	return groups
}

// Section is an admin page.
type Section struct {
	Path    string
	Name    string
	Text    string // its purpose
	Group   string // one of SectionGroups
	UseCase string // the permission needed to see it
	Open    int    // number of items waiting
}

// The groups of sections, in order.
const (
	GroupCatalog      = "Catalog"
	GroupPeople       = "Access and policies"
	GroupMoney        = "Operations and cost"
	GroupConnections  = "Integrations"
	GroupInstallation = "Installation"
)

// SectionGroups are the groups in order.
var SectionGroups = []string{GroupCatalog, GroupPeople, GroupMoney, GroupConnections, GroupInstallation}

// Sections are the sections that the actor can see.
func (f Frame) Sections() []Section {
	return slices.DeleteFunc(slices.Clone(f.All), func(s Section) bool { return !f.May(s.UseCase) })
}

// SectionsOf are the sections of a group.
func (f Frame) SectionsOf(group string) []Section {
	return slices.DeleteFunc(f.Sections(), func(s Section) bool { return s.Group != group })
}
