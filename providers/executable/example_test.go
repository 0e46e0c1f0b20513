package executable

import (
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"muster/app"
	"muster/app/family"
	"muster/app/template"
	"muster/providers/providertest"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if mode := os.Getenv("MUSTER_TEST_PROGRAM"); mode != "" {
		beProgram(mode)
		return
	}
	goleak.VerifyTestMain(m)
}

// example returns the example's program, in a directory where it may be started from.
func example(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("python3"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("the example needs python3, which is not here")
		}
		t.Skip("the example needs python3, which is not here")
	}
	real, err := exec.Command("python3", "-c", "import sys; print(sys.executable)").Output()
	if err != nil {
		t.Fatal(err)
	}
	// python3 in the path may be a script that looks for one first.
	t.Setenv("PATH", filepath.Dir(strings.TrimSpace(string(real)))+string(os.PathListSeparator)+os.Getenv("PATH"))
	return install(t, filepath.Join("..", "..", "examples", "providers", "muster-provider-files"), "files")
}

// install copies a file to where only we can write.
func install(t *testing.T, from, name string) string {
	t.Helper()
	b, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	path := filepath.Join(dir, Prefix+name)
	if err := os.WriteFile(path, b, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestTheExamplePassesTheSuite(t *testing.T) {
	program, err := Inquire(t.Context(), "files", example(t), nil, quiet())
	if err != nil {
		t.Fatal(err)
	}
	places := map[string]string{}
	reopen := func(t *testing.T) family.Provider {
		p, err := Open(program, "mine", map[string]any{"directory": places[t.Name()]}, Env{Logger: quiet()})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = p.(family.ProviderCloser).Close() })
		return p
	}
	h := providertest.Harness{
		Open: func(t *testing.T) family.Provider {
			places[t.Name()] = t.TempDir()
			return reopen(t)
		},
		Reopen: reopen, Flavor: "small", Image: "any", Zone: "a",
		Firewall: &template.Firewall{Rules: []template.FirewallRule{{Protocol: "tcp", Ports: "443", From: template.Anywhere()}}},
		Refuses: map[string]func(*family.MachineSpec){
			"an unknown flavor": func(s *family.MachineSpec) { s.Flavor.Flavor = "unknown" },
			"an unknown image":  func(s *family.MachineSpec) { s.Image.Image = "unknown" },
			"an unknown zone":   func(s *family.MachineSpec) { s.Zone = "unknown" },
		},
		Left: func(t *testing.T) (left []string) {
			for _, kind := range []string{"machines", "firewalls"} {
				entries, err := os.ReadDir(filepath.Join(places[t.Name()], kind))
				if err != nil {
					t.Fatal(err)
				}
				for _, e := range entries {
					left = append(left, kind+"/"+e.Name())
				}
			}
			return left
		},
	}
	for name, settings := range map[string]map[string]any{"a directory that is not there": {"directory": "/no/such/place"}} {
		t.Run(name, func(t *testing.T) {
			p, _ := Open(program, "mine", settings, Env{Logger: quiet()})
			defer p.(family.ProviderCloser).Close()
			for range 2 { // refused, it is not crashed: it is asked again
				_, err := p.List(t.Context(), nil)
				if e := app.AsError(err); e.Code != app.EInvalid || e.Field != "settings.directory" || !strings.Contains(e.Message, "/no/such/place") {
					t.Errorf("%v", err)
				}
			}
		})
	}
	h.Judge = "example"
	providertest.Run(t, h)
}

func quiet() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }
