package servicemodel

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Dir is where Debian's package python3-botocore has the models.
const Dir = "/usr/lib/python3/dist-packages/botocore/data"

// Service is the model of a service.
type Service struct {
	Operations map[string]struct {
		Input, Output *member
	} `json:"operations"`
	Shapes map[string]*shape `json:"shapes"`
}

type shape struct {
	Type     string             `json:"type"` // structure, list, map, string, integer, long, float, double, boolean, timestamp, blob
	Required []string           `json:"required"`
	Members  map[string]*member `json:"members"`
	Member   *member            `json:"member"`
	Enum     []string           `json:"enum"`
	Min      *float64           `json:"min"`
	Max      *float64           `json:"max"`
	Pattern  string             `json:"pattern"`
}

type member struct {
	Shape        string `json:"shape"`
	LocationName string `json:"locationName"`
	QueryName    string `json:"queryName"`
	Location     string `json:"location"`
}

// open lists the shapes whose words grow all the time: AWS takes more than an older model has.
var open = []string{"InstanceType", "VPCRegion", "ResourceRecordSetRegion"}

// newer are members that the model of Debian 12's package, of 2022, doesn't have yet.
var newer = []struct {
	shape, name string
	member      member
}{
	{"DescribeImagesRequest", "MaxResults", member{Shape: "Integer"}},
	{"DescribeImagesRequest", "IncludeDisabled", member{Shape: "Boolean"}},
	{"DescribeImagesRequest", "NextToken", member{Shape: "String"}},
	{"DeregisterImageRequest", "DeleteAssociatedSnapshots", member{Shape: "Boolean"}},
	{"DescribeImagesResult", "NextToken", member{Shape: "String", LocationName: "nextToken"}},
}

// newerAnswers are elements of answers that it doesn't have yet.
var newerAnswers = []string{"DeleteSecurityGroup groupId", "DeregisterImage deleteSnapshotResultSet"}

// Load reads the model of a service from a directory, such as "ec2" and "2016-11-15". The error is os.ErrNotExist if there is none.
func Load(dir, service, version string) (*Service, error) {
	b, err := os.ReadFile(filepath.Join(dir, service, version, "service-2.json"))
	if err != nil {
		return nil, err
	}
	s := &Service{}
	if err := json.Unmarshal(b, s); err != nil {
		return nil, err
	}
	for _, n := range newer {
		if sh := s.Shapes[n.shape]; sh != nil && sh.Members[n.name] == nil {
			sh.Members[n.name] = &n.member
		}
	}
	return s, nil
}

// CheckQuery checks the form of a call in EC2's protocol: names are those of the model, in upper case, and lists are Name.1, Name.2 and so on.
func (s *Service) CheckQuery(action string, form url.Values) error {
	op, ok := s.Operations[action]
	if !ok {
		return fmt.Errorf("there is no action %s", action)
	}
	sent := &node{}
	for name, values := range form {
		if name == "Action" || name == "Version" {
			continue
		}
		if len(values) != 1 {
			return fmt.Errorf("%s is sent %d times", name, len(values))
		}
		sent.put(strings.Split(name, "."), values[0])
	}
	if err := s.query(op.Input.Shape, sent); err != nil {
		return fmt.Errorf("%s: %w", action, err)
	}
	return nil
}

// node is a value with parts, by name; without, it's the text. A list of XML has several of a name.
type node struct {
	text  string
	parts []*node
	name  string
}

func (n *node) put(path []string, text string) {
	if len(path) == 0 {
		n.text = text
		return
	}
	i := slices.IndexFunc(n.parts, func(p *node) bool { return p.name == path[0] })
	if i < 0 {
		i = len(n.parts)
		n.parts = append(n.parts, &node{name: path[0]})
	}
	n.parts[i].put(path[1:], text)
}

func (s *Service) query(of string, n *node) error {
	sh := s.Shapes[of]
	switch sh.Type {
	case "structure":
		names := map[string]string{}
		for name, m := range sh.Members {
			names[queryName(name, m)] = name
		}
		return s.structure(sh, n, names, s.query)
	case "list":
		for _, p := range n.parts {
			if i, err := strconv.Atoi(p.name); err != nil || i < 1 || i > len(n.parts) {
				return fmt.Errorf("%s isn't the number of one of %d elements", p.name, len(n.parts))
			}
			if err := s.query(sh.Member.Shape, p); err != nil {
				return fmt.Errorf("%s: %w", p.name, err)
			}
		}
		return sh.within(float64(len(n.parts)), "elements")
	}
	return sh.scalar(of, n)
}

// queryName is the name of a member in EC2's protocol.
func queryName(name string, m *member) string {
	if m.QueryName != "" {
		return m.QueryName
	}
	if m.LocationName != "" {
		name = m.LocationName
	}
	return strings.ToUpper(name[:1]) + name[1:]
}

