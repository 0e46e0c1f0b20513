package jobs

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/family"
	"muster/app/health"
	"muster/app/template"
	"muster/jobs/remote"
	"muster/jobs/remote/remotetest"
)

// goodNode returns assertions and the output of a node that passes them.
func goodNode() (assertions, nodeInfo) {
	hosts := []family.HostEntry{
		{Address: "10.0.0.1", Names: []string{"n1.c1.example.org", "n1"}}, {Address: "10.0.0.2", Names: []string{"n2.c1.example.org", "n2"}},
	}
	c := assertions{
		node: app.Node{Name: "n1", Hostname: "n1.c1.example.org", OwnRoot: true, SSHUser: "admin",
			Addresses: map[string]string{app.AddressAccess: "198.51.100.7", app.AddressBind: "10.0.0.1"}},
		hosts: hosts, of: 2, tools: []string{"sh", "tar"}, provider: "cloud",
		image:  template.Image{Extra: map[string]string{"os": "debian", "os_version": "12", "firewall": "off"}},
		flavor: template.Flavor{MemoryGB: 4, DiskGB: 20},
	}
	began := time.Unix(1000, 0)
	return c, nodeInfo{root: true, began: began, heard: began.Add(200 * time.Millisecond), said: map[string][]string{
		"time": {"1000"}, "uid": {"0"}, "os": {"debian"}, "version": {"12"}, "hostname": {"n1"}, "address": {"127.0.0.1", "10.0.0.1", "fe80::1"},
		"addresses": {"ip"}, "resolver": {"getent"}, "memory": {"4026531"}, "disk": {"20000000"}, "firewall": {"off"}, "passwords": {"no"}, "end": {"ok"},
		"resolved": {"10.0.0.1 n1.c1.example.org n1", "10.0.0.1 n1.c1.example.org n1", "10.0.0.2 n2.c1.example.org n2", "10.0.0.2 n2.c1.example.org n2"},
		"reversed": {"10.0.0.1 n1.c1.example.org n1", "10.0.0.2 n2.c1.example.org n2"},
	}}
}

