package plugin

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"muster/app"
	"muster/app/humanize"
	"muster/app/program"
)

// Kind is what a program of a plugin adds.
type Kind string

// The kinds.
const (
	Provider  Kind = "provider"
	Automator Kind = "automator"
)

// State is how a plugin is at this server.
type State string

// The states.
const (
	Unregistered State = "unregistered" // used as it is found
	Registered   State = "registered"
	Changed      State = "changed" // registered with another file: refused
	Missing      State = "missing" // registered, but not found
	Gone         State = "removed" // refused
)

// Program is a file that was found in a directory of plugins.
type Program struct {
	Name, Path string // of the file
	Kind       Kind
	Type       string
	Loaded     bool  // this server uses it since it was started
	Err        error // why it can't be used, whatever is decided
}

// Decision is what an admin decided about a program.
type Decision struct {
	Name      string // of the file
	SHA256    string // that the file must have; program.Removed if it was removed
	ChangedBy string
	ChangedAt time.Time
}

// View is a plugin as it is shown.
type View struct {
	Name      string    `json:"name"`
	Kind      Kind      `json:"kind"`
	Type      string    `json:"type"`
	State     State     `json:"state"`
	SHA256    string    `json:"sha256,omitempty"`
	Pinned    string    `json:"registered_sha256,omitempty"`
	Loaded    bool      `json:"loaded"`
	Problem   string    `json:"problem,omitempty"`
	ChangedBy string    `json:"changed_by,omitempty"`
	ChangedAt time.Time `json:"changed_at,omitzero"`
}

// Store keeps decisions.
type Store interface {
	// Plugins returns all decisions, by name.
	Plugins(ctx context.Context) ([]Decision, error)
	// DecidePlugin writes one, and wakes app.PluginsTopic.
	DecidePlugin(ctx context.Context, who app.Actor, d Decision) error
}

// Config is what a service is created from. Programs finds the programs; nil: there are none.
type Config struct {
	Store    Store
	Now      func() time.Time
	Programs func() ([]Program, error)
}

// Service says which plugins are used.
type Service struct{ Config }

// New returns the service on top of its needs.
func New(c Config) *Service { return &Service{Config: c} }

// LoadPins has this process obey what was decided. It is called when a server starts, and when app.PluginsTopic wakes.
func LoadPins(ctx context.Context, s Store) error {
	all, err := s.Plugins(ctx)
	if err != nil {
		return err
	}
	pins := program.Pins{}
	for _, d := range all {
		pins[d.Name] = d.SHA256
	}
	program.SetPins(pins)
	return nil
}

// Plugins lists the programs that were found, and those that something was decided about.
func (a *Service) Plugins(ctx context.Context, actor app.Actor) ([]View, error) {
	if err := actor.Authorize("Plugins"); err != nil {
		return nil, err
	}
	found, decided, err := a.read(ctx)
	if err != nil {
		return nil, err
	}
	all := map[string]View{}
	for name, d := range decided {
		all[name] = viewOf(d)
	}
	for _, p := range found {
		all[p.Name] = p.view(decided)
	}
	return slices.SortedFunc(maps.Values(all), func(x, y View) int { return strings.Compare(x.Name, y.Name) }), nil
}

var sumForm = regexp.MustCompile(`^[0-9a-f]{64}$`)

// RegisterPlugin pins a program to its file as it is here now. With a sum, the file must have that one.
func (a *Service) RegisterPlugin(ctx context.Context, actor app.Actor, name, sum string) (View, error) {
	if err := actor.Authorize("RegisterPlugin"); err != nil {
		return View{}, err
	}
	if sum = strings.ToLower(strings.TrimSpace(sum)); sum != "" && !sumForm.MatchString(sum) {
		return View{}, &app.Error{Code: app.EInvalid, Field: "sha256", Message: "A SHA-256 has 64 hexadecimal digits.", Hint: "See: sha256sum FILE"}
	}
	p, decided, err := a.find(ctx, name)
	if err != nil {
		return View{}, err
	}
	if p.Path == "" {
		return View{}, &app.Error{Code: app.ENotFound, Message: fmt.Sprintf("The file %s isn't on this server.", name),
			Hint: "Install it in the directory of plugins first."}
	}
	if p.Err != nil {
		e := *app.AsError(p.Err)
		e.Message = name + " can't be registered: " + e.Message
		return View{}, &e
	}
	found, err := program.Sum(p.Path)
	if err != nil {
		return View{}, err
	}
	if sum != "" && sum != found {
		return View{}, &app.Error{Code: app.EConflict, Field: "sha256", Message: fmt.Sprintf(
			"The file %s has another SHA-256: it begins with %s, not %s.", name, program.Short(found), program.Short(sum)),
			Hint: "Check the file on the server before you register it."}
	}
	return a.decide(ctx, actor, p, decided, found)
}

