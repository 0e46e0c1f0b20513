package docker

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"muster/app"
	"muster/app/family"
	"muster/app/template"
	"muster/providers/providertest"
)

// machineOf creates a machine of an image, and returns the lines reported meanwhile.
func machineOf(t *testing.T, e *engine, intent string, image template.Image) (family.Machine, []string, error) {
	t.Helper()
	s, _ := providertest.Harness{Flavor: "unlimited", Image: image.Image}.Spec(t, intent)
	s.Image = image
	var mu sync.Mutex
	var lines []string
	m, err := e.Create(family.WithProgress(t.Context(), func(_ app.Stream, line string) {
		mu.Lock()
		defer mu.Unlock()
		lines = append(lines, line)
	}), s)
	return m, lines, err
}

func has(lines []string, part string) bool { return strings.Contains(strings.Join(lines, "\n"), part) }

func TestPulling(t *testing.T) {
	pinned := "registry.example.org/team/node@sha256:" + strings.Repeat("a", 64)
	account := []string{"pull", "missing", "registry", "registry.example.org", "registry_user", "ada", "registry_password", "sesame-open"}
	for name, c := range map[string]struct {
		settings []string
		image    string
		remote   simRemote
		absent   bool // at the registry
		pulls    string
		code     app.Code
		reason   string
	}{
		"what the account does not let be pulled": {nil, "node:2", simRemote{}, false, "", app.EInvalid, reasonAbsent},
		"an image of Docker's own registry":       {[]string{"pull", "missing"}, "node:2", simRemote{}, false, "docker.io/library/node:2 as ", "", ""},
		"an image that the engine has":            {[]string{"pull", "missing"}, "node:1", simRemote{}, false, "", "", ""},
		"one by its digest, with a password":      {account, pinned, simRemote{user: "ada", password: "sesame-open"}, false, pinned + " as ada", "", ""},
		"another registry's does not see it":      {account, "other.example.org/x:1", simRemote{}, false, "other.example.org/x:1 as ", "", ""},
		"a wrong password":                        {account, pinned, simRemote{user: "ada", password: "changed"}, false, pinned + " as ada", app.ECredentials, reasonRefused},
		"no password":                             {[]string{"pull", "missing"}, pinned, simRemote{user: "ada", password: "sesame-open"}, false, pinned + " as ", app.ECredentials, reasonRefused},
		"one that is not there":                   {account, pinned, simRemote{}, true, pinned + " as ada", app.EInvalid, reasonAbsent},
		"no room on the disk":                     {account, pinned, simRemote{says: "failed to register layer: write /x: no space left on device"}, false, pinned + " as ada", app.EConflict, reasonNoRoom},
		"too many of them":                        {account, pinned, simRemote{says: "toomanyrequests: You have reached your pull rate limit."}, false, pinned + " as ada", app.ERateLimit, ""},
		"a registry that is not reached":          {account, pinned, simRemote{says: "Get https://registry.example.org/v2/: dial tcp: connection refused"}, false, pinned + " as ada", app.ETransient, ""},
		"a registry that is not trusted":          {account, pinned, simRemote{says: "Get https://registry.example.org/v2/: x509: certificate signed by unknown authority"}, false, pinned + " as ada", app.EInvalid, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			if !c.absent {
				full := c.image
				if !strings.Contains(full, "/") {
					full = "docker.io/library/" + full
				}
				w.registry = map[string]simRemote{full: c.remote}
			}
			e := w.open(t, c.settings...)
			m, lines, err := machineOf(t, e, "pulled", template.Image{Image: c.image})
			if got := strings.Join(w.pulls, ", "); got != c.pulls {
				t.Errorf("pulled: %q", got)
			}
			if has(lines, "sesame-open") || err != nil && strings.Contains(err.Error(), "sesame-open") {
				t.Errorf("the password was revealed: %q, %v", lines, err)
			}
			if c.code != "" {
				if a := app.AsError(err); err == nil || a.Code != c.code || a.Reason != c.reason || a.Hint == "" {
					t.Errorf("%+v", err)
				}
				if len(w.left()) > 0 {
					t.Error("a container was left")
				}
				return
			}
			if err != nil || m.State != family.MachineRunning {
				t.Fatalf("%+v, %v", m, err)
			}
			if c.pulls != "" && (!has(lines, "aa11: Pull complete") || has(lines, "Downloading")) {
				t.Errorf("%q", lines)
			}
			if _, _, err := machineOf(t, e, "second", template.Image{Image: c.image}); err != nil || c.pulls != "" && len(w.pulls) != 1 {
				t.Errorf("the second machine: %v, %q", err, w.pulls)
			}
		})
	}
}

const buildsOf = "FROM node:1\nRUN echo hello\n"

func TestBuilding(t *testing.T) {
	may := []string{"build", "missing", "build_gb", "2"}
	for name, c := range map[string]struct {
		settings     []string
		image, text  string
		builds       int
		code         app.Code
		field, words string
	}{
		"where the account does not let it": {nil, "built", buildsOf, 0, app.EInvalid, imageField, "this account doesn't build images"},
		"of what the engine has":            {may, "built", buildsOf, 1, "", "", ""},
		"of what it would have to pull":     {may, "built", "FROM node:2", 0, app.EInvalid, "", "Image node:2 isn't on the engine"},
		"of what it may pull":               {append([]string{"pull", "missing"}, may...), "built", "FROM node:2", 1, "", "", ""},
		"of nothing":                        {may, "built", "", 0, app.EInvalid, imageField, "has no dockerfile"},
		"with a name of its own":            {may, "debian:12", buildsOf, 0, app.EInvalid, "image", "debian:12"},
		"of what is not taken":              {may, "built", "FROM node:1\nADD http://x /x", 0, app.EInvalid, imageField, "line 2"},
		"with a command that fails":         {may, "built", "FROM node:1\nRUN false", 1, app.EInvalid, imageField, "non-zero code"},
		"with a disk that is full":          {may, "built", "FROM node:1\nRUN fill", 1, app.EConflict, "", "no space left"},
		"with no room to begin":             {may, "built", "FROM node:1\nRUN cram", 1, app.EConflict, "", "no space left"},
		"of more than it may have":          {may, "built", "FROM node:1\nRUN huge", 1, app.EInvalid, imageField, "3.0 GB"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.registry = map[string]simRemote{"docker.io/library/node:2": {}}
			e := w.open(t, c.settings...)
			image := template.Image{Image: c.image, Extra: map[string]string{dockerfile: c.text}}
			m, lines, err := machineOf(t, e, "built", image)
			if len(w.builds) != c.builds {
				t.Errorf("built %d times", len(w.builds))
			}
			if c.code != "" {
				if a := app.AsError(err); err == nil || a.Code != c.code || a.Field != c.field || !strings.Contains(a.Message, c.words) || a.Hint == "" && c.text != "" && !strings.Contains(a.Message, "line") {
					t.Errorf("%+v", err)
				}
				if w.images[builtName(c.text)] != nil || len(w.left()) > 0 {
					t.Error("something was left")
				}
				return
			}
			if err != nil || !strings.Contains(m.Note, builtName(c.text)) || !has(lines, "Step 1 : FROM") || !has(lines, "Successfully built") {
				t.Fatalf("%+v, %q, %v", m, lines, err)
			}
			q, files := w.builds[0].query, w.builds[0].files
			if len(files) != 1 || files["Dockerfile"] != c.text || q.Get("version") != "1" || q.Get("t") != builtName(c.text) || q.Get("memory") == "" || q.Get("networkmode") != "bridge" || q.Get("forcerm") != "1" || q.Get("rm") == "0" {
				t.Errorf("%v, %v", q, files)
			}
			if _, _, err := machineOf(t, e, "second", image); err != nil || len(w.builds) != 1 {
				t.Errorf("the second machine: %v, %d builds", err, len(w.builds))
			}
		})
	}
}