func TestNodeAssertions(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(c *assertions, f nodeInfo)
		fails  string // the check, "" for none
		level  app.NodeLevel
		says   string
	}{
		"as it should be": {func(*assertions, nodeInfo) {}, "", "", ""},
		"nothing declared": {func(c *assertions, f nodeInfo) {
			c.image, c.flavor = template.Image{}, template.Flavor{}
			f.said["os"] = nil
		}, "", "", ""},
		"finer version":    {func(_ *assertions, f nodeInfo) { f.said["version"] = []string{"12.5"} }, "", "", ""},
		"other version":    {func(_ *assertions, f nodeInfo) { f.said["version"] = []string{"120"} }, "os", health.NodeRequired, "debian 120, expected debian 12"},
		"other system":     {func(_ *assertions, f nodeInfo) { f.said["os"] = []string{"rocky"} }, "os", health.NodeRequired, "rocky"},
		"no root":          {func(_ *assertions, f nodeInfo) { f.said["uid"] = []string{"1000"} }, "root", health.NodeRequired, "1000"},
		"no root, shared":  {func(c *assertions, f nodeInfo) { c.node.OwnRoot = false; f.said["uid"] = []string{"1000"} }, "root", health.NodeAdvised, ""},
		"passwords":        {func(_ *assertions, f nodeInfo) { f.said["passwords"] = []string{"yes"} }, "passwords", health.NodeAdvised, "password"},
		"no bind address":  {func(_ *assertions, f nodeInfo) { f.said["address"] = []string{"127.0.0.1", "10.0.0.11"} }, "address bind", health.NodeRequired, "10.0.0.11"},
		"no address known": {func(c *assertions, _ nodeInfo) { c.node.Addresses = nil }, "address access", health.NodeRequired, "none"},
		"only forward":     {func(_ *assertions, f nodeInfo) { f.said["reversed"] = f.said["reversed"][:1] }, "names", health.NodeRequired, "n2.c1.example.org"},
		"only reverse":     {func(_ *assertions, f nodeInfo) { f.said["resolved"] = f.said["resolved"][:2] }, "names", health.NodeRequired, "n2.c1.example.org"},
		"peer unknown":     {func(_ *assertions, f nodeInfo) { f.said["resolved"], f.said["reversed"] = f.said["resolved"][:2], nil }, "names", health.NodeRequired, "n2.c1.example.org"},
		"peer is another": {func(_ *assertions, f nodeInfo) {
			f.said["resolved"] = []string{"10.0.0.1 n1.c1.example.org", "10.0.0.9 n2.c1.example.org", "10.0.0.2 x"}
		}, "names", health.NodeRequired, "1 unresolved"},
		"127.0.1.1": {func(_ *assertions, f nodeInfo) {
			f.said["resolved"] = []string{"127.0.1.1 n1.c1.example.org n1", "10.0.0.2 n2.c1.example.org n2"}
		}, "own name", health.NodeAdvised, "10.0.0.1"},
		"nonsense resolved": {func(_ *assertions, f nodeInfo) {
			f.said["resolved"] = []string{"", " ", "x", "10.0.0.1 n1.c1.example.org"}
		}, "names", health.NodeRequired, "n2"},
		"hostname":           {func(_ *assertions, f nodeInfo) { f.said["hostname"] = []string{"localhost"} }, "hostname", health.NodeAdvised, "localhost"},
		"clock a second off": {func(_ *assertions, f nodeInfo) { f.said["time"] = []string{"999"} }, "", "", ""},
		"clock late":         {func(_ *assertions, f nodeInfo) { f.said["time"] = []string{"990"} }, "time", health.NodeAdvised, "9 s off"},
		"clock wrong":        {func(_ *assertions, f nodeInfo) { f.said["time"] = []string{"1099"} }, "time", health.NodeRequired, "1 min 39 s off"},
		"no clock":           {func(_ *assertions, f nodeInfo) { f.said["time"] = []string{"now"} }, "time", health.NodeRequired, "now"},
		"firewall":           {func(_ *assertions, f nodeInfo) { f.said["firewall"] = []string{"on"} }, "firewall", health.NodeRequired, "on"},
		"program missing":    {func(_ *assertions, f nodeInfo) { f.said["missing"] = []string{"tar"} }, "programs", health.NodeRequired, "tar missing"},
		"less memory":        {func(_ *assertions, f nodeInfo) { f.said["memory"] = []string{"3000000"} }, "memory", health.NodeAdvised, "2.9 GiB"},
		"half the disk":      {func(_ *assertions, f nodeInfo) { f.said["disk"] = []string{"9000000"} }, "disk", health.NodeRequired, "8.6 GiB"},
		"a GPU":              {func(c *assertions, f nodeInfo) { c.flavor.GPUs = 1; f.said["gpus"] = []string{"1"} }, "", "", ""},
		"no GPU": {func(c *assertions, f nodeInfo) { c.flavor.GPUs = 1; f.said["gpus"] = []string{"0"} }, "gpus", health.NodeRequired,
			"0 GPUs, expected 1 GPU"},
		"too few GPUs": {func(c *assertions, f nodeInfo) { c.flavor.GPUs = 4; f.said["gpus"] = []string{"3"} }, "gpus", health.NodeAdvised,
			"3 GPUs, expected 4 GPUs"},
		"host's GPUs": {func(c *assertions, f nodeInfo) { c.flavor.GPUs = 1; c.node.OwnRoot = false }, "", "", ""},
		"nothing reported": {func(_ *assertions, f nodeInfo) {
			delete(f.said, "memory")
			delete(f.said, "firewall")
			delete(f.said, "addresses")
		}, "", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			c, f := goodNode()
			tc.change(&c, f)
			r := health.NodeReport{Checks: c.judge(f)}
			failed := append(r.Failed(health.NodeRequired), r.Failed(health.NodeAdvised)...)
			if tc.fails == "" {
				if len(failed) > 0 || r.Err("n1") != nil {
					t.Errorf("%v", failed)
				}
				return
			}
			if len(failed) != 1 || failed[0].Name != tc.fails || failed[0].Level != tc.level || failed[0].Hint == "" {
				t.Fatalf("%+v, want %s (%s) only", failed, tc.fails, tc.level)
			}
			if !strings.Contains(failed[0].String(), tc.says) {
				t.Errorf("%q does not say %q", failed[0], tc.says)
			}
			err := r.Err("n1")
			if (err != nil) != (tc.level == health.NodeRequired) {
				t.Errorf("error %v", err)
			}
			if e := app.AsError(err); err != nil && (e.Code != app.EInvalid || e.Reason != "node_contract" || !strings.Contains(e.Message, failed[0].String())) {
				t.Errorf("%+v", e)
			}
		})
	}
}