func (s *Service) structure(sh *shape, n *node, names map[string]string, check func(string, *node) error) error {
	has := map[string]bool{}
	for _, p := range n.parts {
		name, known := names[p.name]
		if !known {
			return fmt.Errorf("there is no %s", p.name)
		}
		has[name] = true
		if err := check(sh.Members[name].Shape, p); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	for _, name := range sh.Required {
		if l := sh.Members[name].Location; !has[name] && l == "" {
			return fmt.Errorf("%s is required", name)
		}
	}
	if n.text != "" && strings.TrimSpace(n.text) != "" {
		return fmt.Errorf("it has parts and isn't the text %q", n.text)
	}
	return nil
}

func (sh *shape) scalar(of string, n *node) error {
	if len(n.parts) > 0 {
		return fmt.Errorf("it has no part %s", n.parts[0].name)
	}
	switch sh.Type {
	case "string":
		if len(sh.Enum) > 0 && !slices.Contains(sh.Enum, n.text) && !slices.Contains(open, of) {
			return fmt.Errorf("%q is none of %s", n.text, strings.Join(sh.Enum, ", "))
		}
		if p, err := regexp.Compile("^(?:" + sh.Pattern + ")$"); err == nil && sh.Pattern != "" && !p.MatchString(n.text) {
			return fmt.Errorf("%q doesn't match %s", n.text, sh.Pattern)
		}
		return sh.within(float64(utf8.RuneCountInString(n.text)), "characters")
	case "integer", "long":
		i, err := strconv.ParseInt(n.text, 10, 64)
		if err != nil {
			return fmt.Errorf("%q isn't a whole number", n.text)
		}
		return sh.within(float64(i), "")
	case "boolean":
		if n.text != "true" && n.text != "false" {
			return fmt.Errorf("%q is neither true nor false", n.text)
		}
	}
	return nil
}

func (sh *shape) within(n float64, unit string) error {
	if sh.Min != nil && n < *sh.Min || sh.Max != nil && n > *sh.Max {
		return fmt.Errorf("%v %s is outside of the limits", n, unit)
	}
	return nil
}

// CheckURL checks the parameters behind a question mark.
func (s *Service) CheckURL(action string, query url.Values) error {
	op, ok := s.Operations[action]
	if !ok {
		return fmt.Errorf("there is no action %s", action)
	}
	in := s.Shapes[op.Input.Shape]
	for name, values := range query {
		of := ""
		for _, m := range in.Members {
			if m.Location == "querystring" && m.LocationName == name {
				of = m.Shape
			}
		}
		if of == "" || len(values) != 1 {
			return fmt.Errorf("%s: there is no parameter %s, or not %d times", action, name, len(values))
		}
		if err := s.Shapes[of].scalar(of, &node{text: values[0]}); err != nil {
			return fmt.Errorf("%s: %s: %w", action, name, err)
		}
	}
	return nil
}

// CheckXML checks an answer (sent is false) or the body of a request.
func (s *Service) CheckXML(action, document string, sent bool) error {
	op, ok := s.Operations[action]
	if !ok {
		return fmt.Errorf("there is no action %s", action)
	}
	of := op.Output
	if sent {
		of = op.Input
	}
	root, err := parse(document)
	if err != nil {
		return fmt.Errorf("%s: %w", action, err)
	}
	if sent && root.name != of.LocationName {
		return fmt.Errorf("%s begins with %s, not %s", action, of.LocationName, root.name)
	}
	// Models leave out the element that says that EC2 has done it, and older ones some more.
	root.parts = slices.DeleteFunc(root.parts, func(p *node) bool {
		return p.name == "return" && p.text == "true" || slices.Contains(newerAnswers, action+" "+p.name)
	})
	if of == nil {
		if len(root.parts) > 0 {
			return fmt.Errorf("%s answers nothing, not %s", action, root.parts[0].name)
		}
		return nil
	}
	if err := s.xml(of.Shape, root); err != nil {
		return fmt.Errorf("%s: %w", action, err)
	}
	return nil
}

func (s *Service) xml(of string, n *node) error {
	sh := s.Shapes[of]
	switch sh.Type {
	case "structure":
		names := map[string]string{}
		for name, m := range sh.Members {
			if m.LocationName != "" {
				names[m.LocationName] = name
			} else {
				names[name] = name
			}
		}
		return s.structure(sh, n, names, s.xml)
	case "list":
		for _, p := range n.parts {
			if p.name != sh.Member.LocationName {
				return fmt.Errorf("its elements are %s, not %s", sh.Member.LocationName, p.name)
			}
			if err := s.xml(sh.Member.Shape, p); err != nil {
				return err
			}
		}
		return sh.within(float64(len(n.parts)), "elements")
	}
	return sh.scalar(of, n)
}

func parse(text string) (*node, error) {
	d := xml.NewDecoder(strings.NewReader(text))
	root := &node{}
	open := []*node{root}
	for {
		token, err := d.Token()
		if err != nil {
			if len(open) == 1 && len(root.parts) == 1 {
				return root.parts[0], nil
			}
			return nil, err
		}
		last := open[len(open)-1]
		switch token := token.(type) {
		case xml.StartElement:
			n := &node{name: token.Name.Local}
			last.parts = append(last.parts, n)
			open = append(open, n)
		case xml.EndElement:
			open = open[:len(open)-1]
		case xml.CharData:
			last.text += string(token)
		}
	}
}
