package output

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const incoming = `apiVersion: v1
kind: Config
clusters:
- name: default
  cluster: {server: "https://10.0.0.1:6443", certificate-authority-data: QUJD}
users:
- name: default
  user: {client-certificate-data: QQ==, client-key-data: Qg==}
contexts:
- name: default
  context: {cluster: default, user: default, namespace: web}
current-context: default
`

var shopMark = mark{Server: "https://muster", Tenant: "default", Cluster: "shop", ID: "shop-1"}

func mergeInto(t *testing.T, existing string, m mark, keep bool) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "new", "config")
	if existing != "" {
		_ = os.MkdirAll(filepath.Dir(file), 0o700)
		if err := os.WriteFile(file, []byte(existing), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := mergeKubeconfig(file, "kubeconfig of shop", incoming, m, keep); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(file)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("the file's mode is %v: %v", info.Mode(), err)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(file), "*")); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// namesIn are the names of a file's entries, and its current context.
func namesIn(t *testing.T, text string) string {
	t.Helper()
	k, err := readKubeconfig("config", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, l := range kubeLists {
		var names []string
		for _, e := range k.list(l.list).Content {
			name := field(e, "name").Value
			if c := field(e, "context"); c != nil {
				name += "=" + field(c, "user").Value + "@" + field(c, "cluster").Value
			}
			names = append(names, name)
		}
		all = append(all, strings.Join(names, ","))
	}
	if n := field(k.root, "current-context"); n != nil {
		all = append(all, n.Value)
	}
	return strings.Join(all, " ")
}

const mine = `# mine
apiVersion: v1
kind: Config
preferences: {colors: true}
x-own: [1, 2] # stays
clusters:
- name: shop-default
  cluster: {server: https://example.org}
users:
- name: ada
  user: {exec: {command: login, apiVersion: v1}}
contexts:
- name: home
  context: {cluster: shop-default, user: ada}
current-context: home
`

func TestMergesKubeconfigs(t *testing.T) {
	again := mergeInto(t, mine, shopMark, false)
	renamed, recreated, other := shopMark, shopMark, shopMark
	renamed.Cluster, recreated.ID, other.Server = "store", "shop-9", "https://elsewhere"
	for name, c := range map[string]struct {
		existing string
		m        mark
		keep     bool
		want     string
	}{
		"into nothing":       {"", shopMark, false, "shop-default shop-default shop-default=shop-default@shop-default shop-default"},
		"into nothing, keep": {"", shopMark, true, "shop-default shop-default shop-default=shop-default@shop-default"},
		"kubectl's empty one": {"apiVersion: v1\nclusters: []\ncontexts: null\ncurrent-context: \"\"\nkind: Config\nusers: []\n", shopMark, false,
			"shop-default shop-default shop-default=shop-default@shop-default shop-default"},
		"beside others": {mine, shopMark, false,
			"shop-default,shop-default-2 ada,shop-default home=ada@shop-default,shop-default=shop-default@shop-default-2 shop-default"},
		"keep": {mine, shopMark, true,
			"shop-default,shop-default-2 ada,shop-default home=ada@shop-default,shop-default=shop-default@shop-default-2 home"},
		"again": {again, shopMark, true,
			"shop-default,shop-default-2 ada,shop-default home=ada@shop-default,shop-default=shop-default@shop-default-2 shop-default"},
		"recreated": {again, recreated, false,
			"shop-default,shop-default-2 ada,shop-default home=ada@shop-default,shop-default=shop-default@shop-default-2 shop-default"},
		"renamed": {again, renamed, true,
			"shop-default,store-default ada,store-default home=ada@shop-default,store-default=store-default@store-default store-default"},
		"another server's": {again, other, false,
			"shop-default,shop-default-2,shop-default-3 ada,shop-default,shop-default-2 " +
				"home=ada@shop-default,shop-default=shop-default@shop-default-2,shop-default-2=shop-default-2@shop-default-3 shop-default-2"},
	} {
		if got := namesIn(t, mergeInto(t, c.existing, c.m, c.keep)); got != c.want {
			t.Errorf("%s:\n%s, not\n%s", name, got, c.want)
		}
	}
	if mergeInto(t, again, shopMark, false) != again {
		t.Error("a second merge changes the file")
	}
	for _, kept := range []string{"# mine\n", "preferences: {colors: true}", "x-own: [1, 2] # stays", "user: {exec: {command: login, apiVersion: v1}}",
		"server: \"https://10.0.0.1:6443\"", "certificate-authority-data: QUJD", "namespace: web"} {
		if !strings.Contains(again, kept) {
			t.Errorf("the file lacks %q:\n%s", kept, again)
		}
	}
}

// A file that can't be merged is named with its line, and stays as it is, byte for byte.
func TestBrokenKubeconfigsAreRefused(t *testing.T) {
	for name, c := range map[string]struct{ existing, incoming, want string }{
		"no YAML":           {"a: b\nclusters: [\n", incoming, "config:"},
		"no mapping":        {"- a\n", incoming, "config:1: it isn't a kubeconfig"},
		"another kind":      {"apiVersion: v1\nkind: Pod\n", incoming, `config:2: it isn't a kubeconfig: kind is "Pod"`},
		"a key twice":       {"users: []\nkind: Config\nusers: []\n", incoming, "config:3: it can't be read: mapping key \"users\" already defined at line 1"},
		"several documents": {"kind: Config\n---\nkind: Config\n", incoming, "several YAML documents"},
		"no list":           {"clusters: {a: b}\n", incoming, "config:1: clusters isn't a list"},
		"no name":           {"users:\n- user: {}\n", incoming, "config:2: an entry of users has no name"},
		"too large":         {"a: " + strings.Repeat("x", maxKubeconfig), incoming, "larger than 4 MiB"},
		"nothing incoming":  {mine, "kind: Config\n", "kubeconfig of shop: it has no clusters"},
		"a program": {mine, strings.Replace(incoming, "client-key-data: Qg==", "exec: {command: sh}", 1),
			`kubeconfig of shop:8: user "default" has exec, which can name a program`},
		"a file":          {mine, strings.Replace(incoming, "client-key-data: Qg==", "tokenFile: /etc/shadow", 1), "has tokenFile"},
		"an alias":        {mine, strings.Replace(incoming, "user: {", "user: &a {", 1), "has aliases"},
		"an unknown user": {mine, strings.Replace(incoming, "user: default", "user: root", 1), "a context has no user"},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "config")
			if err := os.WriteFile(file, []byte(c.existing), 0o640); err != nil {
				t.Fatal(err)
			}
			_, err := mergeKubeconfig(file, "kubeconfig of shop", c.incoming, shopMark, false)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("the error is %v, not %q", err, c.want)
			}
			info, _ := os.Stat(file)
			if b, err := os.ReadFile(file); err != nil || string(b) != c.existing || info.Mode().Perm() != 0o640 {
				t.Errorf("the file was changed: %v", err)
			}
			if _, err := os.Stat(file + ".lock"); err == nil {
				t.Error("the lock was left behind")
			}
		})
	}
}

