package records

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"muster/app"
	"muster/app/family"
)

// kept is a zone in memory, which tells what was done to it, and fails where it is set to.
type kept struct {
	sets []Set
	done []string
	fail string // where a change is about that
}

func (z *kept) Sets(_ context.Context, name, kind string) (out []Set, err error) {
	for _, s := range z.sets {
		if (name == "" || s.Name == name) && (kind == "" || s.Type == kind) {
			out = append(out, s)
		}
	}
	return out, nil
}

func (z *kept) Write(ctx context.Context, s Set) error {
	if err := z.Remove(ctx, s.Name, s.Type); err != nil {
		return err
	}
	z.sets = append(z.sets, s)
	z.done[len(z.done)-1] = "write " + s.Type + " " + s.Name
	return nil
}

func (z *kept) Remove(_ context.Context, name, kind string) error {
	if z.fail == kind+" "+name {
		return errors.New("no")
	}
	z.sets = slices.DeleteFunc(z.sets, func(s Set) bool { return s.Name == name && s.Type == kind })
	z.done = append(z.done, "remove "+kind+" "+name)
	return nil
}

// batched is one that takes several changes at once.
type batched struct{ *kept }

func (z batched) Change(ctx context.Context, all []Set) error {
	z.done = append(z.done, "batch")
	if slices.ContainsFunc(all, func(s Set) bool { return z.fail == s.Type+" "+s.Name }) {
		return errors.New("no")
	}
	return change(ctx, z.kept, all)
}

func TestKeepAndDrop(t *testing.T) {
	node := func(name string, addresses map[string]string) family.Machine {
		return family.Machine{Hostname: name, Addresses: addresses, Tags: map[string]string{family.TagInstallation: "i", family.TagCluster: "c", family.TagIntent: "x"}}
	}
	v4 := map[string]string{app.AddressAccess: "198.51.100.7"}
	first := "write TXT _muster.a.z.test, write A a.z.test"
	moved := "remove A a.z.test, remove AAAA a.z.test, remove TXT _muster.a.z.test, write TXT _muster.b.z.test, write A b.z.test"
	gone := "remove A b.z.test, remove AAAA b.z.test, remove TXT _muster.b.z.test"
	for _, batches := range []bool{false, true} {
		in := &kept{}
		z, batch := Zone(in), ""
		if batches {
			z, batch = batched{in}, "batch, "
		}
		step := func(what, want string, err error) {
			t.Helper()
			if got := strings.Join(in.done, ", "); err != nil || got != want {
				t.Errorf("batches %t, %s: %s, %v; want %s", batches, what, got, err, want)
			}
			in.done = nil
		}
		step("a name", batch+first, Keep(t.Context(), z, "z.test", node("A.z.test.", v4)))
		step("the same", "", Keep(t.Context(), z, "z.test", node("a.z.test", v4)))
		foreign := Set{Name: "b.z.test", Type: "A", Values: []string{"203.0.113.1"}}
		in.sets = append(in.sets, foreign)
		if err := Keep(t.Context(), z, "z.test", node("b.z.test", v4)); app.CodeOf(err) != app.EConflict || len(in.done) > 0 {
			t.Errorf("a name of someone else: %v, after %q", err, in.done)
		}
		in.sets = in.sets[:2]
		step("another name", batch+moved, Keep(t.Context(), z, "z.test", node("b.z.test", v4)))
		// What routes is someone else's, though our claim is next to it.
		mine := slices.Clone(in.sets)
		in.sets[1] = Set{Name: "b.z.test", Type: "A", Routed: true}
		if err := Keep(t.Context(), z, "z.test", node("b.z.test", v4)); app.CodeOf(err) != app.EConflict || len(in.done) > 0 {
			t.Errorf("an alias: %v, after %q", err, in.done)
		}
		in.sets = mine
		// The claim is what leads to the rest: it stays until that is gone.
		in.fail = "AAAA b.z.test"
		if err := Drop(t.Context(), z, node("", nil).Tags); err == nil || len(in.sets) == 0 || in.sets[0].Type != "TXT" {
			t.Errorf("half dropped: %v, and %+v is left", err, in.sets)
		}
		in.fail, in.done = "", nil
		step("dropped", batch+gone, Drop(t.Context(), z, node("", nil).Tags))
		step("dropped again", "", Drop(t.Context(), z, node("", nil).Tags))
	}
}
