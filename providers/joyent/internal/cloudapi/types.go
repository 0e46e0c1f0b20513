package cloudapi

import (
	"context"
	"net/http"
	"net/url"
	"time"
)

// Account is who asks.
type Account struct {
	Login    string `json:"login"`
	Approved *bool  `json:"approved_for_provisioning,omitempty"` // absent in older versions
}

// Machine is an instance. Values of tags may be numbers and booleans too.
type Machine struct {
	ID        string         `json:"id"`
	Name      string         `json:"name"`
	Brand     string         `json:"brand,omitempty"`
	State     string         `json:"state"`
	Image     string         `json:"image,omitempty"`
	Package   string         `json:"package,omitempty"`
	IPs       []string       `json:"ips,omitempty"`
	PrimaryIP string         `json:"primaryIp,omitempty"`
	Networks  []string       `json:"networks,omitempty"`
	Metadata  map[string]any `json:"metadata,omitempty"`
	Tags      map[string]any `json:"tags,omitempty"`
	Created   time.Time      `json:"created,omitzero"`
	Firewall  bool           `json:"firewall_enabled,omitempty"`
}

// Package is a size of machines.
type Package struct {
	ID          string  `json:"id"`
	Name        string  `json:"name"`
	Description string  `json:"description,omitempty"`
	Memory      float64 `json:"memory"` // MiB
	Disk        float64 `json:"disk"`   // MiB
	VCPUs       float64 `json:"vcpus"`
	Brand       string  `json:"brand,omitempty"`
}

// Image is what a machine is made of.
type Image struct {
	ID           string    `json:"id"`
	Name         string    `json:"name"`
	Version      string    `json:"version"`
	OS           string    `json:"os"`
	Type         string    `json:"type"`
	State        string    `json:"state"`
	Description  string    `json:"description,omitempty"`
	Published    time.Time `json:"published_at,omitzero"`
	Requirements struct {
		Brand     string  `json:"brand,omitempty"`
		MinMemory float64 `json:"min_memory,omitempty"` // MiB
		MaxMemory float64 `json:"max_memory,omitempty"`
	} `json:"requirements,omitzero"`
}

// Network is one that machines can be in.
type Network struct {
	ID     string `json:"id"`
	Name   string `json:"name"`
	Public bool   `json:"public"`
}

// Rule is a firewall rule.
type Rule struct {
	ID          string `json:"id,omitempty"`
	Rule        string `json:"rule"`
	Enabled     bool   `json:"enabled"`
	Description string `json:"description,omitempty"`
}

// GetAccount returns the account.
func (c *Client) GetAccount(ctx context.Context) (Account, error) {
	var a Account
	_, err := c.do(ctx, http.MethodGet, "", nil, nil, &a)
	return a, err
}

// ListMachines returns the machines that carry all of the tags.
func (c *Client) ListMachines(ctx context.Context, tags map[string]string) ([]Machine, error) {
	query := url.Values{}
	for k, v := range tags {
		query.Set("tag."+k, v)
	}
	return list[Machine](ctx, c, "/machines", query)
}

// GetMachine returns one machine. One that was deleted may still be returned, in the state deleted, or be refused with 410.
func (c *Client) GetMachine(ctx context.Context, id string) (Machine, error) {
	var m Machine
	_, err := c.do(ctx, http.MethodGet, "/machines/"+url.PathEscape(id), nil, nil, &m)
	return m, err
}

// CreateMachine asks for a machine; tags and metadata stand among the fields, with "tag." and "metadata." before their names.
func (c *Client) CreateMachine(ctx context.Context, fields map[string]any) (Machine, error) {
	var m Machine
	_, err := c.do(ctx, http.MethodPost, "/machines", nil, fields, &m)
	return m, err
}

// Act does something to a machine: start, stop, enable_firewall or disable_firewall.
func (c *Client) Act(ctx context.Context, id, action string) error {
	_, err := c.do(ctx, http.MethodPost, "/machines/"+url.PathEscape(id), url.Values{"action": {action}}, map[string]string{"action": action}, nil)
	return err
}

// AddTags puts tags on a machine, and writes over those of the same names.
func (c *Client) AddTags(ctx context.Context, id string, tags map[string]string) error {
	_, err := c.do(ctx, http.MethodPost, "/machines/"+url.PathEscape(id)+"/tags", nil, tags, nil)
	return err
}

// DeleteTag takes a tag off a machine.
func (c *Client) DeleteTag(ctx context.Context, id, name string) error {
	_, err := c.do(ctx, http.MethodDelete, "/machines/"+url.PathEscape(id)+"/tags/"+url.PathEscape(name), nil, nil, nil)
	return err
}

// AddMetadata does the same with metadata.
func (c *Client) AddMetadata(ctx context.Context, id string, metadata map[string]string) error {
	_, err := c.do(ctx, http.MethodPost, "/machines/"+url.PathEscape(id)+"/metadata", nil, metadata, nil)
	return err
}

// DeleteMachine has a machine destroyed; that takes a while.
func (c *Client) DeleteMachine(ctx context.Context, id string) error {
	_, err := c.do(ctx, http.MethodDelete, "/machines/"+url.PathEscape(id), nil, nil, nil)
	return err
}

// ListRules returns the account's firewall rules.
func (c *Client) ListRules(ctx context.Context) ([]Rule, error) {
	var all []Rule
	_, err := c.do(ctx, http.MethodGet, "/fwrules", nil, nil, &all)
	return all, err
}

// CreateRule makes a firewall rule.
func (c *Client) CreateRule(ctx context.Context, r Rule) (Rule, error) {
	var made Rule
	_, err := c.do(ctx, http.MethodPost, "/fwrules", nil, r, &made)
	return made, err
}

// DeleteRule removes a firewall rule.
func (c *Client) DeleteRule(ctx context.Context, id string) error {
	_, err := c.do(ctx, http.MethodDelete, "/fwrules/"+url.PathEscape(id), nil, nil, nil)
	return err
}

// ListPackages returns the sizes that the account may use.
func (c *Client) ListPackages(ctx context.Context) ([]Package, error) {
	var all []Package
	_, err := c.do(ctx, http.MethodGet, "/packages", nil, nil, &all)
	return all, err
}

// ListImages returns the images that the account may use, whatever their state.
func (c *Client) ListImages(ctx context.Context) ([]Image, error) {
	var all []Image
	_, err := c.do(ctx, http.MethodGet, "/images", url.Values{"state": {"all"}}, nil, &all)
	return all, err
}

// ListNetworks returns the networks that the account may use.
func (c *Client) ListNetworks(ctx context.Context) ([]Network, error) {
	var all []Network
	_, err := c.do(ctx, http.MethodGet, "/networks", nil, nil, &all)
	return all, err
}