func TestKubeconfigsAreLocked(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(file+".lock", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := mergeKubeconfig(file, "kubeconfig of shop", incoming, shopMark, false)
	if err == nil || !strings.Contains(err.Error(), "config.lock exists") {
		t.Errorf("the error is %v", err)
	}
	if _, err := os.Stat(file + ".lock"); err != nil {
		t.Error("another program's lock was removed")
	}
}

// A link to where people keep their file stays a link.
func TestLinkedKubeconfigs(t *testing.T) {
	dir := t.TempDir()
	if err := os.Symlink("real", filepath.Join(dir, "config")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "real"), []byte(mine), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := mergeKubeconfig(filepath.Join(dir, "config"), "kubeconfig of shop", incoming, shopMark, false); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(filepath.Join(dir, "real")); err != nil || !strings.Contains(string(b), "shop-default-2") {
		t.Errorf("the file has %s: %v", b, err)
	}
}

func TestKubeconfigPath(t *testing.T) {
	t.Setenv("HOME", "/home/ada")
	for env, want := range map[string]string{"": "/home/ada/.kube/config", "a": "a", ":b:c": "b"} {
		t.Setenv("KUBECONFIG", env)
		if got, err := kubeconfigPath(); err != nil || got != want {
			t.Errorf("with KUBECONFIG=%s it's %s: %v", env, got, err)
		}
	}
}
