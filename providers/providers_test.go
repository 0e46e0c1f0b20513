package providers

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
	"muster/app"
	"muster/app/family"
	"muster/app/template"
	"muster/providers/fake"
	"muster/providers/providertest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func provider(kind string, settings map[string]any) template.ProviderSpec {
	return template.ProviderSpec{About: template.About{Name: "here"}, Type: kind, Settings: settings}
}

// guard opens a fake cloud through the front door, and returns the cloud behind it as well.
func guard(t *testing.T) (family.Provider, *fake.Cloud) {
	t.Helper()
	t.Cleanup(func() { fake.Forget(t.Name()) })
	p, err := Open(t.Context(), provider("fake", map[string]any{"account": t.Name()}), Env{Installation: providertest.Installation})
	if err != nil {
		t.Fatal(err)
	}
	return p, fake.Named(t.Name())
}

func TestProvidersAreDescribed(t *testing.T) {
	for _, name := range Names() {
		d := registry[name].Descriptor
		if d.Name != name || d.Description == "" || registry[name].Constructor == nil {
			t.Errorf("%s: its registration lacks a constructor, or its descriptor a description or this name: %+v", name, d)
		}
		for _, f := range slices.Concat(d.Fields, d.FlavorFields, d.ImageFields) {
			if f.Name == "" || f.Label == "" || !slices.Contains(family.FieldTypes, f.Type) || (f.Type == family.FieldChoice) != (len(f.Options) > 0) || f.Check(f.Default) != nil {
				t.Errorf("%s: field %+v lacks a name, a label or a type, or its default is not of its type", name, f)
			}
		}
		defaults := make(map[string]any)
		for _, f := range d.Fields {
			if f.Default != "" {
				defaults[f.Name] = f.Default
			}
		}
		// A member may need one of several settings, of which none is required by itself.
		if err := Check(provider(name, defaults)); err != nil && defaults[strings.TrimPrefix(app.AsError(err).Field, "settings.")] != nil {
			t.Errorf("%s refuses its own defaults: %v", name, err)
		}
	}
	if len(Descriptors()) != len(registry) {
		t.Error("not all members are described")
	}
}

func TestGuardPassesTheSuite(t *testing.T) {
	open := func(t *testing.T) family.Provider { p, _ := guard(t); return p }
	providertest.Run(t, providertest.Harness{Open: open, Flavor: "small", Image: "host"})
}

func TestCheck(t *testing.T) {
	registry["picky"] = registration{Descriptor: family.Descriptor{Name: "picky", Fields: []family.Field{
		{Name: "token", Label: "Token", Required: true, Secret: true, Options: []string{"right"}},
		{Name: "region", Label: "Region", Options: []string{"here", "there"}},
		{Name: "size", Label: "Size", Default: "3"},
	}}}
	defer delete(registry, "picky")
	for _, c := range []struct {
		name        string
		kind        string
		settings    map[string]any
		field, hint string
	}{
		{"all is well", "picky", map[string]any{"token": "right", "region": "there", "size": 5}, "", ""},
		{"numbers may be text, or come from JSON", "picky", map[string]any{"token": "right", "size": float64(5)}, "", ""},
		{"an unknown type", "sandbax", nil, "type", `"sandbox"`},
		{"a type far from any", "zzzzzzzzzzzz", nil, "type", "fake, "},
		{"a misspelt setting", "picky", map[string]any{"token": "right", "regoin": "here"}, "settings.regoin", `"region"`},
		{"a setting far from any", "picky", map[string]any{"token": "right", "xyzxyz": 1}, "settings.xyzxyz", "Known: region, size, token"},
		{"a missing setting", "picky", nil, "settings.token", ""},
		{"an empty setting", "picky", map[string]any{"token": ""}, "settings.token", ""},
		{"not one of the options", "picky", map[string]any{"token": "right", "region": "nowhere"}, "settings.region", "here, there"},
		{"not a number", "picky", map[string]any{"token": "right", "size": "big"}, "settings.size", ""},
		{"not a whole number", "picky", map[string]any{"token": "right", "size": 1.5}, "settings.size", ""},
		{"a list", "picky", map[string]any{"token": "right", "region": []any{"here"}}, "settings.region", ""},
		{"a mapping", "picky", map[string]any{"token": map[string]any{}}, "settings.token", ""},
		{"what the member itself refuses", "sandbox", map[string]any{"subnet": "x"}, "settings.subnet", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := Check(provider(c.kind, c.settings))
			if c.field == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if e := app.AsError(err); e.Code != app.EInvalid || e.Field != c.field || !strings.Contains(e.Hint, c.hint) {
				t.Errorf("%v (field %q, hint %q)", err, e.Field, e.Hint)
			}
		})
	}
	err := Check(provider("picky", map[string]any{"token": "hunter2"}))
	if err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("a secret is in the message: %v", err)
	}
}

func TestOpenWantsAnInstallation(t *testing.T) {
	if _, err := Open(t.Context(), provider("fake", nil), Env{}); app.CodeOf(err) != app.EInvalid {
		t.Errorf("error %v", err)
	}
}

