package doctor

import (
	"context"
	"fmt"
	"strings"

	"muster/app"
	"muster/app/humanize"
	"muster/app/identity"
	"muster/portal/ldap"
)

// directories checks the LDAP directories, and what a person would get from them.
func (d *Doctor) directories(ctx context.Context) (all []checked) {
	for _, c := range d.Config.SignIn.Directories {
		l, err := ldap.New(c)
		if err == nil {
			err = l.Check(ctx)
		}
		if err != nil {
			all = append(all, aboutDirectory(c.Name, failedBy(err))...)
			continue
		}
		all = append(all, fine("Directory %s responds, and has people.", c.Name)...)
		if d.user != "" {
			all = append(all, aboutDirectory(c.Name, lookedUp(ctx, l, d.user))...)
		}
	}
	if d.user != "" && len(d.Config.SignIn.Directories) == 0 {
		all = append(all, warned("Add the directory to the file of --sign-in; see docs/sign-in.md.", "There is no LDAP directory to look up %s in.", d.user)...)
	}
	return all
}

func aboutDirectory(name string, found []checked) []checked {
	for i := range found {
		found[i].Message = fmt.Sprintf("Directory %s: %s", name, found[i].Message)
	}
	return found
}

// lookedUp says what a sign-in of a person would give, without the password.
func lookedUp(ctx context.Context, l *ldap.Directory, user string) []checked {
	dn, s, groups, err := l.LookUp(ctx, user)
	if app.AsError(err).Reason == identity.ReasonNoEntry {
		return warned("Check the spelling. If it's right, correct base and filter, or let the bind DN read the entry.", "no entry matches %q.", user)
	}
	if err != nil {
		return failedBy(err)
	}
	in := "no groups"
	if len(groups) > 0 {
		in = humanize.Count(len(groups), "group") + ": " + strings.Join(groups, "; ")
	}
	if len(s.Grants) == 0 {
		return warned("Add a rule for one of the groups, or a default. Groups by memberOf are DNs; if there are none, set groups.base.",
			"%s is %s, account %s, with %s. No rule matches.", user, dn, s.Name, in)
	}
	var grants []string
	for _, g := range s.Grants {
		grants = append(grants, fmt.Sprintf("%s:%s", g.Tenant, g.Role))
	}
	return fine("%s is %s, account %s, with %s. Access: %s.", user, dn, s.Name, in, strings.Join(grants, ", "))
}