// askOn asks the machine that the test runs on.
func askOn(t *testing.T, n *remotetest.Node, c assertions) (nodeInfo, error) {
	t.Helper()
	sh, err := remote.Dial(t.Context(), n.Target())
	if err != nil {
		t.Fatal(err)
	}
	defer sh.Close()
	c.now = time.Now
	return askNode(t.Context(), sh, c)
}

func TestNodeAssertionsOnThisMachine(t *testing.T) {
	nodes := map[string]func(t *testing.T) *remotetest.Node{
		"in-process": func(t *testing.T) *remotetest.Node { return &remotetest.Start(t, remotetest.Options{}).Node },
		"openssh":    func(t *testing.T) *remotetest.Node { return remotetest.OpenSSH(t) },
	}
	for name, start := range nodes {
		t.Run(name, func(t *testing.T) {
			c := assertions{node: app.Node{Name: "n1", Addresses: map[string]string{app.AddressAccess: "127.0.0.1"}}, tools: everyNode}
			f, err := askOn(t, start(t), c)
			if err != nil {
				t.Fatal(err)
			}
			r := health.NodeReport{Checks: c.judge(f)}
			if err := r.Err("n1"); err != nil {
				t.Error(err)
			}
			if f.one("os") == "" || f.one("uid") == "" || f.one("hostname")+f.one("disk") != "" {
				t.Errorf("too little or too much was said: %v", f.said)
			}
			c.node.OwnRoot, c.flavor.GPUs = true, 1
			c.hosts = []family.HostEntry{{Address: "127.0.0.1", Names: []string{"localhost"}}, {Address: "192.0.2.7", Names: []string{"noone.example.org"}}}
			if f, err = askOn(t, start(t), c); err != nil {
				t.Fatal(err)
			}
			if name, _ := os.Hostname(); f.one("memory") == "" || f.one("disk") == "" || f.one("hostname") != name || f.one("uid") != strconv.Itoa(os.Geteuid()) {
				t.Errorf("too little was said: %v", f.said)
			}
			if _, err := os.Stat("/sys/bus/pci/devices"); err == nil && f.one("gpus") == "" {
				t.Errorf("GPUs aren't counted: %v", f.said)
			}
			if v := c.resolves(f); v.OK || !strings.Contains(v.Found, "1 unresolved: noone.example.org") {
				t.Errorf("%+v of %v", v, f.said)
			}
			if v := c.addresses(f); len(v) != 1 || !v[0].OK || v[0].Skipped == "" && !strings.Contains(v[0].Found, "on an interface") {
				t.Errorf("%+v", v)
			}
		})
	}
}

