package docker

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/moby/moby/api/types/build"
	"github.com/moby/moby/client"
	"muster/app"
	"muster/app/family"
	"muster/app/humanize"
	"muster/app/template"
)

const (
	dockerfile  = "dockerfile" // the image type's field
	builtImage  = "built"      // what such an image type calls its image
	labelBuilt  = "muster.dockerfile"
	buildMemory = 2 << 30 // bytes that one instruction may take
	builtNames  = "muster-built:"
	maxBuiltsGB = 1000
)

// builtName is the tag of what a Dockerfile makes: the same text is built once.
func builtName(text string) string {
	sum := sha256.Sum256([]byte(text))
	return builtNames + hex.EncodeToString(sum[:])
}

// imageName returns the name that the engine knows an image by, or will know it by.
func (s settings) imageName(image template.Image) (string, error) {
	text := image.Extra[dockerfile]
	switch {
	case image.Image == "":
		return "", app.Errorf(app.EInvalid, "A container requires an image.")
	case isBaked(image.Image):
		return image.Image, nil
	case text == "" && image.Image == builtImage:
		return "", &app.Error{Code: app.EInvalid, Field: imageField, Message: "The image is to be built but has no dockerfile."}
	case text == "":
		return image.Image, nil
	case image.Image != builtImage:
		return "", &app.Error{Code: app.EInvalid, Field: "image", Message: fmt.Sprintf("The image has a dockerfile and also the image name %s.", image.Image),
			Hint: "Set image to built. The base image is the dockerfile's FROM."}
	case s.build != missing:
		return "", &app.Error{Code: app.EInvalid, Field: imageField, Message: "The image has a dockerfile, but this account doesn't build images.",
			Hint: "Set build to missing in the account, or build the image on the engine's host and set its name."}
	}
	return builtName(text), nil
}

// built has the engine build an image that it does not have, after what it begins with is there.
func (e *engine) built(ctx context.Context, h *heard, text, name string) error {
	from, err := bases(text)
	if err != nil {
		return err
	}
	release, err := e.turn(ctx, name)
	if err != nil {
		return err
	}
	defer release()
	if size, err := e.size(ctx, h, name); err == nil {
		return e.fits(size) // it is left alone where it does not: it was fine when it was built, and containers may be made of it
	} else if !absent(err) {
		return err
	}
	for _, base := range from {
		if err := e.pulled(ctx, h, base); err != nil {
			return err
		}
		if err := e.unbaked(ctx, h, base); err != nil {
			return err
		}
	}
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	if err := errors.Join(w.WriteHeader(&tar.Header{Name: "Dockerfile", Mode: 0o644, Size: int64(len(text)), ModTime: time.Unix(0, 0)}), second(w.Write([]byte(text))), w.Close()); err != nil {
		return err
	}
	family.ReportProgress(ctx, family.StreamSystem, "Image "+name+" isn't on the engine: building it from "+strings.Join(from, ", ")+".")
	began := time.Now()
	r, err := e.api.ImageBuild(ctx, &b, client.ImageBuildOptions{
		Version: build.BuilderV1, // the other one would fetch what a Dockerfile names by itself
		Tags:    []string{name}, Labels: map[string]string{labelBuilt: strings.TrimPrefix(name, builtNames)},
		Remove: true, ForceRemove: true, NetworkMode: e.network, Memory: buildMemory, MemorySwap: buildMemory,
	})
	if err == nil {
		defer r.Body.Close()
		err = follow(ctx, r.Body)
	}
	if err != nil {
		return notBuilt(ctx, h, err)
	}
	size, err := e.size(ctx, h, name)
	if err != nil {
		return err
	}
	if err := e.fits(size); err != nil {
		_, _ = e.api.ImageRemove(ctx, name, client.ImageRemoveOptions{Force: true, PruneChildren: true}) // that it is too large counts
		return err
	}
	family.ReportProgress(ctx, family.StreamSystem, fmt.Sprintf("Built %s in %s.", name, humanize.Duration(time.Since(began))))
	return nil
}

func second(_ int, err error) error { return err }

// size returns the bytes of an image; ENotFound where the engine does not have it.
func (e *engine) size(ctx context.Context, h *heard, name string) (int64, error) {
	i, err := e.api.ImageInspect(ctx, name)
	return i.Size, failure(ctx, h, err)
}

// fits refuses what is larger than built images may be.
func (e *engine) fits(size int64) error {
	if size <= int64(e.maxGB)<<30 {
		return nil
	}
	return &app.Error{Code: app.EInvalid, Reason: reasonNoRoom, Field: imageField, Message: fmt.Sprintf("The built image has %.1f GB; the limit is %d GB.", float64(size)/(1<<30), e.maxGB),
		Hint: "Make the dockerfile's image smaller, or raise the account's build_gb."}
}

func notBuilt(ctx context.Context, h *heard, err error) error {
	var s said
	full := func(words string) bool { return strings.Contains(words, "no space left") } // the engine says so in its answer, or in the middle of it
	if !errors.As(err, &s) {
		if known := app.AsError(failure(ctx, h, err)); (known.Code != app.ETransient || h.code() < 400) && !full(known.Message) {
			return failure(ctx, h, err)
		}
		s = said(strings.TrimPrefix(err.Error(), "Error response from daemon: "))
	}
	message := "Can't build the image: " + strings.TrimSuffix(string(s), ".") + "."
	if full(string(s)) {
		return noRoom(message)
	}
	return &app.Error{Code: app.EInvalid, Field: imageField, Message: message, Hint: "See the end of the build's output in the step's log."}
}
