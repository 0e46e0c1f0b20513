package resource

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"muster/app"
	"muster/app/humanize"
	"muster/app/template"
)

// Pin puts into services which contents their resources are now; what is pinned already stays. Entries that change are copies, the map is
// the caller's own. An error says which service needs what is not there; what no one named and is not in use any more is left out.
func (a *Service) Pin(ctx context.Context, tenant string, services map[string]*template.Service) error {
	type place struct {
		service string
		action  app.Action
		at      int
	}
	var refs []AutomatorRef
	var places []place
	for _, name := range slices.Sorted(maps.Keys(services)) {
		if services[name] == nil {
			continue
		}
		for _, act := range template.ServiceActions {
			action := services[name].Actions[act]
			if action == nil {
				continue
			}
			for i, r := range action.Resources {
				if r.Hash == "" {
					refs = append(refs, AutomatorRef{Automator: action.Automator, Ref: r})
					places = append(places, place{name, act, i})
				}
			}
		}
	}
	if len(refs) == 0 {
		return nil
	}
	found, err := a.Store.PinResources(ctx, tenant, refs)
	if err != nil {
		return err
	}
	own := map[string]bool{}
	for i, p := range places {
		if e := found[i].Err; e != nil && !refs[i].Ref.Common {
			reported := *e
			reported.Reason, reported.Message = cmp.Or(e.Reason, "resource"), fmt.Sprintf("Service %s needs a resource to %s: %s", p.service, p.action, e.Message)
			return &reported
		}
		if !own[p.service] {
			own[p.service] = true
			services[p.service] = services[p.service].WithOwnActions()
		}
		ref := found[i].Ref
		ref.Common = refs[i].Ref.Common
		services[p.service].Actions[p.action].Resources[p.at] = ref
	}
	for name := range own {
		for _, action := range services[name].Actions {
			if action != nil {
				action.Resources = slices.DeleteFunc(action.Resources, func(r template.ResourceRef) bool { return r.Hash == "" })
			}
		}
	}
	return nil
}

// Common names, for actions that name no resource at all, those that their automator has for all actions: the tenant's that are in use, of the types that
// say so. Coopr's services rely on that, which find all cookbooks on their nodes. Services of a cluster that exists are kept out: what exists keeps
// what it has.
// The notes tell what of it is left out: no one asked for these, so no one is refused for their sake.
func (a *Service) Common(ctx context.Context, tenant string, services, stand map[string]*template.Service) (notes []string, err error) {
	known := map[string][]template.ResourceRef{} // by automator
	for _, name := range slices.Sorted(maps.Keys(services)) {
		if services[name] == nil || stand[name] != nil {
			continue
		}
		own := false
		for _, act := range template.ServiceActions {
			action := services[name].Actions[act]
			if action == nil || action.Person != nil || len(action.Resources) > 0 {
				continue
			}
			refs, asked := known[action.Automator]
			if !asked {
				var all []template.ResourceRef
				if all, err = a.commonOf(ctx, tenant, action.Automator); err != nil {
					return nil, err
				}
				var reported []string
				refs, reported = chooseCommon(action.Automator, all)
				known[action.Automator], notes = refs, append(notes, reported...)
			}
			if len(refs) == 0 {
				continue
			}
			if !own {
				own = true
				services[name] = services[name].WithOwnActions()
			}
			services[name].Actions[act].Resources = slices.Clone(refs)
		}
	}
	return notes, nil
}

// commonOf are the tenant's resources in use of an automator's types that are common, in the order of the types and then by name: none where none is in use, or
// the automator has no such types.
func (a *Service) commonOf(ctx context.Context, tenant, automator string) (refs []template.ResourceRef, err error) {
	for _, m := range a.ResourceKinds {
		if m.Family != ForAutomator || m.Member != automator {
			continue
		}
		for _, t := range m.Types {
			if !t.Common {
				continue
			}
			for after := ""; ; {
				found, err := a.Store.ResourceInfos(ctx, tenant, Filter{Family: m.Family, Member: m.Member, Type: t.Name, After: after, Limit: commonPage})
				if err != nil {
					return nil, err
				}
				for _, r := range found {
					if r.Active != 0 {
						refs = append(refs, template.ResourceRef{Type: r.Type, Name: r.Name, Common: true})
					}
				}
				if len(found) < commonPage {
					break
				}
				after = found[len(found)-1].String()
			}
		}
	}
	return refs, nil
}

// commonPage is how many resources are read at once.
const commonPage = 1000

