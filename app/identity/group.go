package identity

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"muster/app"
)

// GroupStore keeps groups and who is in them.
type GroupStore interface {
	// DeleteGroup drops a group and who was put into it here; what other sources say stays. ENotFound where it was not made here.
	DeleteGroup(ctx context.Context, who app.Actor, name string, at time.Time) error
	// Groups returns those of a tenant by name, with those that only come from elsewhere.
	Groups(ctx context.Context, tenant string) ([]Group, error)
	// SaveGroup makes or changes a group of the actor's tenant; EInvalid names a member that there is no account for.
	SaveGroup(ctx context.Context, who app.Actor, c GroupChange, at time.Time) (Group, error)
}

// GroupsConfig is what Groups is created from. Only what says so may be nil.
type GroupsConfig struct {
	Store GroupStore
	Now   func() time.Time
}

// Groups are the groups of a tenant's users.
type Groups struct {
	GroupsConfig
}

// NewGroups returns them on top of what c holds.
func NewGroups(c GroupsConfig) *Groups { return &Groups{GroupsConfig: c} }

// Group is a group of users of a tenant. Policies, approvals and quotas name groups.
type Group struct {
	Name    string   `json:"name"`
	About   string   `json:"about,omitempty"`
	Members []Member `json:"members"` // by name
	// CreatedAt is zero for a group that no one made here: it came with its members from elsewhere.
	CreatedAt time.Time `json:"created_at,omitzero"`
	CreatedBy string    `json:"created_by,omitempty"`
}

// Member is a user in a group, with the sources that say so; "" is anyone who manages the group here.
type Member struct {
	User    string   `json:"user"`
	Sources []string `json:"sources,omitempty"` // without the empty one; sorted
	Here    bool     `json:"here"`              // people put the user into the group here
}

// GroupChange makes or changes a group. What is nil stays.
type GroupChange struct {
	Name    string    `json:"name"`
	About   *string   `json:"about,omitempty"`
	Members *[]string `json:"members,omitempty"` // all that people put into it here
	Add     []string  `json:"add,omitempty"`
	Remove  []string  `json:"remove,omitempty"`
}

// ExternalGroups returns what may be kept of the groups that a source names: sorted, each once.
func ExternalGroups(groups []string) []string {
	kept := []string{}
	for _, g := range groups {
		g = strings.TrimSpace(g)
		if g == "" || len(g) > app.LongestGroup || !utf8.ValidString(g) || strings.ContainsFunc(g, unicode.IsControl) {
			continue
		}
		kept = append(kept, g)
	}
	slices.Sort(kept)
	kept = slices.Compact(kept)
	return kept[:min(len(kept), app.MostExternal)]
}

// Groups lists the groups of the tenant.
func (a *Groups) Groups(ctx context.Context, actor app.Actor) ([]Group, error) {
	if err := actor.Authorize("Groups"); err != nil {
		return nil, err
	}
	return a.Store.Groups(ctx, actor.Tenant)
}

// SaveGroup makes a group, or changes one.
func (a *Groups) SaveGroup(ctx context.Context, actor app.Actor, c GroupChange) (Group, error) {
	if err := actor.Authorize("SaveGroup"); err != nil {
		return Group{}, err
	}
	if err := c.Check(); err != nil {
		return Group{}, err
	}
	return a.Store.SaveGroup(ctx, actor, c, a.Now())
}

func (c GroupChange) Check() error {
	if !app.TagWord(c.Name) {
		return &app.Error{Code: app.EInvalid, Field: "name", Message: "Name must be 1 to 63 letters, digits, '.', '_', '-' or '/'.", Hint: "For example data-team."}
	}
	if c.About != nil {
		if err := CheckText("about", *c.About, app.LongestAbout); err != nil {
			return err
		}
	}
	n := len(c.Add) + len(c.Remove)
	if c.Members != nil {
		n += len(*c.Members)
	}
	if n > app.MostInOneCall {
		return &app.Error{Code: app.ETooLarge, Field: "members", Message: fmt.Sprintf("%d members; at most %d can be set at once.", n, app.MostInOneCall), Hint: "Add the rest in a second call."}
	}
	return nil
}

// DeleteGroup drops a group of the tenant.
func (a *Groups) DeleteGroup(ctx context.Context, actor app.Actor, name string) error {
	if err := actor.Authorize("DeleteGroup"); err != nil {
		return err
	}
	return a.Store.DeleteGroup(ctx, actor, name, a.Now())
}

// CheckText refuses what cannot stand on one line, or is too long.
func CheckText(field, text string, most int) error {
	switch {
	case utf8.RuneCountInString(text) > most:
		return &app.Error{Code: app.EInvalid, Field: field, Message: fmt.Sprintf("The text must be at most %d characters.", most), Hint: "Shorten the text."}
	case !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl):
		return &app.Error{Code: app.EInvalid, Field: field, Message: "The text contains line breaks or control characters.", Hint: "Remove them."}
	}
	return nil
}
