package ldaptest

import "github.com/go-ldap/ldap/v3"

// change does something at the server as its manager.
func (s *Server) change(do func(c *ldap.Conn) error) {
	s.t.Helper()
	c, err := ldap.DialURL(s.URL)
	if err != nil {
		s.t.Fatal(err)
	}
	defer c.Close()
	if err := c.Bind(manager, managerPassword); err != nil {
		s.t.Fatal(err)
	}
	if err := do(c); err != nil {
		s.t.Fatal(err)
	}
}

func person(user string) string { return "uid=" + ldap.EscapeDN(user) + "," + Base }

func group(name string) string { return "cn=" + ldap.EscapeDN(name) + "," + Groups }

// Join adds a person to a group; the entry then lists the group in memberOf.
func (s *Server) Join(name, user string) {
	s.t.Helper()
	s.change(func(c *ldap.Conn) error {
		m := ldap.NewModifyRequest(group(name), nil)
		m.Add("member", []string{person(user)})
		return c.Modify(m)
	})
}

// Leave removes a person from a group.
func (s *Server) Leave(name, user string) {
	s.t.Helper()
	s.change(func(c *ldap.Conn) error {
		m := ldap.NewModifyRequest(group(name), nil)
		m.Delete("member", []string{person(user)})
		return c.Modify(m)
	})
}

// AddGroup adds a group with one member.
func (s *Server) AddGroup(name, user string) {
	s.t.Helper()
	s.change(func(c *ldap.Conn) error {
		r := ldap.NewAddRequest(group(name), nil)
		r.Attribute("objectClass", []string{"groupOfNames"})
		r.Attribute("cn", []string{name})
		r.Attribute("member", []string{person(user)})
		return c.Add(r)
	})
}

// AddPerson adds a person with a password.
func (s *Server) AddPerson(user, password string) {
	s.t.Helper()
	s.change(func(c *ldap.Conn) error {
		r := ldap.NewAddRequest(person(user), nil)
		r.Attribute("objectClass", []string{"inetOrgPerson"})
		r.Attribute("uid", []string{user})
		r.Attribute("cn", []string{user})
		r.Attribute("sn", []string{user})
		r.Attribute("userPassword", []string{password})
		return c.Add(r)
	})
}

// Remove removes a person.
func (s *Server) Remove(user string) {
	s.t.Helper()
	s.change(func(c *ldap.Conn) error { return c.Del(ldap.NewDelRequest(person(user), nil)) })
}
