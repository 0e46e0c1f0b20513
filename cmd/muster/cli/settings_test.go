package cli

import (
	"os"
	"path/filepath"
	"testing"
)

func TestSettings(t *testing.T) {
	dir := home(t)
	data := filepath.Join(dir, "data")
	if _, err := (&Context{}).settings(); err == nil {
		t.Error("a server out of nowhere")
	}
	if err := os.Mkdir(data, 0o700); err != nil {
		t.Fatal(err)
	}
	left := ClientSettings{URL: "http://localhost:1", Token: "left"}
	if err := WriteClientSettings(data, left); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(filepath.Join(data, ClientFile)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	for _, tt := range []struct {
		name           string
		cli            Context
		url, token     string // environment
		wantURL, wantT string
	}{
		{"what a server has left", Context{}, "", "", "http://localhost:1", "left"},
		{"the environment goes before it", Context{}, "http://env", "env", "http://env", "env"},
		{"flags go before all", Context{Server: "http://flag", Token: "flag"}, "http://env", "env", "http://flag", "flag"},
		{"a token of one's own", Context{Token: "flag"}, "", "", "http://localhost:1", "flag"},
		{"the token on file goes to no other server", Context{Server: "http://elsewhere"}, "", "", "http://elsewhere", ""},
		{"the same server named again", Context{Server: "http://localhost:1"}, "", "", "http://localhost:1", "left"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv("MUSTER_URL", tt.url)
			t.Setenv("MUSTER_TOKEN", tt.token)
			got, err := tt.cli.settings()
			if err != nil || got != (ClientSettings{URL: tt.wantURL, Token: tt.wantT}) {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
}