// An image that was fine when it was built stays where less is allowed later: containers may be made of it.
func TestBuiltImageTooLarge(t *testing.T) {
	w := newWorld(t)
	image := template.Image{Image: builtImage, Extra: map[string]string{dockerfile: "FROM node:1\nRUN huge"}}
	name := builtName(image.Extra[dockerfile])
	if _, _, err := machineOf(t, w.open(t, "build", missing, "build_gb", "3"), "first", image); err != nil || w.images[name] == nil {
		t.Fatalf("%v, %v", err, w.images[name])
	}
	_, _, err := machineOf(t, w.open(t, "build", missing, "build_gb", "2"), "second", image)
	if a := app.AsError(err); err == nil || a.Code != app.EInvalid || a.Field != imageField || !strings.Contains(a.Message, "3.0 GB") || a.Hint == "" {
		t.Errorf("%+v", err)
	}
	if w.images[name] == nil || len(w.builds) != 1 || len(w.left()) != 1 {
		t.Errorf("the image %v, %d builds, %d containers", w.images[name], len(w.builds), len(w.left()))
	}
}

// Machines that want the same image wait for one build of it; one that stops waiting leaves.
func TestBuildsAreShared(t *testing.T) {
	w := newWorld(t)
	w.slow = make(chan struct{})
	e := w.open(t, "build", "missing")
	image := template.Image{Image: builtImage, Extra: map[string]string{dockerfile: buildsOf}}
	ctx, leave := context.WithCancel(t.Context())
	spec := func(intent string) family.MachineSpec {
		s, _ := providertest.Harness{Flavor: "unlimited", Image: builtImage}.Spec(t, intent)
		s.Image = image
		return s
	}
	var wg sync.WaitGroup
	for _, intent := range []string{"a", "b", "c"} {
		s := spec(intent)
		wg.Go(func() {
			if _, err := e.Create(t.Context(), s); err != nil {
				t.Error(err)
			}
		})
	}
	gone, impatient := make(chan error), spec("d")
	go func() { _, err := e.Create(ctx, impatient); gone <- err }()
	time.Sleep(50 * time.Millisecond)
	leave()
	if err := <-gone; err == nil {
		t.Error("it did not go")
	}
	close(w.slow)
	wg.Wait()
	if len(w.builds) > 2 || len(w.left()) != 3 { // the one who left may have been the one who built
		t.Errorf("%d builds, %d containers", len(w.builds), len(w.left()))
	}
}

// What may come of a check is reported before anything is made.
func TestChecksOfImages(t *testing.T) {
	w := newWorld(t)
	w.registry = map[string]simRemote{"docker.io/library/node:2": {}, "registry.example.org/x:1": {user: "ada", password: "sesame"}}
	images := map[string]template.Image{
		"present":      {Image: "node:1"},
		"at the hub":   {Image: "node:2"},
		"refused":      {Image: "registry.example.org/x:1"},
		"nowhere":      {Image: "node:3"},
		"built":        {Image: builtImage, Extra: map[string]string{dockerfile: buildsOf}},
		"built of hub": {Image: builtImage, Extra: map[string]string{dockerfile: "FROM node:2"}},
		"of nothing":   {Image: builtImage},
		"of ADD":       {Image: builtImage, Extra: map[string]string{dockerfile: "FROM node:1\nADD http://x /x"}},
		"of nowhere":   {Image: builtImage, Extra: map[string]string{dockerfile: "FROM node:3"}},
	}
	for name, c := range map[string]struct {
		settings []string
		good     string
		said     []string
	}{
		"neither": {nil, "present", []string{"Images aren't pulled", "aren't built"}},
		"pulled":  {[]string{"pull", "missing"}, "present, at the hub", []string{"without a password", "aren't built"}},
		"pulled by a user": {[]string{"pull", "missing", "registry", "registry.example.org", "registry_user", "ada", "registry_password", "sesame"}, "present, at the hub, refused",
			[]string{"from registry.example.org as ada"}},
		"built": {[]string{"build", "missing"}, "present, built", []string{"Images aren't pulled", "up to 10 GB"}},
		"both":  {[]string{"pull", "missing", "build", "missing"}, "present, at the hub, built, built of hub", []string{"are pulled", "up to 10 GB"}},
	} {
		t.Run(name, func(t *testing.T) {
			e := w.open(t, c.settings...)
			for what, image := range images {
				found, err := e.CheckAccount(t.Context(), family.AccountNeeds{Machines: []family.MachineNeed{{Image: image}}})
				if err != nil {
					t.Fatal(err)
				}
				last, all := found[len(found)-1], ""
				for _, f := range found {
					all += f.Message + "\n"
				}
				good := false
				for _, g := range strings.Split(c.good, ", ") {
					good = good || g == what
				}
				if last.About != family.AboutImage || last.OK != good || !good && last.Message == "" || strings.Contains(all, "sesame") {
					t.Errorf("%s: %+v", what, last)
				}
				for _, part := range c.said {
					if !strings.Contains(all, part) {
						t.Errorf("%q is missing in %s", part, all)
					}
				}
			}
			if len(w.pulls)+len(w.builds) > 0 {
				t.Error("a check fetched something")
			}
		})
	}
}