// chooseCommon returns those that an action can have side by side, and says which it leaves out: one whose name an earlier one has, since both would
// have the same place on
// the node, and what is too many.
func chooseCommon(automator string, all []template.ResourceRef) (refs []template.ResourceRef, notes []string) {
	names := map[string]template.ResourceRef{}
	var same, more []string
	for _, r := range all {
		switch o, taken := names[r.Name]; {
		case taken:
			same = append(same, fmt.Sprintf("%s (beside %s)", r, o))
		case len(refs) == maxCommonRefs:
			more = append(more, r.String())
		default:
			names[r.Name], refs = r, append(refs, r)
		}
	}
	if len(same) > 0 {
		notes = append(notes, fmt.Sprintf("Actions of %s that name no resource don't receive those whose name is used twice: %s. Push them under other names, or name the resources that each action needs.",
			automator, firstFew(same)))
	}
	if len(more) > 0 {
		notes = append(notes, fmt.Sprintf("Actions of %s that name no resource receive at most %d, so not %s. Put related files into one archive, or name the resources that each action needs.",
			automator, maxCommonRefs, firstFew(more)))
	}
	return refs, notes
}

// firstFew names the first of many, and says how many more there are.
func firstFew(all []string) string {
	const few = 5
	if len(all) <= few+1 {
		return humanize.And(all)
	}
	return fmt.Sprintf("%s and %d more", strings.Join(all[:few], ", "), len(all)-few)
}

// pinned goes over the resources of services whose contents are chosen.
func pinned(services map[string]*template.Service) iter.Seq2[*template.ServiceAction, template.ResourceRef] {
	return func(yield func(*template.ServiceAction, template.ResourceRef) bool) {
		for _, s := range services {
			if s == nil {
				continue
			}
			for _, action := range s.Actions {
				if action == nil {
					continue
				}
				for _, r := range action.Resources {
					if r.Hash != "" && !yield(action, r) {
						return
					}
				}
			}
		}
	}
}

// PinnedIn returns the pinned resources of services, by hash.
func PinnedIn(services map[string]*template.Service) map[string]template.ResourceRef {
	all := map[string]template.ResourceRef{}
	for _, r := range pinned(services) {
		all[r.Hash] = r
	}
	return all
}

// ResourcesOf writes what services bring to nodes, sorted, each once.
func ResourcesOf(services map[string]*template.Service) []string {
	var all []string
	for action, r := range pinned(services) {
		all = append(all, fmt.Sprintf("%s/%s sha256:%s", action.Automator, r, r.Hash))
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// ByName returns the resources that an action names itself, or those that it has without naming them.
func ByName(refs []template.ResourceRef, common bool) []template.ResourceRef {
	return slices.DeleteFunc(slices.Clone(refs), func(r template.ResourceRef) bool { return r.Common != common })
}

// SameContents reports whether two actions find the same on the node, whatever the numbers of the versions are.
func SameContents(was, is []template.ResourceRef) bool {
	return slices.EqualFunc(was, is, func(x, y template.ResourceRef) bool {
		x.Version, y.Version, x.Type, y.Type = 0, 0, "", ""
		return x == y
	})
}

// CheckRefs reports whether references fit the types that an automator declares, and do not get into each other's way on the node.
func CheckRefs(types []template.ResourceType, automator string, refs []template.ResourceRef) error {
	wrong := func(message, hint string) error {
		return &app.Error{Code: app.EInvalid, Reason: "resource", Message: message, Hint: hint}
	}
	if len(refs) > maxActionRefs {
		return wrong(fmt.Sprintf("An action can have at most %d resources, not %d.", maxActionRefs, len(refs)), "Put related files into one archive.")
	}
	if len(refs) > 0 && len(types) == 0 {
		return wrong("Automator "+automator+" doesn't use resources.", "")
	}
	seen := map[string]bool{}
	for _, r := range refs {
		if r.Type != "" && !slices.ContainsFunc(types, func(t template.ResourceType) bool { return t.Name == r.Type }) {
			names := make([]string, len(types))
			for i, t := range types {
				names[i] = t.Name
			}
			return wrong(fmt.Sprintf("Automator %s has no resource type %q.", automator, r.Type), "Use "+humanize.Or(names)+".")
		}
		if seen[r.Name] {
			return wrong(fmt.Sprintf("%s is listed twice, and both would use the same path on the node.", r.Name), "Push one of the two under another name.")
		}
		seen[r.Name] = true
	}
	return nil
}
