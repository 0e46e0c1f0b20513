//go:build real && openstack && linux

package openstackreal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// The people of the cloud.
const (
	demo        = "demo" // with a project of the same name
	looker      = "looker"
	demoSecret  = "demo-secret-1"
	otherSecret = "wrong-secret-2"
)

type token struct {
	id, project string
	until       time.Time
}

// object is something in an answer.
type object = map[string]any

// bases are the services, past the public endpoints and without our SDK: what the tests judge by.
var bases = map[string]string{"identity": address(portKeystone) + "/v3", "compute": address(portNova) + "/v2.1",
	"network": address(portNeutron) + "/v2.0", "image": address(portGlance) + "/v2"}

var caller = &http.Client{Timeout: 2 * time.Minute}

// login returns a token of someone, in the project demo, or admin's own.
func (c *openStack) login(who string) (token, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if t := c.tokens[who]; time.Now().Before(t.until) {
		return t, nil
	}
	secret, project := demoSecret, demo
	if who == "admin" {
		secret, project = root, "admin"
	}
	domain := object{"name": "Default"}
	question := object{"auth": object{
		"identity": object{"methods": []string{"password"}, "password": object{"user": object{"name": who, "domain": domain, "password": secret}}},
		"scope":    object{"project": object{"name": project, "domain": domain}}}}
	b, err := json.Marshal(question)
	if err != nil {
		return token{}, err
	}
	r, err := caller.Post(bases["identity"]+"/auth/tokens", "application/json", bytes.NewReader(b))
	if err != nil {
		return token{}, err
	}
	defer r.Body.Close()
	var answer struct {
		Token struct {
			Project struct{ ID string }
		}
	}
	if err := json.NewDecoder(r.Body).Decode(&answer); err != nil || r.StatusCode != http.StatusCreated {
		return token{}, fmt.Errorf("sign in as %s: %s %w", who, r.Status, err)
	}
	t := token{id: r.Header.Get("X-Subject-Token"), project: answer.Token.Project.ID, until: time.Now().Add(5 * time.Minute)}
	c.tokens[who] = t
	return t, nil
}

// call makes a call as someone, and returns the answer.
func (c *openStack) call(who, method, service, path string, body any) (object, error) {
	t, err := c.login(who)
	if err != nil {
		return nil, err
	}
	var in io.Reader
	kind := "application/json"
	switch b := body.(type) {
	case nil:
	case []byte:
		in, kind = bytes.NewReader(b), "application/octet-stream"
	default:
		text, err := json.Marshal(b)
		if err != nil {
			return nil, err
		}
		in = bytes.NewReader(text)
	}
	at := path
	if !strings.HasPrefix(path, "http") {
		at = bases[service] + path
	}
	r, err := http.NewRequest(method, at, in)
	if err != nil {
		return nil, err
	}
	r.Header.Set("X-Auth-Token", t.id)
	r.Header.Set("Content-Type", kind)
	r.Header.Set("Accept", "application/json")
	if strings.HasSuffix(path, "/auth/tokens") {
		r.Header.Set("X-Subject-Token", t.id)
	}
	r.Header.Set("X-OpenStack-Nova-API-Version", "2.3") // the first that returns user data
	answer, err := caller.Do(r)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return nil, err
	}
	if answer.StatusCode >= 300 {
		return nil, fmt.Errorf("%s %s: %s %s", method, at, answer.Status, text)
	}
	var out object
	if len(text) > 0 {
		if err := json.Unmarshal(text, &out); err != nil {
			return nil, fmt.Errorf("%s %s: %w", method, at, err)
		}
	}
	return out, nil
}

// list returns a list with all its pages.
func (c *openStack) list(who, service, path, key string) ([]object, error) {
	var all []object
	for path != "" {
		out, err := c.call(who, http.MethodGet, service, path, nil)
		if err != nil {
			return nil, err
		}
		some, _ := out[key].([]any)
		for _, one := range some {
			all = append(all, one.(object))
		}
		path = ""
		links, _ := out[key+"_links"].([]any)
		for _, l := range links {
			if link := l.(object); link["rel"] == "next" {
				path = link["href"].(string)
			}
		}
	}
	return all, nil
}

// named returns the id of what has a name.
func (c *openStack) named(who, service, path, key, name string) (string, error) {
	all, err := c.list(who, service, path+"?name="+url.QueryEscape(name), key)
	if err != nil {
		return "", err
	}
	for _, one := range all {
		if one["name"] == name {
			return one["id"].(string), nil
		}
	}
	return "", fmt.Errorf("%s has no %s", path, name)
}

// made creates something and returns its id.
func (c *openStack) made(who, service, path, key string, body object) (string, error) {
	out, err := c.call(who, http.MethodPost, service, path, object{key: body})
	if err != nil {
		return "", err
	}
	id, _ := out[key].(object)["id"].(string)
	return id, nil
}

// left names everything in the project demo that was created after the cloud was set up, as the services' own lists have it.
func (c *openStack) left() (found []string, err error) {
	add := func(service, path, key string, ours func(object) string) {
		var all []object
		if err == nil {
			all, err = c.list("admin", service, path, key)
		}
		for _, one := range all {
			if name := ours(one); name != "" {
				found = append(found, strings.TrimSuffix(key, "s")+" "+name)
			}
		}
	}
	text := func(o object, names ...string) string {
		var out []string
		for _, n := range names {
			out = append(out, fmt.Sprint(o[n]))
		}
		return strings.Join(out, " ")
	}
	add("compute", "/servers/detail?all_tenants=1", "servers", func(o object) string {
		if o["status"] == "DELETED" { // administrators see such a one for a moment
			return ""
		}
		return text(o, "name", "id", "status", "OS-EXT-STS:task_state")
	})
	add("network", "/ports", "ports", func(o object) string {
		if strings.HasPrefix(fmt.Sprint(o["device_owner"]), "network:") {
			return ""
		}
		return text(o, "id", "device_owner", "device_id")
	})
	add("network", "/floatingips", "floatingips", func(o object) string { return text(o, "floating_ip_address", "description") })
	add("network", "/security-groups", "security_groups", func(o object) string {
		if o["name"] == "default" {
			return ""
		}
		return text(o, "name", "id")
	})
	if err == nil { // they are listed by their owner
		var keys []object
		keys, err = c.list(demo, "compute", "/os-keypairs", "keypairs")
		for _, k := range keys {
			found = append(found, "keypair "+fmt.Sprint(k["keypair"]))
		}
	}
	return found, err
}
