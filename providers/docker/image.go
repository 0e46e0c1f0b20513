package docker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"

	"github.com/distribution/reference"
	"github.com/moby/moby/api/pkg/authconfig"
	"github.com/moby/moby/api/types/jsonstream"
	"github.com/moby/moby/api/types/registry"
	"github.com/moby/moby/client"
	"muster/app"
	"muster/app/family"
	"muster/app/humanize"
	"muster/app/template"
)

const (
	never   = "never"
	missing = "missing" // where the engine does not have it

	longestFetch  = 9 * time.Minute // for an image to be there: a create as a whole has ten
	longestOutput = 64 << 20        // bytes that are read of what an engine says of one build or pull
	maxLines      = 2000            // of them that are reported
	pullAgain     = time.Minute     // after a registry has refused for want of patience
)

// Reasons of errors of images, beside their codes.
const (
	reasonAbsent  = "image_absent"
	reasonRefused = "image_refused"
	reasonNoRoom  = "image_no_room" // jobs/retry.go has a rule for it
)

// noRoom is for an engine whose disk is full: EConflict, since someone has to make room there. It is not ECapacity, for which other hardware is
// asked: on the same
// engine, where the image would be pulled or built again.
func noRoom(message string) *app.Error {
	return &app.Error{Code: app.EConflict, Reason: reasonNoRoom, Message: message, Hint: "Free up disk space on the engine's host (see docker system df), or choose another provider."}
}

// provide has the engine have the image that machines are made of, as far as the account lets it be pulled or built. One is fetched once, however
// many wait for it.
func (e *engine) provide(ctx context.Context, h *heard, image template.Image, name string) error {
	text := image.Extra[dockerfile]
	if isBaked(name) || text == "" && e.pull != missing {
		return nil // whether it is there shows when a container is made of it
	}
	bounded, cancel := context.WithTimeout(ctx, longestFetch)
	defer cancel()
	var err error
	if text != "" {
		err = e.built(bounded, h, text, name)
	} else {
		err = e.pulled(bounded, h, name)
	}
	if err != nil && ctx.Err() == nil && errors.Is(bounded.Err(), context.DeadlineExceeded) {
		t := app.Errorf(app.ETimeout, "Pulling image %s timed out after %s.", name, humanize.Duration(longestFetch))
		t.Hint = "Put it on the engine beforehand: docker pull or docker build on the engine's host."
		return t
	}
	return err
}

// turn waits until an image is no one else's to fetch. It's reported if that takes long.
func (e *engine) turn(ctx context.Context, name string) (func(), error) {
	notice := time.AfterFunc(time.Second, func() {
		family.ReportProgress(ctx, family.StreamSystem, "Another machine's step is pulling image "+name+"; waiting for it.")
	})
	defer notice.Stop()
	return e.images.Lock(ctx, name)
}

// pulled pulls an image that the engine does not have, where the account allows it; else that is EInvalid.
func (e *engine) pulled(ctx context.Context, h *heard, name string) error {
	release, err := e.turn(ctx, name)
	if err != nil {
		return err
	}
	defer release()
	_, err = e.api.ImageInspect(ctx, name)
	if err = failure(ctx, h, err); !absent(err) {
		return err
	}
	if e.pull != missing {
		return noImage(name)
	}
	auth, who, err := e.auth(name)
	if err != nil {
		return err
	}
	family.ReportProgress(ctx, family.StreamSystem, "Image "+name+" isn't on the engine: pulling it"+who+".")
	began := time.Now()
	r, err := e.api.ImagePull(ctx, name, client.ImagePullOptions{RegistryAuth: auth})
	if err != nil {
		return e.notPulled(ctx, h, name, err)
	}
	defer r.Close()
	if err := follow(ctx, r); err != nil {
		return e.notPulled(ctx, h, name, err)
	}
	if _, err = e.api.ImageInspect(ctx, name); err != nil {
		return failure(ctx, h, err)
	}
	family.ReportProgress(ctx, family.StreamSystem, fmt.Sprintf("Pulled %s in %s.", name, humanize.Duration(time.Since(began))))
	return nil
}

// auth returns what a registry is shown for an image: nothing, unless it is the registry that the account has a password for. Who is for people.
func (e *engine) auth(name string) (header, who string, err error) {
	named, err := reference.ParseNormalizedNamed(name)
	if err != nil {
		return "", "", &app.Error{Code: app.EInvalid, Reason: reasonAbsent, Message: fmt.Sprintf("Image %s isn't on the engine and can't be pulled: the name isn't a valid registry image.", name)}
	}
	domain := reference.Domain(named)
	if e.user == "" || domain != e.registry {
		return "", " from " + domain, nil
	}
	address := domain
	if domain == "docker.io" {
		address = "https://index.docker.io/v1/"
	}
	header, err = authconfig.Encode(registry.AuthConfig{Username: e.user, Password: e.password, ServerAddress: address})
	return header, " from " + domain + " as " + e.user, err
}

