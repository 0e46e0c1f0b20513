package chef_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// standInVariable makes the test's binary a stand-in for chef-solo, since Chef cannot be had where the tests run. It reads the configuration, the
// attributes and the run list as
// Chef does, resolves roles, recipes and items of data bags in the directories that were set, understands file, log, raise and sleep of recipes,
// keeps the node's object and what Chef leaves
// behind when it fails, and refuses what Chef refuses. Beyond that it holds the caller to what package chef promises: nothing but its own user may
// read what it was given.
const standInVariable = "MUSTER_CHEF_STANDIN"

func TestMain(m *testing.M) {
	if os.Getenv(standInVariable) != "" {
		os.Exit(standIn(os.Args[1:]))
	}
	goleak.VerifyTestMain(m)
}

// placeStandIn makes a directory in which the stand-in has a name, to go before the PATH of a node.
func placeStandIn(t testing.TB, name string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	script := fmt.Sprintf("#!/bin/sh\n%s=%s exec %s \"$@\"\n", standInVariable, name, self)
	if err := os.WriteFile(filepath.Join(dir, name), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

type standInRun struct {
	conf       map[string]string
	attributes map[string]any
	defaults   map[string]any // of roles
	why        bool
	updated    int
}

func standIn(args []string) int {
	r := standInRun{conf: map[string]string{}}
	err := r.run(args)
	if err == nil {
		fmt.Printf("Chef Infra Client finished, %d resources updated\n", r.updated)
		return 0
	}
	if cache := r.conf["file_cache_path"]; cache != "" {
		b, _ := json.Marshal(r.attributes)
		_ = os.WriteFile(filepath.Join(cache, "failed-run-data.json"), b, 0o600)
	}
	fmt.Println("Chef Infra Client failed. 0 resources updated")
	fmt.Println("[2026-01-01T00:00:00+00:00] FATAL: Stacktrace dumped to chef-stacktrace.out")
	fmt.Println("[2026-01-01T00:00:00+00:00] FATAL: PLEASE PROVIDE THE CONTENTS OF THE stacktrace.out FILE (above) IF YOU FILE A BUG REPORT")
	fmt.Printf("[2026-01-01T00:00:00+00:00] FATAL: %v\n", err)
	return 1
}

func (r *standInRun) run(args []string) error {
	if slices.Contains(args, "--version") {
		fmt.Println("Stand-in for Chef: 0.1")
		return nil
	}
	var config, attributes, runList string
	local := os.Getenv(standInVariable) == "chef-solo" || os.Getenv(standInVariable) == "cinc-solo"
	for i := 0; i < len(args); i++ {
		value := func() string {
			if i++; i < len(args) {
				return args[i]
			}
			return ""
		}
		switch args[i] {
		case "--config":
			config = value()
		case "--json-attributes":
			attributes = value()
		case "--override-runlist":
			runList = value()
		case "--format", "--log_level":
			value()
		case "--why-run":
			r.why = true
		case "--local-mode":
			local = true
		case "--force-formatter", "--no-color":
		default:
			return fmt.Errorf("invalid option: %s", args[i])
		}
	}
	if !local {
		return errors.New("Net::HTTPClientException: there is no server")
	}
	if err := r.configure(config); err != nil {
		return err
	}
	for _, private := range []string{config, attributes} {
		info, err := os.Stat(filepath.Dir(private))
		if err != nil || info.Mode().Perm() != 0o700 {
			return fmt.Errorf("others may read what lies beside %s: %v, %v", private, info, err)
		}
		if filepath.Dir(filepath.Clean(r.conf["node_path"])) != filepath.Dir(private) {
			return fmt.Errorf("the node's object would stay at %s", r.conf["node_path"])
		}
	}
	b, err := os.ReadFile(attributes)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(b, &r.attributes); err != nil {
		return fmt.Errorf("Chef::Exceptions::JSON::ParseError: %v", err)
	}
	// Local mode saves the node's object before it begins.
	if err := os.WriteFile(filepath.Join(r.conf["node_path"], r.conf["node_name"]+".json"), b, 0o600); err != nil {
		return err
	}
	recipes, err := r.expand(strings.Split(runList, ","), nil)
	if err != nil {
		return err
	}
	r.attributes = under(r.attributes, r.defaults)
	var files []string
	for _, recipe := range recipes { // all are found before any is run
		file, err := r.find(recipe)
		if err != nil {
			return err
		}
		files = append(files, file)
	}
	for _, file := range files {
		if err := r.recipe(file); err != nil {
			return err
		}
	}
	return nil
}

var configLine = regexp.MustCompile(`^(\w+) \[?(?:"([^"]*)"|'([^']*)'|(:?\w+))\]?$`)

func (r *standInRun) configure(file string) error {
	b, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(b)) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		m := configLine.FindStringSubmatch(line)
		if m == nil {
			return fmt.Errorf("Chef::Exceptions::ConfigurationError: syntax error: %s", line)
		}
		r.conf[m[1]] = m[2] + m[3] + m[4]
	}
	for _, name := range []string{"cookbook_path", "data_bag_path", "role_path", "node_path", "file_cache_path", "file_backup_path"} {
		if info, err := os.Stat(r.conf[name]); err != nil || !info.IsDir() {
			return fmt.Errorf("%s is no directory: %v", name, err)
		}
	}
	return nil
}

