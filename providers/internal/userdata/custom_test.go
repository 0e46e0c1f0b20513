package userdata

import (
	"encoding/base64"
	"io"
	"mime"
	"mime/multipart"
	"net/mail"
	"os"
	"os/exec"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
	"muster/app"
)

func TestCloudConfigsAreMerged(t *testing.T) {
	s := spec(t)
	custom := "#cloud-config\npackages: [htop]\nruncmd: [[echo, \"${HOME}\"]]\nwrite_files: [{path: /etc/motd, content: hi}]\n" +
		"users: [default, {name: ada}]\nssh_authorized_keys: [ssh-ed25519 BBBB ada]\n"
	text, hostKey, err := CloudConfig(s, Options{User: "debian", DataDisks: true, Custom: custom, Limit: LimitEC2})
	var c struct {
		Packages []string
		Runcmd   []any
		Users    []any
		Fqdn     string
		Files    []file            `yaml:"write_files"`
		HostKeys map[string]string `yaml:"ssh_keys"`
	}
	if err != nil || yaml.Unmarshal([]byte(text), &c) != nil || !strings.HasPrefix(text, "#cloud-config\n") {
		t.Fatalf("%s, %v", text, err)
	}
	if len(c.Packages) != 1 || len(c.Runcmd) != 2 || len(c.Users) != 3 || len(c.Files) != 2 || c.Files[0].Path != diskScriptPath {
		t.Errorf("%+v", c)
	}
	if c.HostKeys["ed25519_public"] != hostKey || c.Fqdn != s.Hostname {
		t.Errorf("Muster's own part: %+v", c)
	}
}

func TestScriptsComeBesideTheCloudConfig(t *testing.T) {
	for _, script := range []string{"#!/bin/sh\necho ${HOME}", "#!/bin/sh\necho grüezi"} {
		s := spec(t)
		text, hostKey, err := CloudConfig(s, Options{Custom: script})
		again, _, _ := CloudConfig(s, Options{Custom: script})
		m, read := mail.ReadMessage(strings.NewReader(text))
		if err != nil || read != nil || text != again {
			t.Fatalf("%s, %v, %v", text, err, read)
		}
		kind, params, _ := mime.ParseMediaType(m.Header.Get("Content-Type"))
		parts := multipart.NewReader(m.Body, params["boundary"])
		first, err := parts.NextPart()
		if kind != "multipart/mixed" || err != nil || !strings.HasPrefix(first.Header.Get("Content-Type"), "text/x-shellscript") {
			t.Fatalf("%s, %v", text, err)
		}
		if first.Header.Get("Content-Transfer-Encoding") == "7bit" {
			if body, _ := io.ReadAll(first); string(body) != script+"\n" {
				t.Errorf("%q", body)
			}
		}
		last, err := parts.NextPart()
		if err != nil || !strings.HasPrefix(last.Header.Get("Content-Type"), "text/cloud-config") {
			t.Fatal(text)
		}
		if body, _ := io.ReadAll(last); !strings.Contains(string(body), hostKey) {
			t.Errorf("%s", body)
		}
		if _, err := parts.NextPart(); err != io.EOF {
			t.Error(err)
		}
	}
}

func TestUserDataNeverOverridesMusters(t *testing.T) {
	for _, text := range []string{"ssh_keys: {}", "ssh_deletekeys: false", "hostname: x", "merge_how: []", "users: [root]", "users: [{name: debian}]",
		"users: [{}]", "users: x", "write_files: [{path: /etc/ssh/../ssh/ssh_host_ed25519_key}]", "write_files: [{path: etc/ssh}]", "write_files: [1]",
		"write_files: [{path: /home/debian/.ssh/authorized_keys}]", "runcmd: x", "[1]", "a: [", "ssh_authorized_keys: [1]", "disable_root: true"} {
		_, _, err := CloudConfig(spec(t), Options{User: "debian", Custom: "#cloud-config\n" + text})
		if app.CodeOf(err) != app.EInvalid || app.AsError(err).Field != "settings.user_data" {
			t.Errorf("%s: %v", text, err)
		}
	}
	if err := CheckCustom("Content-Type: multipart/mixed", LimitEC2); app.CodeOf(err) != app.EInvalid {
		t.Error(err)
	}
	if err := CheckScript("#cloud-config\n", LimitEC2); app.CodeOf(err) != app.EInvalid {
		t.Error(err)
	}
}

// What the check takes is never too long for the cloud together with Muster's part.
func TestUserDataIsBounded(t *testing.T) {
	for _, begin := range []string{"#!/bin/sh\n#", "#cloud-config\na: ", "#!/bin/sh\n# ü"} {
		for _, limit := range []int{LimitEC2, LimitNova, LimitDroplet} {
			taken := 0
			for n := limit - 9000; n < limit+100; n += 50 {
				text := begin + strings.Repeat("x", n)
				if CheckCustom(text, limit) != nil {
					continue
				}
				taken++
				if _, _, err := CloudConfig(spec(t), Options{User: "debian", DataDisks: true, Custom: text, Limit: limit}); err != nil {
					t.Fatalf("%d bytes of %q: %v", n, begin, err)
				}
			}
			if over := CheckCustom(begin+strings.Repeat("x", limit), limit); app.CodeOf(over) != app.EInvalid || taken == 0 && !strings.Contains(begin, "ü") {
				t.Errorf("%q: %d taken, %v", begin, taken, over)
			}
		}
	}
}

func TestCustomScriptRunsOnce(t *testing.T) {
	r := newRoot(t, "")
	mark := r.dir + "/ran"
	o := StartOptions{User: "root", Started: "echo said >>" + mark,
		Custom: "#!/bin/sh\necho mine >>" + mark + "\nexit 7"}
	script, _, err := StartScript(named(t, "n1"), o)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		c := exec.Command("bash")
		c.Stdin = strings.NewReader(script)
		c.Env = []string{"PATH=" + r.bin + ":" + os.Getenv("PATH"), "MUSTER_ROOT=" + r.dir}
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	if got := r.read("ran"); got != "said\nmine\nsaid\n" {
		t.Errorf("%q", got)
	}
}

// TestNovaTakesTheLongestUserData: the limit is of what isn't encoded yet.
func TestNovaTakesTheLongestUserData(t *testing.T) {
	const most = 65535 // of Nova's schema
	if n, more := base64.StdEncoding.EncodedLen(LimitNova), base64.StdEncoding.EncodedLen(LimitNova+1); n > most || more <= most {
		t.Errorf("%d bytes are %d encoded, one more is %d", LimitNova, n, more)
	}
}
