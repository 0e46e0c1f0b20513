package page

// NavItem is an entry of the bar above every page.
type NavItem struct {
	Path, Name, At string
	Counts         string // what its number counts, so that a script may change it; "" without a number
	Count          int
}

// Nav is what the actor may go to from everywhere.
func (f Frame) Nav() []NavItem {
	all := []NavItem{{Path: "/", Name: "Home", At: "home"}, {Path: "/clusters", Name: "Clusters", At: "clusters"}}
	if f.Catalog {
		all = append(all, NavItem{Path: "/templates", Name: "Catalog", At: "templates"})
	}
	if f.Asks {
		all = append(all, NavItem{Path: "/requests", Name: "Requests", At: "requests", Counts: "requests", Count: f.Inbox})
	}
	if f.Questions {
		all = append(all, NavItem{Path: "/questions", Name: "Questions", At: "questions", Counts: "questions", Count: f.Asked})
	}
	if f.Usage && f.May("Usage") {
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
