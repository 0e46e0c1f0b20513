package page

import (
	"slices"
)

// NavItem is an entry of the bar above every page.
type NavItem struct {
	Path, Name, At string
	Counts         string // what its number counts, so that a script may change it; "" without a number
	Count          int
}

// Nav is what the actor may go to from everywhere.
func (f Frame) Nav() []NavItem {
	all := []NavItem{{Path: "/", Name: "Home", At: "home"}, {Path: "/clusters", Name: "Clusters", At: "clusters"}, {Path: "/templates", Name: "Catalog", At: "templates"},
		{Path: "/requests", Name: "Requests", At: "requests", Counts: "requests", Count: f.Inbox},
		{Path: "/questions", Name: "Questions", At: "questions", Counts: "questions", Count: f.Asked}}
	if f.May("Usage") {
		all = append(all, NavItem{Path: "/usage", Name: "Usage", At: "usage"})
	}
	if len(f.Sections()) > 0 {
		all = append(all, NavItem{Path: "/admin", Name: "Admin", At: "admin"})
	}
	return all
}

// SideGroups are the groups of the side navigation; none but on pages for admins.
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

// Section is a page for those who look after a tenant or the installation.
type Section struct {
	Path    string
	Name    string
	Text    string // what it is for, in a sentence
	Group   string // one of SectionGroups
	UseCase string // who may this may see it
	Open    int    // how many things there wait for someone
}

// The groups of sections, in the order in which they are shown.
const (
	GroupCatalog      = "Catalog"
	GroupPeople       = "People and rules"
	GroupMoney        = "Work and money"
	GroupConnections  = "Connections"
	GroupInstallation = "Installation"
)

// SectionGroups are the groups in order.
var SectionGroups = []string{GroupCatalog, GroupPeople, GroupMoney, GroupConnections, GroupInstallation}

// Sections are those that the actor may see.
func (f Frame) Sections() []Section {
	return slices.DeleteFunc(slices.Clone(f.All), func(s Section) bool { return !f.May(s.UseCase) })
}

// SectionsOf are those of a group.
func (f Frame) SectionsOf(group string) []Section {
	return slices.DeleteFunc(f.Sections(), func(s Section) bool { return s.Group != group })
}