func TestGPUsAreCounted(t *testing.T) {
	pci := t.TempDir()
	for name, d := range map[string][2]string{
		"console": {"0x030000", "0x1234"}, "bridge": {"0x060000", "0x8086"}, "card of AWS": {"0x020000", "0x1d0f"}, "broken": {"", ""},
		"t4": {"0x030200", "0x10de"}, "desktop": {"0x030000", "0x10de"}, "mi300": {"0x120000", "0x1002"}, "trainium": {"0x088000", "0x1d0f"},
	} {
		dir := filepath.Join(pci, name)
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		for file, text := range map[string]string{"class": d[0], "vendor": d[1]} {
			if err := os.WriteFile(filepath.Join(dir, file), []byte(text+"\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	script := "gpus=y\nsay() { echo \"$1\"; }\n" + strings.ReplaceAll(gpuScript, "/sys/bus/pci/devices", pci)
	if out, err := exec.CommandContext(t.Context(), "sh", "-c", script).CombinedOutput(); err != nil || string(out) != "gpus=4\n" {
		t.Errorf("%s, %v", out, err)
	}
}

// A node that tells something else than the truth, or not all of it, is not taken for a good one.
func TestNodeAssertionsInvalidOutput(t *testing.T) {
	for name, tc := range map[string]struct {
		program, text string
		code          app.Code
		check         string // or the check that then fails
	}{
		"clock":             {"date", "echo 12345", "", "time"},
		"no clock":          {"date", "exit 1", app.ETransient, ""},
		"twice":             {"date", "echo 1; echo muster-node time=2", app.ETransient, ""},
		"unknown":           {"date", "echo 1; echo muster-node magic=2", app.ETransient, ""},
		"no equals sign":    {"df", "echo muster-node", "", ""},
		"ends in the midst": {"df", "kill -KILL $PPID; kill -KILL 0", app.ETransient, ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, tc.program), []byte("#!/bin/sh\n"+tc.text+"\n"), 0o755); err != nil {
				t.Fatal(err)
			}
			s := remotetest.Start(t, remotetest.Options{Env: []string{"PATH=" + dir + ":$PATH"}})
			c := assertions{node: app.Node{Name: "n1", Addresses: map[string]string{app.AddressAccess: "127.0.0.1"}, OwnRoot: tc.check == ""}, tools: []string{"sh"}}
			f, err := askOn(t, &s.Node, c)
			if app.CodeOf(err) != tc.code {
				t.Fatalf("%v, want code %q", err, tc.code)
			}
			if err != nil || tc.check == "" {
				return
			}
			r := health.NodeReport{Checks: c.judge(f)}
			if failed := r.Failed(health.NodeRequired); len(failed) != 1 || failed[0].Name != tc.check {
				t.Errorf("%+v", failed)
			}
		})
	}
}

// The SSH server's settings are believed only where nothing else could matter.
func TestNodeAssertionsPasswords(t *testing.T) {
	const include, no = "Include DIR/sshd_config.d/*.conf\n", "PasswordAuthentication no\n"
	for name, tc := range map[string]struct{ main, drop, says string }{
		"no":                      {no, "", "no"},
		"no with comments":        {"# PasswordAuthentication yes\nUsePAM yes\n" + no, "# x\n", "no"},
		"a drop-in":               {include + "UsePAM yes\n", no, "no"},
		"both":                    {include + no, no, "no"},
		"a drop-in not included":  {"UsePAM yes\n", no, "asked"},
		"nothing":                 {"UsePAM yes\n", "", "asked"},
		"yes":                     {"PasswordAuthentication yes\n", "", "asked"},
		"both words":              {include + no, "PasswordAuthentication yes\n", "asked"},
		"other spelling":          {"passwordauthentication=NO\n", "", "asked"},
		"within a match":          {"Match User x\n" + no, "", "asked"},
		"a match after it":        {no + "match all\n PasswordAuthentication yes\n", "", "asked"},
		"included from elsewhere": {"Include /etc/other\n" + no, "", "asked"},
		"no settings":             {"", "", "asked"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			write := func(file, text string, mode os.FileMode) {
				if err := os.WriteFile(filepath.Join(dir, file), []byte(strings.ReplaceAll(text, "DIR", dir)), mode); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.Mkdir(filepath.Join(dir, "sshd_config.d"), 0o700); err != nil {
				t.Fatal(err)
			}
			if tc.main != "" {
				write("sshd_config", tc.main, 0o600)
			}
			if tc.drop != "" {
				write("sshd_config.d/50-x.conf", tc.drop, 0o600)
			}
			write("sshd", "#!/bin/sh\necho port 22\necho passwordauthentication asked\n", 0o700)
			cmd := exec.Command("sh", "-c", "say() { echo \"$1\"; }\n"+passwordsScript+"passwords")
			cmd.Env = append(os.Environ(), "ssh="+dir, "PATH="+dir+":"+os.Getenv("PATH"))
			out, err := cmd.CombinedOutput()
			if err != nil || string(out) != "passwords="+tc.says+"\n" {
				t.Errorf("%v, %q", err, out)
			}
		})
	}
}
