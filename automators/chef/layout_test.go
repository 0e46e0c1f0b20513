package chef

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"muster/app"
	"muster/app/family"
	"muster/app/template"
)

// What an image has lies beside what an action has without naming it, and not beside what it names of the same type.
func TestImageLayout(t *testing.T) {
	common := func(kind, name string) template.ResourceRef {
		return template.ResourceRef{Type: kind, Name: name, Common: true}
	}
	named := func(kind, name string) template.ResourceRef { return template.ResourceRef{Type: kind, Name: name} }
	pushed := []string{"books/web/recipes/default.rb", "own/metadata.rb", "bags/people/ada.json", "base", "base.json"}
	image := []string{"cookbooks/web/recipes/default.rb", "cookbooks/ntp/recipes/default.rb", "cookbooks/own/recipes/default.rb",
		"data_bags/people/bob.json", "data_bags/others/x.json", "roles/base.json", "roles/old.rb"}
	for name, c := range map[string]struct {
		refs []template.ResourceRef
		want map[string]string // link: what it leads to; "" where there must be none
	}{
		"nothing pushed": {nil, map[string]string{"cookbooks/web": "image/cookbooks/web", "cookbooks/ntp": "image/cookbooks/ntp", "data_bags/people": "image/data_bags/people",
			"roles/base.json": "image/roles/base.json", "roles/old.rb": "image/roles/old.rb"}},
		"an unrelated one that no one named": {[]template.ResourceRef{common(typeCookbooks, "own")}, map[string]string{"cookbooks/own": "set/own", "cookbooks/web": "image/cookbooks/web",
			"cookbooks/ntp": "image/cookbooks/ntp", "roles/base.json": "image/roles/base.json"}},
		"pushed ones win": {[]template.ResourceRef{common(typeCookbooks, "books"), common(typeCookbooks, "own"), common(typeDataBags, "bags"), common(typeRoles, "base")},
			map[string]string{"cookbooks/web": "set/books/web", "cookbooks/own": "set/own", "cookbooks/ntp": "image/cookbooks/ntp", "data_bags/people": "set/bags/people",
				"data_bags/others": "image/data_bags/others", "roles/base.rb": "set/base", "roles/base.json": "", "roles/old.rb": "image/roles/old.rb"}},
		"a named one is alone of its type": {[]template.ResourceRef{named(typeCookbooks, "own")}, map[string]string{"cookbooks/own": "set/own", "cookbooks/web": "", "cookbooks/ntp": "",
			"data_bags/people": "image/data_bags/people", "roles/old.rb": "image/roles/old.rb"}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			write := func(name string) {
				file := filepath.Join(dir, name)
				if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(file, []byte("name 'x'\n"), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			for _, f := range pushed {
				write("set/" + f)
			}
			for _, f := range image {
				write("image/" + f)
			}
			text, err := payload(family.ServiceCall{Service: "web", Action: app.ActionStart, Resources: filepath.Join(dir, "set"), Refs: c.refs, Fields: map[string]string{"run_list": "web"}}, true)
			if err != nil {
				t.Fatal(err)
			}
			from, to := strings.Index(text, layout), strings.Index(text, "muster_run_list=")
			if from < 0 || to < from {
				t.Fatal("no layout in\n" + text)
			}
			run := filepath.Join(dir, "run") + "/"
			if err := os.Mkdir(run, 0o700); err != nil {
				t.Fatal(err)
			}
			sh := exec.CommandContext(t.Context(), "sh", "-c", strings.ReplaceAll(text[from:to], cooprHome, filepath.Join(dir, "image")))
			sh.Env = append(os.Environ(), "muster_dir="+run)
			if out, err := sh.CombinedOutput(); err != nil || len(out) > 0 {
				t.Fatalf("%v: %s", err, out)
			}
			for link, want := range c.want {
				got, _ := os.Readlink(run + link)
				if got = strings.TrimPrefix(got, dir+"/"); got != want {
					t.Errorf("%s leads to %q, want %q", link, got, want)
				}
			}
		})
	}
}
