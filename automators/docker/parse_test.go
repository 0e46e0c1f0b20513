package docker

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"muster/app"
	"muster/app/family"
)

func TestPorts(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "80": "80:80/tcp", "8080:80": "8080:80/tcp", ":80": "80/tcp", "0:80": "80/tcp", "53:53/udp": "53:53/udp", "127.0.0.1:8080:80": "127.0.0.1:8080:80/tcp", "127.0.0.1::80": "127.0.0.1::80/tcp",
		"[::1]:8080:80": "[::1]:8080:80/tcp", "7000-7002:8000-8002": "7000-7002:8000-8002/tcp", "7000,7001 , 9042": "7000:7000/tcp 7001:7001/tcp 9042:9042/tcp", "53/tcp,53/udp": "53:53/tcp 53:53/udp",
	} {
		got, err := readPorts(in)
		var texts []string
		for _, p := range got {
			texts = append(texts, p.String())
		}
		if err != nil || strings.Join(texts, " ") != want {
			t.Errorf("%q: %q, %v; want %q", in, texts, err, want)
		}
	}
	for _, bad := range []string{"x", "80:", "65536", "0:0", "80-79", "7000-7002:80", "80/icmp", "80:80:80", "1.2.3.4.5:1:1", ":80-81", "80,8080:80,80:81", "-p", "80;rm"} {
		if _, err := readPorts(bad); app.AsError(err).Field != "publish_ports" {
			t.Errorf("%q: %v", bad, err)
		}
	}
	if s := (spec{ports: []port{{host: "7000-7002", inside: "1-3", protocol: "tcp"}, {host: "", inside: "9", protocol: "tcp"}, {host: "5", inside: "5", protocol: "udp"}}}); s.taken() != "7000/tcp 7001/tcp 7002/tcp 5/udp" {
		t.Error(s.taken())
	}
}