func TestOpenSandbox(t *testing.T) {
	p, err := Open(t.Context(), provider("sandbox", map[string]any{"mode": "process"}), Env{Installation: "i", DataDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	moded, ok := As[interface{ Mode() (string, string) }](p)
	if !ok {
		t.Fatal("the sandbox's mode is out of reach")
	}
	if mode, why := moded.Mode(); mode != "process" || why == "" {
		t.Errorf("mode %q because %q", mode, why)
	}
	if err := p.(family.ProviderCloser).Close(); err != nil {
		t.Error(err)
	}
	if _, err := Open(t.Context(), provider("sandbox", nil), Env{Installation: "i"}); app.CodeOf(err) != app.EInvalid {
		t.Errorf("without a directory: %v", err)
	}
}

func TestForeignMachinesAreIgnored(t *testing.T) {
	p, cloud := guard(t)
	cloud.Put(family.Machine{ID: "theirs", State: family.MachineRunning, Tags: map[string]string{family.TagInstallation: "other"}})
	cloud.Put(family.Machine{ID: "untagged", State: family.MachineRunning})
	for _, id := range []string{"theirs", "untagged"} {
		if err := p.Delete(t.Context(), id); app.CodeOf(err) != app.EForbidden {
			t.Errorf("delete %s: %v", id, err)
		}
		if _, err := p.Describe(t.Context(), id); app.CodeOf(err) != app.ENotFound {
			t.Errorf("describe %s: %v", id, err)
		}
	}
	for _, tags := range []map[string]string{nil, {family.TagInstallation: "other"}} {
		if ms, err := p.List(t.Context(), tags); err != nil || len(ms) != 0 {
			t.Errorf("list %v: %v, %v", tags, ms, err)
		}
	}
	if n := len(cloud.Machines()); n != 2 {
		t.Errorf("%d of 2 machines are left", n)
	}
	s, _ := providertest.Harness{Flavor: "small", Image: "host"}.Spec(t, "x")
	for _, tag := range []string{family.TagInstallation, family.TagIntent} {
		bad := s
		bad.Tags = map[string]string{family.TagInstallation: providertest.Installation, family.TagIntent: "x"}
		bad.Tags[tag] = "else"
		if _, err := p.Create(t.Context(), bad); app.CodeOf(err) != app.EInternal {
			t.Errorf("create with a wrong %s: %v", tag, err)
		}
	}
	if cloud.Count(fake.Create) != 0 {
		t.Error("the cloud was asked")
	}
}

func TestErrorsAreCoded(t *testing.T) {
	p, cloud := guard(t)
	for _, c := range []struct {
		err  error
		code app.Code
	}{
		{app.Errorf(app.EQuota, "full"), app.EQuota},
		{fmt.Errorf("call: %w", app.Errorf(app.ECredentials, "who are you")), app.ECredentials},
		{&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}, app.ETransient},
		{&net.OpError{Op: "read", Err: timeout{}}, app.ETimeout},
		{&net.DNSError{Err: "no such host", IsNotFound: true}, app.ETransient},
		{io.ErrUnexpectedEOF, app.ETransient},
		{fmt.Errorf("write: %w", syscall.ENOSPC), app.ECapacity},
		{context.DeadlineExceeded, app.ETimeout},
		{errors.New("a riddle"), app.EInternal},
	} {
		cloud.Fail(fake.Describe, c.err)
		_, err := p.Describe(t.Context(), "x")
		if app.CodeOf(err) != c.code || !strings.HasPrefix(err.Error(), "here: describe: ") {
			t.Errorf("%v becomes %q: %v", c.err, app.CodeOf(err), err)
		}
		if _, known := errors.AsType[*app.Error](c.err); !known && !errors.Is(err, c.err) {
			t.Errorf("the cause %v is lost in %v", c.err, err)
		}
	}
	for _, err := range []error{&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}, &net.DNSError{Err: "no such host", IsNotFound: true},
		&app.Error{Code: app.ETransient, Reason: app.ReasonCloudBroken, Message: "OpenStack " + app.CloudBroken}} {
		cloud.Fail(fake.Describe, err)
		if _, got := p.Describe(t.Context(), "x"); app.AsError(got).Reason != app.ReasonCloudBroken || !strings.Contains(got.Error(), "here") {
			t.Errorf("%v isn't reported as a cloud that is broken, or of which account: %v", err, got)
		}
	}
	cloud.Order(fake.Describe, fake.Outcome{Hangs: true})
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(time.Millisecond, cancel)
	if _, err := p.Describe(ctx, "x"); app.CodeOf(err) != app.ECancelled {
		t.Errorf("someone asked to stop: %v", err)
	}
	p.(*guarded).limits.describe = time.Millisecond
	cloud.Order(fake.Describe, fake.Outcome{Hangs: true})
	if _, err := p.Describe(t.Context(), "x"); app.CodeOf(err) != app.ETimeout {
		t.Errorf("our own patience: %v", err)
	}
}

type timeout struct{}

func (timeout) Error() string   { return "too slow" }
func (timeout) Timeout() bool   { return true }
func (timeout) Temporary() bool { return true }
