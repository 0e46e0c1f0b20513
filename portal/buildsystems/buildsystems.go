package buildsystems

import (
	"maps"
	"slices"
	"strconv"
	"time"

	"muster/app"
	"muster/app/build"
	"muster/app/humanize"
	"muster/portal/buildsystems/buildkite"
	"muster/portal/buildsystems/circleci"
	"muster/portal/buildsystems/generic"
	"muster/portal/buildsystems/github"
	"muster/portal/buildsystems/gitlab"
	"muster/portal/buildsystems/internal/payload"
	"muster/portal/buildsystems/internal/seal"
	"muster/portal/buildsystems/jenkins"
)

// list has every member by its name. Keep it alphabetical.
var list = map[string]member{
	buildkite.Name: buildkite.System{},
	circleci.Name:  circleci.System{},
	generic.Name:   generic.System{},
	github.Name:    github.System{},
	gitlab.Name:    gitlab.System{},
	jenkins.Name:   jenkins.System{},
}

// member is a build system.
type member interface {
	// About describes the system for forms and docs, with sorted Events.
	About() build.System
	// Verify checks signature and headers. It sets Event, ID, Unique and SentAt.
	Verify(r seal.Request) (build.Delivery, error)
	// Read reads a body, which records errors. event comes from Verify.
	Read(event string, body *payload.Object) app.BuildEvent
}

// maxHeader limits headers, in bytes.
const maxHeader = 4 << 10

// Family is all build systems. The zero value is ready and safe for concurrent use.
type Family struct{}

var _ build.Systems = Family{}

// Systems describes all members, sorted by name.
func (Family) Systems() []build.System {
	var all []build.System
	for _, name := range slices.Sorted(maps.Keys(list)) {
		all = append(all, list[name].About())
	}
	return all
}

// Verify checks that a delivery was signed with one of the secrets; see build.Systems.
func (Family) Verify(system string, header func(name string) string, body []byte, secrets []string, now time.Time) (build.Delivery, error) {
	m, err := find(system)
	if err != nil {
		return build.Delivery{}, err
	}
	if len(body) > build.MaxBuildBody {
		return build.Delivery{}, app.Errorf(app.ETooLarge, "The delivery is larger than %s.", humanize.Bytes(build.MaxBuildBody))
	}
	long := ""
	d, err := m.Verify(seal.Request{Body: body, Secrets: secrets, Now: now, Header: func(name string) string {
		v := header(name)
		if len(v) > maxHeader {
			long = name
			return ""
		}
		return v
	}})
	if long != "" {
		return build.Delivery{}, &app.Error{Code: app.EInvalid, Reason: "header", Field: long, Message: "The header " + long + " is longer than " + strconv.Itoa(maxHeader) + " bytes."}
	}
	if err != nil {
		return build.Delivery{}, err
	}
	d.System, d.Body = system, body
	d.Event, d.ID = word(d.Event), word(d.ID)
	return d, nil
}

// Read reads a verified delivery; see build.Systems.
func (Family) Read(d build.Delivery) (app.BuildEvent, error) {
	m, err := find(d.System)
	if err != nil {
		return app.BuildEvent{}, err
	}
	if len(d.Body) > build.MaxBuildBody {
		return app.BuildEvent{}, app.Errorf(app.ETooLarge, "The delivery is larger than %s.", humanize.Bytes(build.MaxBuildBody))
	}
	body, err := payload.Parse(d.Body)
	if err != nil {
		return app.BuildEvent{}, err
	}
	e := m.Read(d.Event, body)
	if err := body.Err(); err != nil {
		return app.BuildEvent{}, err
	}
	e.System, e.Payload = d.System, body.All()
	if e.Phase == "" {
		e.Phase = build.PhaseOther
	}
	return clean(e), nil
}

func find(system string) (member, error) {
	m, ok := list[system]
	if !ok {
		return nil, &app.Error{Code: app.ENotFound, Reason: "unknown_system", Field: "system", Message: "Build system " + strconv.Quote(clip(system, 60)) + " isn't supported.",
			Hint: humanize.Suggest(system, slices.Collect(maps.Keys(list)))}
	}
	return m, nil
}