var listItem = regexp.MustCompile(`^(recipe|role)\[([^\]]+)\]$`)

func (r *standInRun) expand(items []string, within []string) (recipes []string, err error) {
	for _, one := range items {
		m := listItem.FindStringSubmatch(one)
		if m == nil {
			m = []string{"", "recipe", one}
		}
		if m[1] == "recipe" {
			name, _, _ := strings.Cut(m[2], "@")
			recipes = append(recipes, name)
			continue
		}
		if slices.Contains(within, m[2]) {
			return nil, fmt.Errorf("role %s contains itself", m[2])
		}
		role, err := r.role(m[2])
		if err != nil {
			return nil, err
		}
		r.defaults = under(r.defaults, role.Defaults)
		below, err := r.expand(role.RunList, append(within, m[2]))
		if err != nil {
			return nil, err
		}
		recipes = append(recipes, below...)
	}
	return recipes, nil
}

type standInRole struct {
	Name     string         `json:"name"`
	RunList  []string       `json:"run_list"`
	Defaults map[string]any `json:"default_attributes"`
}

// role reads a role as JSON, or in Ruby as far as people write it by hand.
func (r *standInRun) role(name string) (role standInRole, err error) {
	file := filepath.Join(r.conf["role_path"], name)
	if b, err := os.ReadFile(file + ".json"); err == nil {
		if err := json.Unmarshal(b, &role); err != nil || role.Name != name {
			return role, fmt.Errorf("the file of role %s is that of %q: %v", name, role.Name, err)
		}
		return role, nil
	}
	b, err := os.ReadFile(file + ".rb")
	if err != nil {
		return role, fmt.Errorf("Chef::Exceptions::RoleNotFound: Role '%s' could not be found", name)
	}
	for line := range strings.Lines(string(b)) {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		text := strings.NewReplacer("'", `"`, "=>", ":").Replace(rest)
		switch word {
		case "", "#":
		case "name":
			err = json.Unmarshal([]byte(text), &role.Name)
		case "description":
		case "run_list":
			err = json.Unmarshal([]byte("["+text+"]"), &role.RunList)
		case "default_attributes":
			err = json.Unmarshal([]byte("{"+text+"}"), &role.Defaults)
		default:
			err = fmt.Errorf("NoMethodError: undefined method `%s' for role %s", word, name)
		}
		if err != nil {
			return role, err
		}
	}
	if role.Name != name {
		return role, fmt.Errorf("the file of role %s is that of %q", name, role.Name)
	}
	return role, nil
}

// under returns attributes with others under them.
func under(attributes, defaults map[string]any) map[string]any {
	out := maps.Clone(attributes)
	if out == nil {
		out = map[string]any{}
	}
	for k, v := range defaults {
		have, known := out[k]
		a, isA := have.(map[string]any)
		b, isB := v.(map[string]any)
		switch {
		case isA && isB:
			out[k] = under(a, b)
		case !known:
			out[k] = v
		}
	}
	return out
}

