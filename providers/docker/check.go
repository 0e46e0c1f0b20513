package docker

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/moby/moby/client"
	"muster/app"
	"muster/app/family"
	"muster/app/template"
)

func (e *engine) CheckAccount(ctx context.Context, needs family.AccountNeeds) ([]family.Finding, error) {
	var found []family.Finding
	ok := func(about, subject, format string, args ...any) {
		found = append(found, family.Finding{About: about, Subject: subject, OK: true, Message: fmt.Sprintf(format, args...)})
	}
	wrong := func(about, subject string, code app.Code, hint, format string, args ...any) {
		found = append(found, family.Finding{About: about, Subject: subject, Code: code, Hint: hint, Message: fmt.Sprintf(format, args...)})
	}
	bad := func(about, subject string, err error) {
		a := app.AsError(err)
		if a.Code == app.EInternal {
			a = app.Errorf(app.ETransient, "The Docker Engine isn't responding: %w", err)
		}
		wrong(about, subject, a.Code, cmp.Or(a.Hint, "Check the engine's own log."), "%s", a.ForPeople())
	}
	asked, h, err := e.asking(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		bad(family.AboutCredentials, e.host, err)
		return found, nil
	}
	ctx = asked
	info, err := e.api.Info(ctx, client.InfoOptions{})
	if err = failure(ctx, h, err); err != nil {
		bad(family.AboutCredentials, e.host, err)
	} else if info.Info.OSType != "linux" {
		wrong(family.AboutCredentials, e.host, app.EInvalid, "Use an engine that runs Linux containers.", "The engine runs %s containers.", info.Info.OSType)
	} else {
		ok(family.AboutCredentials, info.Info.Name, "Docker Engine %s at %s has %d CPUs and %.1f GB of memory.", info.Info.ServerVersion, e.host, info.Info.NCPU, float64(info.Info.MemTotal)/(1<<30))
	}
	n, err := e.api.NetworkInspect(ctx, e.network, client.NetworkInspectOptions{})
	switch err = failure(ctx, h, err); {
	case h.code() == 404:
		wrong(family.AboutNetwork, e.network, app.EInvalid, "Create it with docker network create, or set network to another.", "Network %s doesn't exist on the engine.", e.network)
	case err != nil:
		bad(family.AboutNetwork, e.network, err)
	case n.Network.Driver == "host" || n.Network.Driver == "null":
		wrong(family.AboutNetwork, e.network, app.EInvalid, "Set network to one with the driver bridge, macvlan or overlay.", "Network %s has the driver %s, which doesn't assign addresses to containers.", e.network, n.Network.Driver)
	default:
		ok(family.AboutNetwork, e.network, "Network %s exists on the engine.", e.network)
	}
	for _, f := range e.mayFetch() {
		ok(family.AboutImage, "", "%s", f)
	}
	for _, m := range needs.Machines {
		if m.Flavor.Flavor != "" {
			s, known := readFlavor(m.Flavor.Flavor)
			switch {
			case !known:
				u := unknownFlavor(m.Flavor.Flavor)
				wrong(family.AboutFlavor, m.Flavor.Flavor, u.Code, u.Hint, "%s", u.Message)
			case info.Info.NCPU > 0 && s.cpus > float64(info.Info.NCPU) || info.Info.MemTotal > 0 && s.bytes > info.Info.MemTotal:
				wrong(family.AboutFlavor, m.Flavor.Flavor, app.ECapacity, "Choose a smaller size or a larger host.", "A container of size %s exceeds the host's %d CPUs and %.1f GB.", m.Flavor.Flavor, info.Info.NCPU, float64(info.Info.MemTotal)/(1<<30))
			default:
				ok(family.AboutFlavor, m.Flavor.Flavor, "Size %s fits the host. Sizes are limits; containers share the host, and nothing is reserved.", m.Flavor.Flavor)
			}
		}
		if m.Image.Image == "" {
			continue
		}
		if m.Image.Image == builtImage || m.Image.Extra[dockerfile] != "" {
			words, err := e.canBuild(ctx, h, m.Image)
			if err != nil {
				bad(family.AboutImage, m.Image.Image, err)
			} else {
				ok(family.AboutImage, m.Image.Image, "%s", words)
			}
			continue
		}
		i, err := e.api.ImageInspect(ctx, m.Image.Image)
		switch err = failure(ctx, h, err); {
		case absent(err):
			if err := e.canPull(ctx, h, m.Image.Image); err != nil {
				bad(family.AboutImage, m.Image.Image, err)
			} else {
				ok(family.AboutImage, m.Image.Image, "Image %s is in its registry, and will be pulled for the first machine.", m.Image.Image)
			}
		case err != nil:
			bad(family.AboutImage, m.Image.Image, err)
		case i.Os != "" && i.Os != "linux":
			wrong(family.AboutImage, m.Image.Image, app.EInvalid, "Choose a Linux image.", "Image %s is a %s image.", m.Image.Image, i.Os)
		default:
			ok(family.AboutImage, m.Image.Image, "Image %s is on the engine. It must contain an SSH server at %s, which is checked at the first start.", m.Image.Image, e.raw.With(m.Image.Extra).Or("sshd", e.sshd))
		}
	}
	return found, ctx.Err()
}

