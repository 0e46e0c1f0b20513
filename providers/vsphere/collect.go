package vsphere

import (
	"context"

	"muster/providers/internal/account"

	"github.com/vmware/govmomi/vim25/methods"
	"github.com/vmware/govmomi/vim25/types"
)

// pageSize is how many objects one answer has at most.
const pageSize = 200

type ref = types.ManagedObjectReference

// object is an object of the inventory with the properties that were asked for. One that the user may not see, or that it doesn't have, is not among them.
type object struct {
	ref
	props  map[string]any
	hidden types.BaseMethodFault // why it has no properties at all
}

// prop returns a property; the zero value where it is not there.
func prop[T any](o object, name string) T {
	v, _ := o.props[name].(T)
	return v
}

// want is what to read of objects of a type.
type want struct {
	kind  string
	paths []string
}

// collect returns properties of objects: those of the references themselves, or those that the steps lead to from there.
func (s *session) collect(ctx context.Context, from []ref, steps []types.BaseSelectionSpec, wants ...want) ([]object, error) {
	if len(from) == 0 {
		return nil, ctx.Err()
	}
	content, err := s.content(ctx)
	if err != nil {
		return nil, err
	}
	skip, missing := steps != nil, steps == nil // where steps begin must exist
	filter := types.PropertyFilterSpec{ReportMissingObjectsInResults: &missing}
	for _, r := range from {
		filter.ObjectSet = append(filter.ObjectSet, types.ObjectSpec{Obj: r, Skip: &skip, SelectSet: steps})
	}
	for _, w := range wants {
		filter.PropSet = append(filter.PropSet, types.PropertySpec{Type: w.kind, PathSet: w.paths})
	}
	answer, err := methods.RetrievePropertiesEx(ctx, s, &types.RetrievePropertiesEx{This: content.PropertyCollector, SpecSet: []types.PropertyFilterSpec{filter},
		Options: types.RetrieveOptions{MaxObjects: pageSize}})
	if err != nil {
		return nil, err
	}
	var out []object
	for page := answer.Returnval; page != nil; {
		for _, c := range page.Objects {
			o := object{ref: c.Obj, props: make(map[string]any, len(c.PropSet))}
			for _, p := range c.PropSet {
				o.props[p.Name] = p.Val
			}
			if len(c.PropSet) == 0 && len(c.MissingSet) > 0 {
				o.hidden = c.MissingSet[0].Fault.Fault
			}
			out = append(out, o)
		}
		if page.Token == "" {
			return out, nil
		}
		if len(out) > account.MaxPages*pageSize {
			return nil, account.EndlessList("vCenter")
		}
		next, err := methods.ContinueRetrievePropertiesEx(ctx, s, &types.ContinueRetrievePropertiesEx{This: content.PropertyCollector, Token: page.Token})
		if err != nil {
			return nil, err
		}
		page = &next.Returnval
	}
	return out, nil
}

// one returns properties of one object; ENotFound where it doesn't exist.
func (s *session) one(ctx context.Context, r ref, paths ...string) (object, error) {
	found, err := s.collect(ctx, []ref{r}, nil, want{r.Type, paths})
	if err == nil && len(found) == 0 {
		err = notThere(r)
	}
	if err != nil {
		return object{}, err
	}
	return found[0], nil
}

// below are the steps from a folder to all that is in it, and in folders in it.
func below() []types.BaseSelectionSpec { return through("Folder", "childEntity", "below") }

// through are the steps from an object along a property, and further along it.
func through(kind, path, name string) []types.BaseSelectionSpec {
	return []types.BaseSelectionSpec{&types.TraversalSpec{SelectionSpec: types.SelectionSpec{Name: name}, Type: kind, Path: path,
		SelectSet: []types.BaseSelectionSpec{&types.SelectionSpec{Name: name}}}}
}

// along is the step from an object to what a property of it names.
func along(kind, path string) []types.BaseSelectionSpec {
	return []types.BaseSelectionSpec{&types.TraversalSpec{Type: kind, Path: path}}
}

// child returns what is called so in a folder; nil for nothing.
func (s *session) child(ctx context.Context, in ref, name string) (*ref, error) {
	content, err := s.content(ctx)
	if err != nil {
		return nil, err
	}
	r, err := methods.FindChild(ctx, s, &types.FindChild{This: *content.SearchIndex, Entity: in, Name: name})
	if err != nil {
		return nil, err
	}
	return r.Returnval, nil
}

// at returns what is at an inventory path; nil for nothing.
func (s *session) at(ctx context.Context, path string) (*ref, error) {
	content, err := s.content(ctx)
	if err != nil {
		return nil, err
	}
	r, err := methods.FindByInventoryPath(ctx, s, &types.FindByInventoryPath{This: *content.SearchIndex, InventoryPath: path})
	if err != nil {
		return nil, err
	}
	return r.Returnval, nil
}