func TestSettingsOfImages(t *testing.T) {
	for name, c := range map[string]struct {
		settings map[string]any
		field    string
	}{
		"a password alone":         {map[string]any{"registry": "registry.example.org", "registry_password": "sesame"}, "registry_user"},
		"a user without registry":  {map[string]any{"registry_user": "ada", "registry_password": "sesame"}, "registry"},
		"an address of a registry": {map[string]any{"registry": "https://registry.example.org", "registry_user": "ada", "registry_password": "sesame"}, "registry"},
		"pull always":              {map[string]any{"pull": "always"}, "pull"},
		"builds without bound":     {map[string]any{"build_gb": 0}, "build_gb"},
	} {
		if e := app.AsError(Check(c.settings)); e == nil || e.Field != "settings."+c.field || strings.Contains(e.Message, "sesame") {
			t.Errorf("%s: %+v", name, e)
		}
	}
}

// A baked image is its tenant's alone, also for others who know its name, and no registry is asked for one.
func TestBakedImagesOfOthers(t *testing.T) {
	w := newWorld(t)
	e := w.open(t)
	s, _ := providertest.Harness{Flavor: "unlimited", Image: "node:1"}.Spec(t, "oven")
	m, err := e.Create(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	image, err := e.Bake(t.Context(), m.ID, family.BakeSpec{Name: "muster-x", Tags: map[string]string{family.TagInstallation: s.Tags[family.TagInstallation],
		family.TagTenant: s.Tags[family.TagTenant], family.TagBake: "x"}})
	if err != nil {
		t.Fatal(err)
	}
	theirs, _ := providertest.Harness{Flavor: "unlimited", Image: image.ID}.Spec(t, "theirs")
	theirs.Tags[family.TagTenant] = "other"
	if _, err := e.Create(t.Context(), theirs); app.CodeOf(err) != app.EInvalid {
		t.Errorf("another tenant's image: %v", err)
	}
	w.mu.Lock()
	id := w.images[image.ID]["Id"].(string)
	for _, name := range []string{id, "docker.io/library/" + image.ID, "copy:1"} { // as engines find it, too
		w.images[name] = w.images[image.ID]
	}
	w.mu.Unlock()
	for _, name := range []string{id, "docker.io/library/" + image.ID, "copy:1"} {
		theirs.Image.Image = name
		if _, err := e.Create(t.Context(), theirs); app.CodeOf(err) != app.EInvalid {
			t.Errorf("another tenant's image by %s: %v", name, err)
		}
		_, _, err := machineOf(t, w.open(t, "build", missing), "builds",
			template.Image{Image: builtImage, Extra: map[string]string{dockerfile: "FROM " + name}})
		if app.CodeOf(err) != app.EInvalid || len(w.builds) > 0 {
			t.Errorf("a build of %s: %v, %d builds", name, err, len(w.builds))
		}
	}
	again, _ := providertest.Harness{Flavor: "unlimited", Image: id}.Spec(t, "again")
	if m, err := e.Create(t.Context(), again); err != nil || e.Delete(t.Context(), m.ID) != nil {
		t.Errorf("one's own image by its id: %v", err)
	}
	if err := e.DeleteBaked(t.Context(), image.ID); err != nil {
		t.Fatal(err)
	}
	ours, _ := providertest.Harness{Flavor: "unlimited", Image: image.ID}.Spec(t, "ours")
	if _, err := w.open(t, "pull", "missing").Create(t.Context(), ours); app.CodeOf(err) != app.EInvalid || len(w.pulls) > 0 {
		t.Errorf("a deleted image: %v, pulled %v", err, w.pulls)
	}
}
