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

// Need is a number of things that want somebody's attention.
type Need struct {
	Count     int
	One, Many string // what they are, after the number
	Path      string // where to see to them
}

// Words are what they are.
func (n Need) Words() string {
	if n.Count == 1 {
		return n.One
	}
	return n.Many
}