// mayFetch tells how images come to the engine that it does not have.
func (e *engine) mayFetch() (words []string) {
	switch {
	case e.pull != missing:
		words = append(words, "Images aren't pulled: they must already be on the engine.")
	case e.user != "":
		words = append(words, "Missing images are pulled from "+e.registry+" as "+e.user+".")
	default:
		words = append(words, "Missing images are pulled without a password.")
	}
	if e.build == missing {
		return append(words, fmt.Sprintf("Images can be built from a dockerfile, up to %d GB.", e.maxGB))
	}
	return append(words, "Images aren't built from a dockerfile.")
}

// canPull asks the engine to look for an image at its registry. Nothing is pulled.
func (e *engine) canPull(ctx context.Context, h *heard, name string) error {
	if e.pull != missing {
		return noImage(name)
	}
	auth, _, err := e.auth(name)
	if err != nil {
		return err
	}
	if _, err = e.api.DistributionInspect(ctx, name, client.DistributionInspectOptions{EncodedRegistryAuth: auth}); err != nil {
		return e.notPulled(ctx, h, name, err)
	}
	return nil
}

// canBuild reports whether an image was built, or can be as far as that is seen without doing it.
func (e *engine) canBuild(ctx context.Context, h *heard, image template.Image) (string, error) {
	name, err := e.imageName(image)
	if err != nil {
		return "", err
	}
	from, err := bases(image.Extra[dockerfile])
	if err != nil {
		return "", err
	}
	_, err = e.api.ImageInspect(ctx, name)
	if err = failure(ctx, h, err); err == nil {
		return "Image " + name + " is already built.", nil
	} else if !absent(err) {
		return "", err
	}
	for _, base := range from {
		err := e.unbaked(ctx, h, base)
		if absent(err) {
			err = e.canPull(ctx, h, base)
		}
		if err != nil {
			return "", err
		}
	}
	return "The image will be built for the first machine from " + strings.Join(from, ", ") + ".", nil
}

// Offers returns the images that the engine has, and sizes up to the whole host. Containers cost nothing of their own.
func (e *engine) Offers(ctx context.Context) (family.Offers, error) {
	var out family.Offers
	ctx, h, err := e.asking(ctx)
	if err != nil {
		return out, err
	}
	info, err := e.api.Info(ctx, client.InfoOptions{})
	if err = failure(ctx, h, err); err != nil {
		return out, err
	}
	offer := func(name string, cpus, gb float64) {
		out.Flavors = append(out.Flavors, family.FlavorOffer{Flavor: template.Flavor{Flavor: name, CPU: cpus, MemoryGB: gb}, Description: "a limit, out of the host's capacity"})
	}
	hostGB := float64(info.Info.MemTotal) / (1 << 30)
	offer("unlimited", float64(info.Info.NCPU), hostGB)
	for cpus := 1; cpus <= info.Info.NCPU; cpus *= 2 {
		for _, each := range []int{1, 2, 4} {
			if gb := cpus * each; float64(gb) <= hostGB {
				offer(strconv.Itoa(cpus)+"cpu-"+strconv.Itoa(gb)+"gb", float64(cpus), float64(gb))
			}
		}
	}
	slices.SortFunc(out.Flavors, func(a, b family.FlavorOffer) int { return cmp.Compare(a.Flavor.Flavor, b.Flavor.Flavor) })
	images, err := e.api.ImageList(ctx, client.ImageListOptions{})
	if err = failure(ctx, h, err); err != nil {
		return out, err
	}
	for _, i := range images.Items {
		for _, tag := range i.RepoTags {
			if tag != "<none>:<none>" {
				out.Images = append(out.Images, family.ImageOffer{Image: template.Image{Image: tag}, CreatedAt: time.Unix(i.Created, 0)})
			}
		}
	}
	slices.SortFunc(out.Images, func(a, b family.ImageOffer) int { return cmp.Compare(a.Image.Image, b.Image.Image) })
	return out, nil
}
