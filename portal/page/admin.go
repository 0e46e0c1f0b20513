package page

import "slices"

// Section is a page for those who look after a tenant or the installation.
type Section struct {
	Path    string
	Name    string
	Text    string // what it is for, in a sentence
	Group   string // one of SectionGroups
	UseCase string // who may this may see it
	Open    int    // how many things there wait for somebody
}

// The groups of sections, in the order in which they are shown.
const (
	GroupPeople       = "People and rules"
	GroupMoney        = "Work and money"
	GroupInstallation = "The installation"
)

// SectionGroups are the groups in order.
var SectionGroups = []string{GroupMoney, GroupPeople, GroupInstallation}

// Sections are those that the actor may see.
func (f Frame) Sections() []Section {
	return slices.DeleteFunc(slices.Clone(f.All), func(s Section) bool { return !f.May(s.UseCase) })
}

// SectionsOf are those of a group.
func (f Frame) SectionsOf(group string) []Section {
	return slices.DeleteFunc(f.Sections(), func(s Section) bool { return s.Group != group })
}