func noImage(name string) *app.Error {
	return &app.Error{Code: app.EInvalid, Reason: reasonAbsent, Message: "Image " + name + " isn't on the engine.", Hint: neverPulls}
}

const neverPulls = "This account doesn't pull images: docker pull or docker build it on the engine's host, or set the account's pull to missing."

// said is what an engine says in the middle of an answer that began well.
type said string

func (s said) Error() string { return string(s) }

// follow reads what an engine tells of a pull or a build, and passes it on; an error of the engine's is of type said.
func follow(ctx context.Context, r io.Reader) error {
	limited := &io.LimitedReader{R: r, N: longestOutput}
	d := json.NewDecoder(limited)
	reported := 0
	tell := func(line string) {
		line = strings.Map(func(r rune) rune {
			if r == '\t' || unicode.IsPrint(r) {
				return r
			}
			return -1
		}, line)
		if strings.TrimSpace(line) == "" {
			return
		}
		if reported++; reported < maxLines {
			family.ReportProgress(ctx, family.StreamOut, line)
		} else if reported == maxLines {
			family.ReportProgress(ctx, family.StreamSystem, fmt.Sprintf("Output truncated after %d lines.", maxLines))
		}
	}
	rest := ""
	for {
		var m jsonstream.Message
		switch err := d.Decode(&m); {
		case limited.N <= 0:
			return said(fmt.Sprintf("more than %d MB of output", longestOutput>>20))
		case err == io.EOF:
			tell(rest)
			return nil
		case err != nil:
			return err
		}
		switch {
		case m.Error != nil:
			tell(rest)
			return said(m.Error.Message)
		case m.Stream != "":
			lines := strings.Split(rest+m.Stream, "\n")
			for _, line := range lines[:len(lines)-1] {
				tell(line)
			}
			if rest = lines[len(lines)-1]; len(rest) > 4096 {
				tell(rest)
				rest = ""
			}
		case m.Status != "" && (m.Progress == nil || m.Progress.Total == 0 && m.Progress.Current == 0) && m.Status != "Waiting" && m.Status != "Pulling fs layer" && m.Status != "Verifying Checksum":
			if m.ID != "" {
				m.Status = m.ID + ": " + m.Status
			}
			tell(m.Status)
		}
	}
}

// notPulled returns the error of a pull its code, by what the registry or the engine said.
func (e *engine) notPulled(ctx context.Context, h *heard, name string, err error) error {
	var s said
	if !errors.As(err, &s) && h.code() < 400 {
		return failure(ctx, h, err)
	}
	return notPulled(name, err.Error())
}

func notPulled(name, words string) *app.Error {
	words = strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(words), "Error response from daemon: "), ".")
	e := &app.Error{Code: app.ETransient, Message: "Can't pull image " + name + " : " + words + "."}
	has := func(parts ...string) bool {
		for _, p := range parts {
			if strings.Contains(strings.ToLower(words), p) {
				return true
			}
		}
		return false
	}
	switch {
	case has("toomanyrequests", "rate limit", "too many requests"):
		e.Code, e.RetryAfter, e.Hint = app.ERateLimit, pullAgain, "The registry's rate limit is reached. Signed-in users usually get a higher limit: set registry_user and registry_password."
	case has("no space left", "quota exceeded"):
		return noRoom(e.Message)
	case has("unauthorized", "authentication required", "no basic auth", "denied", "forbidden", "incorrect username or password"):
		e.Code, e.Reason = app.ECredentials, reasonRefused
		e.Hint = "Check the settings registry, registry_user and registry_password, and the image's name: registries respond the same if an image doesn't exist."
	case has("manifest unknown", "not found", "name unknown", "name_unknown", "does not exist", "no matching manifest", "invalid reference"):
		e.Code, e.Reason, e.Hint = app.EInvalid, reasonAbsent, "Check the image's name, tag or digest, and that the registry has it for the engine's architecture."
	case has("x509", "certificate", "gave http response"):
		e.Code, e.Hint = app.EInvalid, "The engine doesn't trust the registry: add its CA to /etc/docker/certs.d on the engine's host."
	default:
		e.Hint = "Check that the engine's host can reach the registry."
	}
	return e
}