func (r *standInRun) find(recipe string) (file string, err error) {
	cookbook, name, ok := strings.Cut(recipe, "::")
	if !ok {
		name = "default"
	}
	dir := filepath.Join(r.conf["cookbook_path"], cookbook)
	if info, err := os.Lstat(dir); err == nil && info.Mode()&os.ModeSymlink == 0 {
		return "", fmt.Errorf("cookbook %s was copied", cookbook)
	}
	if _, err := os.Stat(filepath.Join(dir, "metadata.rb")); err != nil {
		return "", fmt.Errorf("Chef::Exceptions::CookbookNotFound: Cookbook %s not found", cookbook)
	}
	file = filepath.Join(dir, "recipes", name+".rb")
	if _, err := os.Stat(file); err != nil {
		return "", fmt.Errorf("Chef::Exceptions::RecipeNotFound: could not find recipe %s for cookbook %s", name, cookbook)
	}
	return file, nil
}

func (r *standInRun) recipe(file string) error {
	b, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var path string
	for n, line := range strings.Split(string(b), "\n") {
		line = strings.TrimSpace(line)
		word, rest, _ := strings.Cut(line, " ")
		said := func(expr string) string {
			v, e := r.value(expr)
			if e != nil && err == nil {
				err = fmt.Errorf("NoMethodError: %s:%d: %v", filepath.Base(file), n+1, e)
			}
			return v
		}
		switch {
		case line == "" || line == "end" || strings.HasPrefix(line, "#"):
		case word == "file":
			path = said(strings.TrimSuffix(rest, " do"))
		case word == "content":
			err = errors.Join(err, r.file(path, said(rest)))
		case word == "log":
			fmt.Println(said(rest))
		case word == "raise":
			return fmt.Errorf("RuntimeError: %s", said(rest))
		case word == "sleep":
			seconds, _ := strconv.Atoi(rest)
			time.Sleep(time.Duration(seconds) * time.Second)
		default:
			return fmt.Errorf("NoMethodError: undefined method `%s' in %s", word, filepath.Base(file))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *standInRun) file(path, content string) error {
	if old, err := os.ReadFile(path); err == nil && string(old) == content {
		return nil
	}
	r.updated++
	fmt.Printf("  * file[%s] action create\n", path)
	if r.why {
		fmt.Printf("    - Would update content in file %s from aaaaaa to bbbbbb\n    +%s\n", path, content)
		return nil
	}
	return os.WriteFile(path, []byte(content), 0o600)
}

var key = regexp.MustCompile(`\['([^']*)'\]`)

var bagItem = regexp.MustCompile(`^data_bag_item\('([^']+)', '([^']+)'\)(.*)$`)

// value understands 'text', node['a']['b'] and data_bag_item('people', 'ada')['shell'].
func (r *standInRun) value(expr string) (string, error) {
	if text, ok := strings.CutPrefix(expr, "'"); ok {
		return strings.TrimSuffix(text, "'"), nil
	}
	var v any = r.attributes
	rest, ok := strings.CutPrefix(expr, "node[")
	if m := bagItem.FindStringSubmatch(expr); m != nil {
		b, err := os.ReadFile(filepath.Join(r.conf["data_bag_path"], m[1], m[2]+".json"))
		if err != nil {
			return "", fmt.Errorf("Chef::Exceptions::InvalidDataBagPath: item %s of data bag %s is not there", m[2], m[1])
		}
		var item map[string]any
		if err := json.Unmarshal(b, &item); err != nil || item["id"] != m[2] {
			return "", fmt.Errorf("Chef::Exceptions::ValidationFailed: item %s of data bag %s calls itself %v: %v", m[2], m[1], item["id"], err)
		}
		v, rest = item, strings.TrimPrefix(m[3], "[")
	} else if !ok {
		return "", fmt.Errorf("undefined %s", expr)
	}
	for _, m := range key.FindAllStringSubmatch("["+rest, -1) {
		at, ok := v.(map[string]any)
		if !ok || at[m[1]] == nil {
			return "", fmt.Errorf("undefined method `[]' for nil, at %s of %s", m[1], expr)
		}
		v = at[m[1]]
	}
	if s, ok := v.(string); ok {
		return s, nil
	}
	b, err := json.Marshal(v)
	return string(b), err
}