func TestVolumes(t *testing.T) {
	got, err := readVolumes("/data/db:/var/lib/db, cache:/cache\t,/tmp/x,/etc/a:/etc/a:ro")
	if err != nil || !slices.Equal(got, []string{"/data/db:/var/lib/db", "cache:/cache", "/tmp/x", "/etc/a:/etc/a:ro"}) {
		t.Errorf("%q, %v", got, err)
	}
	for _, bad := range []string{"a", "/a:b", "../a:/b", "/a:/b:exec", "/a:/b:ro:z", "/:/", "/a:/c,/b:/c", "a b:/c"} {
		if _, err := readVolumes(bad); app.AsError(err).Field != "volumes" {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestVariables(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "A=1": "A=1", "B=2,A=1": "A=1|B=2", "A=x=y": "A=x=y", "A=": "A=", "A=1,2\nB=3, 4\n": "A=1,2|B=3, 4", `{"A": "x\ny", "N": 8080, "O": {"a": 1}}`: "A=x\ny|N=8080|O={\"a\":1}",
	} {
		got, err := readVariables(in)
		var texts []string
		for _, v := range got {
			texts = append(texts, v.name+"="+v.value)
		}
		if err != nil || strings.Join(texts, "|") != want {
			t.Errorf("%q: %q, %v; want %q", in, texts, err, want)
		}
	}
	for _, bad := range []string{"A", "A=1,hunter2", "1A=1", "A=1,A=2", `{"A": `, `{"PATH": "a\nb"}`, `{"a.b": "a\nb"}`, "=1", "A=" + strings.Repeat("x", longestEnv+1)} {
		_, err := readVariables(bad)
		if e := app.AsError(err); e.Field != "environment_variables" || strings.Contains(e.Message, "hunter2") {
			t.Errorf("%.50q: %v", bad, err)
		}
	}
}

func TestNames(t *testing.T) {
	for _, tc := range []struct{ cluster, node, service, want string }{{"shop", "n1", "web", "shop-n1-web"}, {"my shop", "n1", "web", "my_shop-n1-web-"}, {"_x", "n1", "web", "x-n1-web-"}} {
		if got := containerName(tc.cluster, tc.node, tc.service); !strings.HasPrefix(got, tc.want) || !nameForm.MatchString(got) {
			t.Errorf("%v: %s", tc, got)
		}
	}
	if containerName("a b", "n", "s") == containerName("a_b", "n", "s") || containerName("a b", "n", "s") == containerName("a  b", "n", "s") {
		t.Error("two clusters have the same container")
	}
	if got := containerName(strings.Repeat("x", 300), "n", "s"); len(got) > 110 {
		t.Error(got)
	}
	for image, want := range map[string]string{"nginx": "", "team/app:1": "", "localhost/app": "localhost", "reg.example.com:5000/a/b@sha256:x": "reg.example.com:5000"} {
		if got := (spec{image: image}).registry(); got != want {
			t.Errorf("%s is of %q", image, got)
		}
	}
}

// What holds secrets is in files and in one command's environment, never among the words of a command.
func TestSecretsAreNotArguments(t *testing.T) {
	const secret = "hunter2-hunter2"
	s, err := specOf(family.ServiceCall{NodeContext: family.NodeContext{Cluster: "c", Node: "n"}, Service: "web", Fields: map[string]string{
		"image_name": "a", "registry_user": "me", "registry_password": secret, "environment_variables": `{"A": "` + secret + `", "B": "` + secret + `\nline"}`}})
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(s.payload(app.ActionStart)) {
		if strings.Contains(line, secret) && !strings.HasPrefix(line, "printf '%s\\n' ") && !strings.HasPrefix(line, "export B=") {
			t.Errorf("a word of %q", line)
		}
	}
	if args := strings.Join(s.args(), " "); strings.Contains(args, secret) {
		t.Error(args)
	}
	if s.payload(app.ActionStart) != s.payload(app.ActionStart) { //nolint:staticcheck // the second call could have another result
		t.Error("another text for the same call")
	}
}

func TestMacrosInFields(t *testing.T) {
	good := map[string]string{"image_name": "app:%config.version%", "publish_ports": "%config.port%:80", "memory": "%config.memory%", "environment_variables": "A=${secret:A},B=%host.self%",
		"volumes": "%config.dir%:/data", "registry_user": "${secret:USER}", "registry_password": "${secret:TOKEN}", "settle_seconds": "%config.wait%"}
	if err := New().Check(good); err != nil {
		t.Error(err)
	}
	if err := New().Check(map[string]string{"image_name": "a", "publish_ports": "%config.port%:x"}); err == nil {
		t.Error("no error")
	}
}

func TestStates(t *testing.T) {
	st, err := readState("container {\"ID\":\"abc\",\"Image\":\"sha256:1\",\"Running\":true,\"Labels\":{\"muster.parts\":\"image=1,ports=2\"},\"Ports\":{\"80/tcp\":[{\"HostIp\":\"0.0.0.0\",\"HostPort\":\"8080\"}],\"53/udp\":[{\"HostPort\":\"53\"}],\"9/tcp\":null}}\n" +
		"image {\"ID\":\"sha256:1\",\"Digests\":[\"a@sha256:2\"]}\n")
	if err != nil {
		t.Fatal(err)
	}
	f := st.facts(spec{name: "n"})
	if f["port_80"] != "8080" || f["port_53_udp"] != "53" || f["image_digest"] != "sha256:2" || f["container_id"] != "abc" || len(f) != 6 {
		t.Errorf("facts %v", f)
	}
	for _, bad := range []string{"container {", "image []"} {
		if _, err := readState(bad); err == nil {
			t.Errorf("%s: no error", bad)
		}
	}
	if st, err := readState("container \nimage \n"); err != nil || st.there || st.imageID != "" {
		t.Errorf("%+v, %v", st, err)
	}
}

func FuzzFields(f *testing.F) {
	f.Add("8080:80,53/udp", "/a:/b:ro", "A=1,B=2", "a:b")
	f.Add("[::1]:1-2:3-4/sctp", "x:/y", `{"A": [1]}`, "a")
	f.Fuzz(func(t *testing.T, ports, volumes, env, links string) {
		s, err := specOf(family.ServiceCall{Service: "web", Fields: map[string]string{"image_name": "a", "publish_ports": ports, "volumes": volumes, "environment_variables": env, "links": links}})
		if err != nil {
			if e := app.AsError(err); e.Code != app.EInvalid || e.Field == "" {
				t.Fatalf("%+v", e)
			}
			return
		}
		for _, p := range s.ports { // what it writes, it reads as the same
			if again, err := readPorts(p.String()); err != nil || p.host != "" && again[0] != p {
				t.Fatalf("%q became %v, %v", p.String(), again, err)
			}
		}
		for _, a := range s.args() {
			if strings.ContainsAny(a, "\x00\n") {
				t.Fatalf("%q", a)
			}
		}
		for _, v := range s.env {
			if !variableName.MatchString(v.name) || strings.ContainsRune(v.value, 0) {
				t.Fatalf("%q", v)
			}
		}
	})
}

func FuzzState(f *testing.F) {
	f.Add("container {\"ID\":\"a\",\"Ports\":{\"80/tcp\":[{}]}}\nimage {\"ID\":\"b\"}\n")
	f.Add("missing\n")
	f.Fuzz(func(t *testing.T, said string) {
		st, err := readState(said)
		if err != nil {
			return
		}
		st.changes(spec{name: "n", image: "i"}, app.ActionStart)
		if len(st.facts(spec{name: "n"})) > 50 {
			t.Fatal("too many facts")
		}
	})
}

// coopr-forms.json has the fields of every kind that Coopr's own catalog has; the catalog itself is read where it is at hand.
func TestCooprServices(t *testing.T) {
	b, err := os.ReadFile("testdata/coopr-forms.json")
	if err != nil {
		t.Fatal(err)
	}
	var forms []map[string]string
	if err := json.Unmarshal(b, &forms); err != nil || len(forms) < 5 {
		t.Fatal(len(forms), err)
	}
	for _, f := range forms {
		if err := New().Check(f); err != nil {
			t.Errorf("%v: %v", f, err)
		}
	}
	files, _ := filepath.Glob("../../../shared/reference/coopr-definitions/services/*.json")
	actions := 0
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var s struct {
			Provisioner struct {
				Actions map[string]struct {
					Type   string
					Fields map[string]string
				}
			}
		}
		if err := json.Unmarshal(b, &s); err != nil {
			t.Fatal(file, err)
		}
		for name, a := range s.Provisioner.Actions {
			if a.Type != Name {
				continue
			}
			actions++
			if err := New().Check(a.Fields); err != nil {
				t.Errorf("%s: %s: %v", filepath.Base(file), name, err)
			}
		}
	}
	t.Logf("%d actions of Coopr's catalog", actions)
	if len(files) > 0 && actions < 20 {
		t.Errorf("only %d actions of the catalog run containers", actions)
	}
}