var nameForm = regexp.MustCompile(`^muster-(provider|automator)-[a-z][a-z0-9-]{0,31}$`)

// RemovePlugin keeps a program from being run, also one that isn't here: it may still run though its file is gone, or be on other hosts. Its file stays.
func (a *Service) RemovePlugin(ctx context.Context, actor app.Actor, name string) (View, error) {
	if err := actor.Authorize("RemovePlugin"); err != nil {
		return View{}, err
	}
	p, decided, err := a.find(ctx, name)
	if err != nil && nameForm.MatchString(name) {
		p = Program{Name: name}
		decided, err = a.decided(ctx)
	}
	if err != nil {
		return View{}, err
	}
	return a.decide(ctx, actor, p, decided, program.Removed)
}

func (a *Service) decide(ctx context.Context, actor app.Actor, p Program, decided map[string]Decision, sum string) (View, error) {
	if decided[p.Name].SHA256 != sum {
		d := Decision{Name: p.Name, SHA256: sum, ChangedBy: actor.Name(), ChangedAt: a.Now()}
		if err := a.Store.DecidePlugin(ctx, actor, d); err != nil {
			return View{}, err
		}
		decided[p.Name] = d
	}
	if err := LoadPins(ctx, a.Store); err != nil {
		return View{}, err
	}
	if p.Path == "" { // which may be a typing error
		v := viewOf(decided[p.Name])
		v.Problem = "This server has no file of this name. Check the name: muster plugin list."
		return v, nil
	}
	return p.view(decided), nil
}

// find returns a program that was found, or that something was decided about: then without a path.
func (a *Service) find(ctx context.Context, name string) (Program, map[string]Decision, error) {
	found, decided, err := a.read(ctx)
	if err != nil {
		return Program{}, nil, err
	}
	names := slices.Collect(maps.Keys(decided))
	for _, p := range found {
		if p.Name == name {
			return p, decided, nil
		}
		names = append(names, p.Name)
	}
	if d, ok := decided[name]; ok {
		return Program{Name: d.Name}, decided, nil
	}
	slices.Sort(names)
	return Program{}, nil, &app.Error{Code: app.ENotFound, Message: "Plugin " + humanize.Clip(name) + " doesn't exist.",
		Hint: humanize.Suggest(name, slices.Compact(names))}
}

func (a *Service) read(ctx context.Context) (found []Program, decided map[string]Decision, err error) {
	if a.Programs != nil {
		if found, err = a.Programs(); err != nil {
			return nil, nil, err
		}
	}
	decided, err = a.decided(ctx)
	return found, decided, err
}

func (a *Service) decided(ctx context.Context) (map[string]Decision, error) {
	all, err := a.Store.Plugins(ctx)
	decided := map[string]Decision{}
	for _, d := range all {
		decided[d.Name] = d
	}
	return decided, err
}

// viewOf shows a decision whose program wasn't found.
func viewOf(d Decision) View {
	v := View{Name: d.Name, State: Missing, Pinned: d.SHA256, ChangedBy: d.ChangedBy, ChangedAt: d.ChangedAt}
	v.Kind, v.Type = kindOf(d.Name)
	if d.SHA256 == program.Removed {
		v.State, v.Pinned = Gone, ""
	}
	return v
}

func kindOf(name string) (Kind, string) {
	if typ, ok := strings.CutPrefix(name, program.AutomatorPrefix); ok {
		return Automator, typ
	}
	return Provider, strings.TrimPrefix(name, program.ProviderPrefix)
}

func (p Program) view(decided map[string]Decision) View {
	v := View{Name: p.Name, State: Unregistered}
	if d, ok := decided[p.Name]; ok {
		v = viewOf(d)
	}
	v.Kind, v.Type, v.Loaded = p.Kind, p.Type, p.Loaded
	sum, err := "", p.Err
	if err == nil { // one that can't be trusted isn't even opened
		sum, err = program.Sum(p.Path)
	}
	if v.SHA256 = sum; err != nil {
		v.Problem = app.AsError(err).Advised()
	}
	switch {
	case v.State != Missing:
	case v.Pinned == sum:
		v.State = Registered
	default:
		v.State = Changed
	}
	if v.State == Registered && !v.Loaded && v.Problem == "" {
		v.Problem = "Takes effect when the server is restarted."
	}
	return v
}
